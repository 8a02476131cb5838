"""What the tests of `redstring_pg` share: pools, stores in a schema of one test, waiting for locks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from uuid import UUID

from psycopg import AsyncConnection, sql
from psycopg.abc import Params
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_pg.store import PostgresStore
from redstring_ref.domain import TenantId

Pool: TypeAlias = AsyncConnectionPool[AsyncConnection[TupleRow]]
PATIENCE_SECONDS = 30.0

# A tenant whose rows no answer may show.
BYSTANDER = TenantId(UUID("0000000c-0000-4000-8000-000000000003"))


def new_pool(dsn: str, size: int = 2, **options: Any) -> Pool:
    """Return a pool that is not open yet; the options are those of psycopg's pool."""
    # An open pool in a constructor is what psycopg warns about.
    return AsyncConnectionPool(
        dsn, min_size=1, max_size=size, open=False, timeout=PATIENCE_SECONDS, **options
    )


@asynccontextmanager
async def chunk_store(
    dsn: str, schema: str, *, dimension: int = 2, size: int = 2, table: str = "kg_chunks", **options: Any
) -> AsyncIterator[PostgresChunkStore]:
    """Yield a chunk store over a pool of its own, its tables made."""
    async with (
        new_pool(dsn, size, **options) as pool,
        PostgresChunkStore(pool, dimension=dimension, table=table, schema=schema) as store,
    ):
        await store.ensure_schema()
        yield store


@asynccontextmanager
async def vector_store(
    dsn: str,
    schema: str,
    *,
    dimension: int = 2,
    size: int = 2,
    table: str = "kg_entity_vectors",
    **options: Any,
) -> AsyncIterator[PgVectorStore]:
    """Yield an entity vector store over a pool of its own, its table made."""
    async with (
        new_pool(dsn, size, **options) as pool,
        PgVectorStore(pool, dimension=dimension, table=table, schema=schema) as store,
    ):
        await store.ensure_schema()
        yield store


@asynccontextmanager
async def connected(dsn: str, autocommit: bool = True) -> AsyncIterator[AsyncConnection[TupleRow]]:
    """Yield a connection beside the stores', for what another program does to the database."""
    connection = await AsyncConnection.connect(dsn, autocommit=autocommit)
    try:
        yield connection
    finally:
        await connection.close()


async def wait_for_blocked(connection: AsyncConnection[TupleRow], count: int = 1) -> list[int]:
    """Return the process ids of the backends that wait for a lock, as soon as there are `count` of them."""
    # A lock that is not granted raises no event elsewhere, so it is asked for.
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            cursor = await connection.execute("SELECT DISTINCT pid FROM pg_locks WHERE NOT granted")
            found = [int(row[0]) for row in await cursor.fetchall()]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.005)


async def add_gate(connection: AsyncConnection[TupleRow], schema: str, table: str = "kg_chunks") -> None:
    """Make every write of a chunk that is named `gate` wait for advisory lock 7, and of `poison` fail."""
    names = {"schema": sql.Identifier(schema), "table": sql.Identifier(table)}
    function = sql.SQL(
        """CREATE FUNCTION {schema}.gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.text = 'gate' THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
            IF NEW.text = 'poison' THEN RAISE EXCEPTION 'poisoned'; END IF;
            RETURN NEW;
        END $$"""
    )
    trigger = sql.SQL(
        """CREATE TRIGGER gate BEFORE INSERT OR UPDATE ON {schema}.{table}
        FOR EACH ROW EXECUTE FUNCTION {schema}.gate()"""
    )
    await connection.execute(function.format(**names))
    await connection.execute(trigger.format(**names))


def recorded_reads(store: PostgresStore) -> list[list[TupleRow]]:
    """Return a list to which the rows of every statement that the store reads by are added from now on."""
    read = store._read
    found: list[list[TupleRow]] = []

    async def recording(tenant_id: TenantId, statement: sql.Composed, parameters: Params) -> list[TupleRow]:
        found.append(await read(tenant_id, statement, parameters))
        return found[-1]

    store._read = recording  # type: ignore[method-assign]  # of this store alone
    return found
