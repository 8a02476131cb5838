"""Row-level security, as roles that it binds: the stores work whole, SQL without a tenant sees nothing."""

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref import InMemoryChunkStore, InMemoryVectorStore, VectorRecord
from tests.pg.everything import chunk_calls, vector_calls
from tests.pg.hurts import ENTITIES
from tests.pg.support import connected
from tests.support import OTHER_TENANT, TENANT, make_chunk

CHUNK_TABLES = ["kg_chunks", "kg_chunks_postings", "kg_chunks_blocks"]


@pytest.fixture(params=["owner", "guest"])
def role(request: pytest.FixtureRequest, dsn: str, schema: str) -> Iterator[str]:
    """Yield the DSN of a role that may do nothing but own the tables of the schema, or use them."""
    name = f"{request.param}_{schema}"
    role, folder = sql.Identifier(name), sql.Identifier(schema)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA {} TO {}").format(folder, role))
        everything = sql.SQL("ALTER DEFAULT PRIVILEGES IN SCHEMA {} GRANT ALL ON {} TO {}")
        for kind in ("TABLES", "SEQUENCES"):
            connection.execute(everything.format(folder, sql.SQL(kind), role))
        yield dsn.replace("//postgres@", f"//{name}@")
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
async def chunks(dsn: str, schema: str, role: str) -> AsyncIterator[PostgresChunkStore]:
    """Yield the role's chunk store, whose tables it made itself or the superuser made for it."""
    maker = role if "//owner" in role else dsn
    async with PostgresChunkStore.connect(maker, dimension=2, schema=schema) as store:
        await store.ensure_schema(row_level_security=True)
    async with PostgresChunkStore.connect(role, dimension=2, schema=schema) as store:
        yield store


@pytest.fixture
async def vectors(dsn: str, schema: str, role: str) -> AsyncIterator[PgVectorStore]:
    """Yield the role's entity vector store, made likewise."""
    maker = role if "//owner" in role else dsn
    async with PgVectorStore.connect(maker, dimension=2, schema=schema) as store:
        await store.ensure_schema(row_level_security=True)
    async with PgVectorStore.connect(role, dimension=2, schema=schema) as store:
        yield store


async def rows(connection: AsyncConnection[TupleRow], schema: str, table: str) -> int:
    """Return how many rows of a table a connection sees."""
    count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
    (found,) = await (await connection.execute(count)).fetchall()
    return int(found[0])


async def test_every_call_of_a_chunk_store_is_answered_as_in_memory(chunks: PostgresChunkStore) -> None:
    memory = InMemoryChunkStore(dimension=2)
    for each in chunk_calls():
        assert await each.on(chunks) == await each.on(memory), str(each)


async def test_every_call_of_a_vector_store_is_answered_as_in_memory(vectors: PgVectorStore) -> None:
    memory = InMemoryVectorStore(dimension=2)
    for each in vector_calls():
        assert await each.on(vectors) == await each.on(memory), str(each)


async def test_sql_that_names_no_tenant_sees_nothing(
    chunks: PostgresChunkStore, vectors: PgVectorStore, schema: str, role: str, dsn: str
) -> None:
    await chunks.upsert_many([make_chunk("a tie"), make_chunk("a tie", tenant_id=OTHER_TENANT)])
    await vectors.upsert(VectorRecord(TENANT, ENTITIES[0], [1.0, 0.0]))
    async with connected(dsn) as spared, connected(role) as bound:
        for table in [*CHUNK_TABLES, "kg_vectors"]:
            assert await rows(spared, schema, table) > 0
            assert await rows(bound, schema, table) == 0


async def test_a_transaction_sees_and_writes_only_the_tenant_that_it_names(
    chunks: PostgresChunkStore, schema: str, role: str
) -> None:
    await chunks.upsert_many([make_chunk("a tie"), make_chunk("a tie", tenant_id=OTHER_TENANT)])
    blocks = sql.Identifier(schema, "kg_chunks_blocks")
    insert = sql.SQL("INSERT INTO {} VALUES (%s, 999, 1, 1)").format(blocks)
    async with connected(role, autocommit=False) as bound:
        await bound.execute("SELECT set_config('redstring.tenant_id', %s, true)", [str(TENANT)])
        assert [await rows(bound, schema, table) for table in CHUNK_TABLES] == [1, 1, 1]
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            await bound.execute(insert, [OTHER_TENANT])
        await bound.rollback()
        assert [await rows(bound, schema, table) for table in CHUNK_TABLES] == [0, 0, 0]


async def test_no_tenant_is_left_behind_on_a_connection(dsn: str, schema: str, role: str) -> None:
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as maker:
        await maker.ensure_schema(row_level_security=True)
    pool_of_one = {"min_size": 1, "max_size": 1}
    async with PostgresChunkStore.connect(role, dimension=2, schema=schema, **pool_of_one) as store:
        await store.upsert_many([make_chunk("a tie")])
        await store.get(make_chunk("a tie").id, TENANT)
        async with store._pool.connection() as connection:
            cursor = await connection.execute("SELECT current_setting('redstring.tenant_id', true)")
            assert await cursor.fetchone() in [("",), (None,)]
            assert await rows(connection, schema, "kg_chunks") == 0


async def test_a_backfill_of_all_tenants_is_refused_and_of_one_is_not(chunks: PostgresChunkStore) -> None:
    await chunks.upsert_many([make_chunk("a tie")])
    with pytest.raises(ValueError, match=r"^tenant_id must be given: row-level security hides"):
        await chunks.backfill_lexical_index()
    assert await chunks.backfill_lexical_index(tenant_id=TENANT) == 0


async def test_asking_for_policies_again_changes_nothing(dsn: str, schema: str) -> None:
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
        for wanted in (True, True, False):
            await store.ensure_schema(row_level_security=wanted)
    async with connected(dsn) as connection:
        count = "SELECT tablename, count(*) FROM pg_policies WHERE schemaname = %s GROUP BY 1 ORDER BY 1"
        found = await (await connection.execute(count, [schema])).fetchall()
    assert found == [(table, 1) for table in sorted(CHUNK_TABLES)]
