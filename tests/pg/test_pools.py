"""Pools: whose they are, of which size, behind a pooler; and tables that another program alters meanwhile."""

import asyncio
from typing import Any

import pytest
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow, dict_row

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import SourceId, StoreClosedError, VectorRecord
from redstring_ref.memory import InMemoryChunkStore
from tests.pg import support
from tests.pg.answers import answers, assert_same_answers, call
from tests.pg.hurts import ENTITIES
from tests.support import TENANT, make_chunk

CHUNKS = [
    make_chunk(
        f"tie n{n}", chunk_index=n, embedding=[1.0, float(n)], metadata={"n": n}, entity_ids=ENTITIES[: n % 3]
    )
    for n in range(7)
]
CHUNKS.append(
    make_chunk("tie \u00e9l\u00e4n \u691c\u7d22 \U0001f600", chunk_index=7, metadata={"\u00e9": "\U0001f600"})
)
READS = [
    call("get", CHUNKS[1].id, TENANT),
    call("get_by_source", "doc-1", TENANT),
    call("get_by_entity", ENTITIES[0], TENANT),
    call("lexical_candidates", ["tie", "n3", "\u00e9l\u00e4n", "\u691c"], TENANT, 3),
    call("semantic_candidates", [1.0, 2.0], TENANT, 3),
]
EVERYTHING = [
    call("upsert_many", CHUNKS),
    *READS,
    call("replace_source", "doc-1", TENANT, CHUNKS[3:]),
    call("replace_source", "\u00e9\u691c", TENANT, [make_chunk("tie", source_id="\u00e9\u691c")]),
    call("get_by_source", "\u00e9\u691c", TENANT),
    *READS,
    call("upsert_many", [make_chunk("tie", source_id="doc-2")]),
    call("delete_by_source", "doc-2", TENANT),
    *READS,
]
OPTIONS: dict[str, dict[str, Any]] = {
    "no prepared statements": {"kwargs": {"prepare_threshold": None}},
    "prepared at once": {"kwargs": {"prepare_threshold": 0}},
    "autocommit": {"kwargs": {"autocommit": True}},
    "rows as dicts": {"kwargs": {"row_factory": dict_row}},
    "one connection": {"size": 1},
    "serializable": {"kwargs": {"options": "-c default_transaction_isolation=serializable"}},
    "settings of its own": {
        "kwargs": {
            "options": "-c datestyle=German -c extra_float_digits=-15 -c bytea_output=escape -c jit=on"
            " -c standard_conforming_strings=off -c intervalstyle=sql_standard -c enable_seqscan=off"
        }
    },
}


@pytest.mark.parametrize("name", OPTIONS)
async def test_the_answers_do_not_depend_on_the_callers_options(dsn: str, schema: str, name: str) -> None:
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(dsn, schema, **OPTIONS[name]) as store,
    ):
        await assert_same_answers(reference, store, EVERYTHING * 2)


async def test_a_client_encoding_in_which_text_would_change_is_refused(dsn: str, schema: str) -> None:
    async with (
        support.chunk_store(dsn, schema) as utf8,
        support.new_pool(dsn, 1, kwargs={"client_encoding": "latin1"}) as pool,
    ):
        latin1 = PostgresChunkStore(pool, dimension=2, schema=schema)
        for each in EVERYTHING:
            assert "client_encoding must be UTF8" in str(await each.on(latin1))
        assert await utf8.delete_by_tenant(TENANT) == 0


async def discard_all(connection: AsyncConnection[TupleRow]) -> None:
    """Reset the session as a pooler does: the client is not told that statements and settings are gone."""
    connection.pgconn.exec_(b"DISCARD ALL")


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("threshold", [None, 0, 5])
async def test_sessions_may_be_reset_between_transactions(
    dsn: str, schema: str, size: int, threshold: int | None
) -> None:
    kwargs = {"prepare_threshold": threshold}
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(dsn, schema, reset=discard_all, size=size, kwargs=kwargs) as store,
    ):
        await assert_same_answers(reference, store, EVERYTHING * 3)
        expected = await answers(reference, READS)
        found = await asyncio.gather(*[each.on(store) for each in READS * 4])
        assert found == expected * 4


@pytest.mark.parametrize("threshold", [None, 0, 5])
async def test_seven_reads_go_on_after_another_program_has_altered_the_table(
    dsn: str, schema: str, threshold: int | None
) -> None:
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(dsn, schema, size=1, kwargs={"prepare_threshold": threshold}) as store,
        support.connected(dsn) as other,
    ):
        await assert_same_answers(reference, store, [call("upsert_many", CHUNKS), *(READS * 7)])
        table = sql.Identifier(schema, "kg_chunks")
        for number, column in enumerate(["integer DEFAULT 7", "text DEFAULT 'x' NOT NULL", "vector(2)"]):
            alter = sql.SQL("ALTER TABLE {} ADD COLUMN {} {}")
            name = sql.Identifier(f"extra {number}")
            await other.execute(alter.format(table, name, sql.SQL(column)))
            await assert_same_answers(reference, store, READS * 2)
            await assert_same_answers(reference, store, EVERYTHING)
            await store.ensure_schema()


