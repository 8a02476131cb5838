"""Writes of the PostgreSQL chunk store against a bare COPY and the public redstring, in one run, as a table.

    python -m tests.benchmarks.pg_writes [--rows 20000] [--dimension 384]

The public redstring takes part where `pip install 'redstring[pgvector]'` was run.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg import AsyncConnection

from redstring_pg import PostgresChunkStore
from redstring_ref import StoredChunk
from tests.benchmarks import peers
from tests.benchmarks.corpus import TENANT, documents
from tests.benchmarks.public_redstring import PublicStore
from tests.benchmarks.timing import table
from tests.pg.server import running_server

OURS = "redstring_pg, first"


async def main(dsn: str, rows: int, dimension: int, with_public: bool) -> None:
    """Write the same documents of 200 chunks with every contender, in turns, document by document."""
    async with (
        PostgresChunkStore.connect(dsn, dimension=dimension) as store,
        await AsyncConnection.connect(dsn, autocommit=True) as bare,
    ):
        await store.ensure_schema()
        await peers.run_script(bare, peers.CHUNK_ROWS, dimension)
        public = await PublicStore.connect(dsn, dimension) if with_public else None

        async def replace(document: Sequence[StoredChunk]) -> None:
            await store.replace_source(document[0].source_id, TENANT, document)

        contenders: dict[str, Callable[[Any], Awaitable[object]]] = {
            OURS: replace,
            "redstring_pg, unchanged": replace,
            "COPY of the chunk rows alone": lambda document: peers.copy_chunk_rows(bare, document),
        }
        seconds = dict.fromkeys([*contenders, *(["public redstring"] if public else [])], 0.0)
        for document in documents(rows, dimension):
            for name, write in contenders.items():
                start = time.perf_counter()
                await write(document)
                seconds[name] += time.perf_counter() - start
            if public is not None:
                converted = public.converted(document)
                start = time.perf_counter()
                await public.replace_source(document[0].source_id, converted)
                seconds["public redstring"] += time.perf_counter() - start
        if public is not None:
            await public.close()
    rates = {name: rows / spent for name, spent in seconds.items()}
    title = f"replace_source, {rows} chunks × {dimension} in documents of 200, lexical index included"
    table(title, "chunks/s", rates, OURS, more_is_better=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--no-public", action="store_true", help="leave the public redstring out")
    given = parser.parse_args()
    with running_server({"fsync": "on", "shared_buffers": "1GB"}) as server:
        asyncio.run(main(server.dsn(), given.rows, given.dimension, not given.no_public))
