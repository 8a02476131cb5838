"""A process that re-indexes a source until it is killed, and reports each write before and after it."""

import asyncio
from itertools import count
from multiprocessing.connection import Connection

from redstring_pg import PostgresChunkStore
from redstring_ref.domain import SourceId, StoredChunk
from tests.support import TENANT, make_chunk

SOURCE = SourceId("doc-1")
PASSAGES = 60


def edition(number: int, source: str = SOURCE) -> list[StoredChunk]:
    """Return one whole chunking of a source, told apart by its metadata and by half its texts."""
    return [
        make_chunk(
            f"tie n{n}" if n % 2 else f"tie n{n} edition{number}",
            source_id=source,
            chunk_index=n,
            metadata={"edition": number},
            embedding=[1.0, float(number % 7)],
        )
        for n in range(PASSAGES + number % 3)
    ]


async def write_editions(dsn: str, schema: str, reports: Connection) -> None:
    """Write edition after edition."""
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema, min_size=1) as store:
        for number in count(1):
            reports.send(("begin", number))
            await store.replace_source(SOURCE, TENANT, edition(number))
            reports.send(("done", number))


def run(dsn: str, schema: str, reports: Connection) -> None:
    """Write until the process is killed."""
    asyncio.run(write_editions(dsn, schema, reports))
