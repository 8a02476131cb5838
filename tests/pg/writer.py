"""A program that re-indexes sources until it is killed, and says before and after each write which one it is.

python -m tests.pg.writer DSN SCHEMA
"""

import asyncio
import sys
from collections.abc import Sequence
from itertools import count

from redstring_pg import PostgresChunkStore
from redstring_ref.domain import SourceId, StoredChunk
from tests.support import TENANT, make_chunk

SOURCE = SourceId("doc-1")
PASSAGES = 60


def edition(number: int, source: str = SOURCE) -> list[StoredChunk]:
    """Return one whole chunking of a source, told apart from every other by its metadata and half its texts."""
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


async def main(arguments: Sequence[str]) -> None:
    """Write edition after edition."""
    dsn, schema = arguments
    async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
        for number in count(1):
            print(f"begin {number}", flush=True)
            await store.replace_source(SOURCE, TENANT, edition(number))
            print(f"done {number}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