async def test_entity_vectors_go_on_after_another_program_has_altered_the_table(
    dsn: str, schema: str
) -> None:
    record = VectorRecord(TENANT, ENTITIES[0], [1.0, 0.5], {"entity_type": "person"})
    async with (
        support.vector_store(dsn, schema, size=1, reset=discard_all) as store,
        support.connected(dsn) as other,
    ):
        for number in range(2):
            await store.upsert(record)
            for _ in range(7):
                assert await store.get(ENTITIES[0], TENANT) == record
                (match,) = await store.search([1.0, 0.5], TENANT, entity_types=["person"])
                assert (match.score, match.metadata) == (1.0, record.metadata)
            alter = sql.SQL("ALTER TABLE {} ADD COLUMN {} integer DEFAULT 1")
            table = sql.Identifier(schema, "kg_entity_vectors")
            await other.execute(alter.format(table, sql.Identifier(f"extra {number}")))
        assert await store.delete(ENTITIES[0], TENANT) == 1


async def test_a_pool_of_one_serves_many_callers(dsn: str, schema: str) -> None:
    async with support.chunk_store(dsn, schema, size=1) as store:

        async def caller(number: int) -> None:
            source = SourceId(f"doc-{number}")
            await store.replace_source(source, TENANT, [make_chunk("tie", source_id=source)])
            assert len(await store.get_by_source(source, TENANT)) == 1
            assert len((await store.lexical_candidates(["tie"], TENANT, 1)).candidates) == 1

        async with asyncio.timeout(support.PATIENCE_SECONDS):
            await asyncio.gather(*map(caller, range(20)))
        assert await store.delete_by_tenant(TENANT) == 20


async def sessions(dsn: str, application: str) -> int:
    async with support.connected(dsn) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        row = await (await connection.execute(query, [application])).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("new_store", [PostgresChunkStore, PgVectorStore])
async def test_a_store_never_closes_the_pool_of_its_caller(dsn: str, schema: str, new_store: Any) -> None:
    async with support.new_pool(dsn) as pool:
        async with new_store(pool, dimension=2, schema=schema) as store:
            await store.ensure_schema()
        await store.close()
        assert not pool.closed
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")


@pytest.mark.parametrize("new_store", [PostgresChunkStore, PgVectorStore])
async def test_a_store_closes_the_pool_of_its_own(dsn: str, schema: str, new_store: Any) -> None:
    name = f"own_{schema}"
    store = new_store.connect(f"{dsn}?application_name={name}", dimension=2, schema=schema)
    assert await sessions(dsn, name) == 0
    async with store as entered:
        assert entered is store
        await store.ensure_schema()
        assert await sessions(dsn, name) >= 1
    await store.close()
    with pytest.raises(StoreClosedError):
        await store.delete_by_tenant(TENANT)
    async with support.connected(dsn) as connection, asyncio.timeout(support.PATIENCE_SECONDS):
        # A session ends a moment after its connection is closed.
        while await sessions(dsn, name):
            await connection.execute("SELECT 1")


async def test_a_store_that_was_never_used_opens_and_leaves_nothing(dsn: str, schema: str) -> None:
    store = PostgresChunkStore.connect(f"{dsn}?application_name=idle", dimension=2, schema=schema)
    await store.close()
    await store.close()
    assert await sessions(dsn, "idle") == 0


async def test_an_exception_in_the_block_closes_the_own_pool_and_goes_on(dsn: str, schema: str) -> None:
    store = PostgresChunkStore.connect(dsn, dimension=2, schema=schema)

    async def use() -> None:
        async with store:
            await store.ensure_schema()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await use()
    with pytest.raises(StoreClosedError):
        await store.get_by_source(SourceId("doc-1"), TENANT)


def test_asyncio_run_twice_with_one_dsn(dsn: str, schema: str) -> None:
    async def write() -> None:
        async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
            await store.ensure_schema()
            await store.upsert_many(CHUNKS)

    async def read() -> list[object]:
        async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
            return [*await store.get_by_source(SourceId("doc-1"), TENANT)]

    asyncio.run(write())
    assert asyncio.run(read()) == CHUNKS
    assert asyncio.run(read()) == CHUNKS


def test_a_store_can_be_made_where_no_event_loop_runs(dsn: str, schema: str) -> None:
    store = PostgresChunkStore.connect(dsn, dimension=2, schema=schema)

    async def use() -> list[object]:
        async with store:
            await store.ensure_schema()
            await store.upsert_many(CHUNKS)
            return [*await store.get_by_source(SourceId("doc-1"), TENANT)]

    assert asyncio.run(use()) == CHUNKS
