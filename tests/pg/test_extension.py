"""Where the extension is, and who may create it: the stores look, and never ask for more than they need."""

import psycopg
import pytest
from psycopg import sql

from redstring_pg import MissingSchemaError, PgVectorStore, PostgresChunkStore
from redstring_ref import InMemoryChunkStore, InMemoryVectorStore, SourceId
from tests.pg.everything import chunk_calls, vector_calls
from tests.pg.server import Server
from tests.pg.support import connected
from tests.support import TENANT, make_chunk


@pytest.fixture
async def elsewhere(postgres: Server, schema: str) -> str:
    """Return the DSN of a database whose pgvector is in a schema that is not on the search path."""
    dsn = postgres.create_database(f"elsewhere_{schema}")
    async with connected(dsn) as connection:
        await connection.execute('CREATE SCHEMA "My Extensions"')
        await connection.execute('CREATE EXTENSION vector SCHEMA "My Extensions"')
    return dsn


async def test_the_extension_may_be_in_any_schema(elsewhere: str) -> None:
    memory, entities = InMemoryChunkStore(dimension=2), InMemoryVectorStore(dimension=2)
    async with (
        PostgresChunkStore.connect(elsewhere, dimension=2) as chunks,
        PgVectorStore.connect(elsewhere, dimension=2, schema="other") as vectors,
    ):
        await chunks.ensure_schema()
        await vectors.ensure_schema()
        for each in chunk_calls():
            assert await each.on(chunks) == await each.on(memory), str(each)
        for each in vector_calls():
            assert await each.on(vectors) == await each.on(entities), str(each)


async def test_what_exists_needs_no_right_to_create_it_and_what_does_not_is_refused_whole(
    postgres: Server, schema: str
) -> None:
    dsn = postgres.create_database(f"bare_{schema}")
    name = f"modest_{schema}"
    async with connected(dsn) as superuser:
        await superuser.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        await superuser.execute("CREATE SCHEMA work")
        await superuser.execute(sql.SQL("GRANT ALL ON SCHEMA work TO {}").format(sql.Identifier(name)))
        modest = dsn.replace("//postgres@", f"//{name}@")
        async with PostgresChunkStore.connect(modest, dimension=2, schema="work") as store:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="extension"):
                await store.ensure_schema()
            count = "SELECT count(*) FROM pg_class WHERE relnamespace = 'work'::regnamespace"
            assert await (await superuser.execute(count)).fetchone() == (0,)
            await superuser.execute("CREATE EXTENSION vector")
            await store.ensure_schema()
            await store.ensure_schema()
            await store.upsert_many([make_chunk("a tie")])
            assert await store.get_by_source(SourceId("doc-1"), TENANT) == [make_chunk("a tie")]


async def test_a_store_without_its_tables_says_what_makes_them(postgres: Server, schema: str) -> None:
    dsn = postgres.create_database(f"empty_{schema}")
    async with PostgresChunkStore.connect(dsn, dimension=2) as store:
        with pytest.raises(
            MissingSchemaError, match=r"the extension vector is missing: call ensure_schema\(\)"
        ):
            await store.get_by_source(SourceId("doc-1"), TENANT)
        async with connected(dsn) as connection:
            await connection.execute("CREATE EXTENSION vector")
        with pytest.raises(
            MissingSchemaError, match=r'"kg_chunks" has no embeddings: call ensure_schema\(\)'
        ):
            await store.replace_source(SourceId("doc-1"), TENANT, [make_chunk("a tie")])
        await store.ensure_schema()
        assert await store.replace_source(SourceId("doc-1"), TENANT, [make_chunk("a tie")]) == 0


async def test_no_index_is_approximate(dsn: str, schema: str) -> None:
    async with (
        PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as chunks,
        PgVectorStore.connect(dsn, dimension=2, schema=schema) as vectors,
        connected(dsn) as connection,
    ):
        await chunks.ensure_schema()
        await vectors.ensure_schema()
        kinds = (
            "SELECT DISTINCT amname FROM pg_class i JOIN pg_am a ON a.oid = i.relam"
            " WHERE i.relkind = 'i' AND i.relnamespace = %s::regnamespace ORDER BY 1"
        )
        found = await (await connection.execute(kinds, [f'"{schema}"'])).fetchall()
    assert found == [("btree",), ("gin",)]
