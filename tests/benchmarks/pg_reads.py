"""Reads of the PostgreSQL chunk store against bare SQL and the public redstring, in one run, as a table.

    python -m tests.benchmarks.pg_reads [--rows 20000] [--dimension 384]

The public redstring takes part where `pip install 'redstring[pgvector]'` was run.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from functools import partial

from psycopg import AsyncConnection

from redstring_pg import PostgresChunkStore
from tests.benchmarks import peers
from tests.benchmarks.corpus import TENANT, documents, queries, random_vector
from tests.benchmarks.public_redstring import PublicStore
from tests.benchmarks.timing import medians, table
from tests.pg.server import running_server

OURS = "redstring_pg"


async def main(dsn: str, rows: int, dimension: int, limit: int, with_public: bool) -> None:
    """Fill every contender with the same chunks, then time them in turns."""
    async with (
        PostgresChunkStore.connect(dsn, dimension=dimension) as store,
        await AsyncConnection.connect(dsn, autocommit=True) as bare,
    ):
        await store.ensure_schema()
        public = await PublicStore.connect(dsn, dimension) if with_public else None
        await peers.run_script(bare, peers.NARROW, dimension)
        await peers.run_script(bare, peers.COVERING)
        terms = await fill(store, bare, public, rows, dimension)
        statistics = {"tenant": TENANT, "n": rows, "average": terms / rows, "limit": limit}
        for parallel in (2, 0):
            await set_parallel(bare, parallel)
            query = "parallel query" if parallel else "no parallel query"
            note = f"{rows} chunks × {dimension}, limit {limit}, {query}"
            await semantic(store, bare, public, note, dimension, limit)
        await lexical(store, bare, public, f"{rows} chunks, limit {limit}", statistics)
        if public is not None:
            await public.close()


async def fill(
    store: PostgresChunkStore, bare: AsyncConnection, public: PublicStore | None, rows: int, dimension: int
) -> int:
    """Write the chunks everywhere, vacuum, and return how many terms they have."""
    start = 0
    for document in documents(rows, dimension):
        await store.replace_source(document[0].source_id, TENANT, document)
        await peers.fill_narrow(bare, document, start)
        await peers.fill_covering(bare, document, start)
        if public is not None:
            await public.replace_source(document[0].source_id, public.converted(document))
        start += len(document)
    await bare.execute("VACUUM ANALYZE")
    row = await (
        await bare.execute("SELECT sum(doc_length) FROM (SELECT DISTINCT chunk, doc_length FROM covering)")
    ).fetchone()
    return int(row[0]) if row else 0


async def set_parallel(bare: AsyncConnection, workers: int) -> None:
    """Allow so many workers a query, for every new transaction of the database."""
    await bare.execute(f"ALTER SYSTEM SET max_parallel_workers_per_gather = {workers}")
    await bare.execute("SELECT pg_reload_conf()")
    await asyncio.sleep(0.5)  # backends take it over between two commands


async def semantic(
    store: PostgresChunkStore,
    bare: AsyncConnection,
    public: PublicStore | None,
    note: str,
    dimension: int,
    limit: int,
) -> None:
    """Time the nearest chunks to random vectors."""

    async def narrow(vector: Sequence[float]) -> object:
        values = [str(list(vector)), limit]
        scan = "SELECT id FROM narrow ORDER BY embedding <=> %s::vector LIMIT %s"
        return await (await bare.execute(scan, values, prepare=False)).fetchall()

    contenders = {
        OURS: lambda vector: store.semantic_candidates(vector, TENANT, limit),
        "bare scan of a narrow table": narrow,
    }
    if public is not None:
        contenders["public redstring"] = partial(public.semantic, limit=limit)
    draw = random.Random(4)  # noqa: S311 (not for secrets)
    asked = [random_vector(draw, dimension) for _ in range(25)]
    table(f"semantic_candidates, {note}", "median ms", await medians(contenders, asked), OURS)


async def lexical(
    store: PostgresChunkStore,
    bare: AsyncConnection,
    public: PublicStore | None,
    note: str,
    statistics: dict[str, object],
) -> None:
    """Time real queries: long ones, and their three rarest-looking terms."""

    async def covering(terms: Sequence[str]) -> object:
        values = {**statistics, "terms": list(terms)}
        return await (await bare.execute(peers.SCORED, values, prepare=False)).fetchall()

    limit = int(str(statistics["limit"]))
    contenders = {
        OURS: lambda terms: store.lexical_candidates(terms, TENANT, limit),
        "bare SQL over covering postings": covering,
    }
    if public is not None:
        contenders["public redstring"] = partial(public.lexical, limit=limit)
    asked = queries(40)
    mean = sum(map(len, asked)) / len(asked)
    title = f"lexical_candidates, {note}, queries of {mean:.1f} terms"
    table(title, "median ms", await medians(contenders, asked), OURS)
    short = [sorted(terms, key=len)[-3:] for terms in asked]
    title = f"lexical_candidates, {note}, their three longest terms"
    table(title, "median ms", await medians(contenders, short), OURS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--no-public", action="store_true", help="leave the public redstring out")
    given = parser.parse_args()
    with running_server({"fsync": "off", "shared_buffers": "1GB"}) as server:
        asyncio.run(main(server.dsn(), given.rows, given.dimension, given.limit, not given.no_public))
