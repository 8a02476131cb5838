"""Tables that are partitioned by tenant: the same answers, and each statement touches one partition."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from psycopg import AsyncConnection, sql
from psycopg.abc import Params
from psycopg.rows import TupleRow

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_pg.cursor import Cursor, Statement
from redstring_ref import InMemoryChunkStore, InMemoryVectorStore, SourceId, VectorRecord
from tests.pg.everything import chunk_calls, vector_calls
from tests.pg.hurts import ENTITIES
from tests.pg.support import connected
from tests.support import TENANT, make_chunk

PARTITIONS = 4


@pytest.fixture
async def chunks(dsn: str, schema: str) -> AsyncIterator[PostgresChunkStore]:
    """Yield a chunk store over partitioned tables."""
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
        await store.ensure_schema(partitions=PARTITIONS)
        yield store


@pytest.fixture
async def vectors(dsn: str, schema: str) -> AsyncIterator[PgVectorStore]:
    """Yield an entity vector store over a partitioned table."""
    async with PgVectorStore.connect(dsn, dimension=2, schema=schema) as store:
        await store.ensure_schema(partitions=PARTITIONS)
        yield store


async def kinds(dsn: str, schema: str) -> dict[str, str]:
    """Return each table of a schema with its kind: `p` partitioned, `r` plain."""
    query = (
        "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = %s::regnamespace"
        " AND relkind IN ('r', 'p') ORDER BY 1"
    )
    async with connected(dsn) as connection:
        found = await (await connection.execute(query, [f'"{schema}"'])).fetchall()
    return {row[0]: row[1] for row in found}


async def test_every_call_of_a_chunk_store_is_answered_as_in_memory(chunks: PostgresChunkStore) -> None:
    memory = InMemoryChunkStore(dimension=2)
    for each in chunk_calls():
        assert await each.on(chunks) == await each.on(memory), str(each)
    assert await chunks.backfill_lexical_index() == 0


async def test_every_call_of_a_vector_store_is_answered_as_in_memory(vectors: PgVectorStore) -> None:
    memory = InMemoryVectorStore(dimension=2)
    for each in vector_calls():
        assert await each.on(vectors) == await each.on(memory), str(each)


class Recorder:
    """Notes every statement of a cursor, and explains it first, in the transaction that it runs in."""

    def __init__(self) -> None:
        self.plans: list[tuple[str, set[str]]] = []

    @asynccontextmanager
    async def recording(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
        """Record what is run in the block."""
        plain_run = Cursor.run

        async def run(
            cursor: Cursor, statement: Statement, params: Params | None = None, *, binary: bool = False
        ) -> Cursor:
            text = statement if isinstance(statement, str) else statement.as_string()
            if text.split()[0] in ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"):
                explain = sql.SQL("EXPLAIN (FORMAT JSON) ") + sql.SQL(text)
                beside = Cursor(cursor.connection)
                row = await (await plain_run(beside, explain, params)).fetchone()
                assert row is not None
                plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
                self.plans.append((text, set(relations(plan))))
            return await plain_run(cursor, statement, params, binary=binary)

        with monkeypatch.context() as patched:
            patched.setattr(Cursor, "run", run)
            yield


def relations(plan: Any) -> list[str]:
    """Return the names of all tables that a plan scans or changes."""
    if isinstance(plan, list):
        return [name for each in plan for name in relations(each)]
    if isinstance(plan, dict):
        own = [plan["Relation Name"]] if "Relation Name" in plan else []
        return own + [name for each in plan.values() for name in relations(each)]
    return []


def touched(recorder: Recorder) -> dict[str, set[str]]:
    """Return for each partitioned table the partitions that any of the statements touched."""
    found: dict[str, set[str]] = {}
    for text, names in recorder.plans:
        for table in ("kg_chunks_postings", "kg_chunks_blocks", "kg_chunks", "kg_vectors"):
            own = {
                name for name in names if name.startswith(f"{table}_p") and name[len(table) + 2 :].isdigit()
            }
            assert len(own) <= 1, text
            found[table] = found.get(table, set()) | own
    return {table: own for table, own in found.items() if own}


async def rows_by_partition(connection: AsyncConnection[TupleRow], schema: str, table: str) -> list[int]:
    """Return how many rows each partition holds, the fullest first."""
    counts = []
    for number in range(PARTITIONS):
        count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, f"{table}_p{number}"))
        (row,) = await (await connection.execute(count)).fetchall()
        counts.append(int(row[0]))
    return sorted(counts, reverse=True)


async def test_each_statement_of_one_tenant_touches_one_partition_of_each_table(
    chunks: PostgresChunkStore, dsn: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No pipeline: the recorder needs each answer at once.
    monkeypatch.setattr("redstring_pg.cursor.capabilities.has_pipeline", lambda: False)
    source = SourceId("doc-1")
    texts = ["a tie", "the order of a tie", "another order", "tie tie"]
    given = [make_chunk(text, chunk_index=n, embedding=[1.0, 0.0]) for n, text in enumerate(texts)]
    given[0].entity_ids = ENTITIES[:1]
    recorder = Recorder()
    async with recorder.recording(monkeypatch):
        await chunks.upsert_many(given)
        await chunks.replace_source(source, TENANT, given[:3])
        await chunks.get(given[0].id, TENANT)
        await chunks.get_by_source(source, TENANT)
        await chunks.get_by_entity(ENTITIES[0], TENANT)
        await chunks.lexical_candidates(["tie", "order"], TENANT, 0)
        await chunks.lexical_candidates(["tie", "order"], TENANT, 2)
        # More equal vectors and scores than a first statement brings: the second one is sent too.
        many = [make_chunk("a tie", source_id=f"doc-{n}", embedding=[1.0, 0.0]) for n in range(2, 40)]
        await chunks.upsert_many(many)
        await chunks.lexical_candidates(["tie"], TENANT, 2)
        await chunks.semantic_candidates([1.0, 0.0], TENANT, 2, min_score=0.5)
        await chunks.backfill_lexical_index(tenant_id=TENANT)
        async with connected(dsn) as connection:
            for table in ("kg_chunks", "kg_chunks_postings", "kg_chunks_blocks"):
                # What COPY has written has no plan; it lies where the tenant's partition is.
                assert (await rows_by_partition(connection, schema, table))[1:] == [0, 0, 0]
        await chunks.delete_by_source(source, TENANT)
        await chunks.delete_by_tenant(TENANT)
    found = touched(recorder)
    assert {table: len(own) for table, own in found.items()} == {
        "kg_chunks": 1,
        "kg_chunks_postings": 1,
        "kg_chunks_blocks": 1,
    }
    assert len(recorder.plans) > 40


async def test_each_statement_on_entity_vectors_touches_one_partition(
    vectors: PgVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redstring_pg.cursor.capabilities.has_pipeline", lambda: False)
    recorder = Recorder()
    async with recorder.recording(monkeypatch):
        await vectors.upsert_many([VectorRecord(TENANT, entity, [1.0, 0.0]) for entity in ENTITIES])
        await vectors.get(ENTITIES[0], TENANT)
        await vectors.search([1.0, 0.0], TENANT, k=1, entity_types=["person"])
        await vectors.search([1.0, 0.0], TENANT, k=1)
        await vectors.delete(ENTITIES[0], TENANT)
        await vectors.delete_by_tenant(TENANT)
    assert {table: len(own) for table, own in touched(recorder).items()} == {"kg_vectors": 1}


async def test_partitions_are_made_once_and_kept(chunks: PostgresChunkStore, dsn: str, schema: str) -> None:
    before = await kinds(dsn, schema)
    assert sum(kind == "p" for kind in before.values()) == 3
    assert sum(kind == "r" for kind in before.values()) == 3 * PARTITIONS
    await chunks.ensure_schema()
    await chunks.ensure_schema(partitions=PARTITIONS)
    assert await kinds(dsn, schema) == before
    with pytest.raises(ValueError, match=rf"^partitions must be {PARTITIONS}, as table .* has, got 3$"):
        await chunks.ensure_schema(partitions=3)
    assert await kinds(dsn, schema) == before


async def test_a_plain_table_is_not_partitioned_afterwards(dsn: str, schema: str) -> None:
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
        await store.ensure_schema()
        before = await kinds(dsn, schema)
        with pytest.raises(
            ValueError, match=r"^partitions must be None for table .*, which exists without any$"
        ):
            await store.ensure_schema(partitions=2)
        assert await kinds(dsn, schema) == before


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        (0, ValueError, "partitions must be at least 1, got 0"),
        (True, TypeError, "partitions must be an integer, got True"),
        ("2", TypeError, "partitions must be an integer, got '2'"),
    ],
)
async def test_partitions_are_a_positive_integer(
    dsn: str, schema: str, partitions: Any, error: type[Exception], message: str
) -> None:
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
        with pytest.raises(error, match=f"^{message}"):
            await store.ensure_schema(partitions=partitions)
    assert await kinds(dsn, schema) == {}
