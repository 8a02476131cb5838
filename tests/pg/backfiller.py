"""A process that backfills in small batches until it is done or killed. No tests."""

import asyncio
from multiprocessing.connection import Connection

from redstring_pg import PostgresChunkStore


async def backfill(dsn: str, schema: str, batch_size: int) -> int:
    """Backfill all tenants."""
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema, min_size=1) as store:
        return await store.backfill_lexical_index(batch_size=batch_size)


def run(dsn: str, schema: str, batch_size: int, reports: Connection) -> None:
    """Backfill, and report the begin and the end."""
    reports.send("begin")
    reports.send(asyncio.run(backfill(dsn, schema, batch_size)))
