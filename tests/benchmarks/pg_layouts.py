"""Three lexical layouts on PostgreSQL, by what they cost to write and to read, in one run, as a table.

    python -m tests.benchmarks.pg_layouts [--rows 20000]

Term rows: a row for each chunk and term, in a covering index. Arrays: terms and frequencies on the
chunk's row, under GIN. Packed postings: a row for each term of a block of chunks, as the store has it.
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from redstring_pg import PostgresChunkStore
from redstring_pg.lexical import LexicalQuestion
from redstring_ref import StoredChunk, tokenize
from tests.benchmarks import peers
from tests.benchmarks.corpus import TENANT, documents, queries
from tests.benchmarks.timing import medians, table
from tests.pg.server import running_server

ARRAYS = """
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE TABLE arrays (
    tenant_id uuid, chunk integer, doc_length integer, terms text[] COLLATE "C", frequencies integer[]
);
CREATE INDEX ON arrays USING gin (tenant_id, terms)
"""

# Each term's frequency is looked up in the row's arrays, once for each matching row.
ARRAYS_SCORED = """
WITH matching AS MATERIALIZED (
    SELECT chunk, doc_length, term, frequencies[array_position(terms, term)] AS tf
    FROM arrays, unnest(%(terms)s::text[]) AS term
    WHERE tenant_id = %(tenant)s AND terms && %(terms)s::text[] AND terms @> ARRAY[term]
), weights AS (
    SELECT term, ln(1::float8 + (%(n)s::float8 - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) AS idf
    FROM matching GROUP BY term
)
SELECT chunk, sum(idf * (tf / (tf + 1.2::float8 * (
    0.25::float8 + 0.75::float8 * doc_length / %(average)s::float8))))
FROM matching JOIN weights USING (term) GROUP BY chunk ORDER BY 2 DESC, 1 LIMIT %(limit)s
"""

PACKED = "redstring_pg, packed postings"
LIMIT = 30


async def main(dsn: str, rows: int) -> None:
    """Write the same chunks in every layout, then ask all the same questions."""
    async with (
        PostgresChunkStore.connect(dsn, dimension=2) as store,
        await AsyncConnection.connect(dsn, autocommit=True) as bare,
    ):
        await store.ensure_schema()
        await peers.run_script(bare, peers.COVERING)
        await peers.run_script(bare, ARRAYS)
        seconds, terms = await write(store, bare, rows)
        rates = {name: rows / spent for name, spent in seconds.items()}
        title = f"{rows} chunks in documents of 200; the store writes its chunk rows as well"
        table(title, "chunks/s", rates, PACKED, more_is_better=True)
        await bare.execute("VACUUM ANALYZE")
        statistics = {"tenant": TENANT, "n": rows, "average": terms / rows, "limit": LIMIT}
        asked = queries(40)
        for note, questions in (
            ("long queries", asked),
            ("their three longest terms", [sorted(each, key=len)[-3:] for each in asked]),
        ):
            contenders = readers(store, bare, statistics)
            title = f"the {LIMIT} best of {rows} chunks, {note}: SQL alone"
            table(title, "median ms", await medians(contenders, questions), PACKED)


async def write(
    store: PostgresChunkStore, bare: AsyncConnection[Any], rows: int
) -> tuple[dict[str, float], int]:
    """Return how many seconds each layout took, in turns by document, and how many terms there are."""
    start = terms = 0

    async def term_rows(document: Sequence[StoredChunk]) -> None:
        await peers.fill_covering(bare, document, start)

    async def arrays(document: Sequence[StoredChunk]) -> None:
        await fill_arrays(bare, document, start)

    async def packed(document: Sequence[StoredChunk]) -> None:
        await store.replace_source(document[0].source_id, TENANT, document)

    contenders: dict[str, Callable[[Sequence[StoredChunk]], Awaitable[None]]] = {
        PACKED: packed,
        "term rows in a covering index": term_rows,
        "arrays under GIN": arrays,
    }
    seconds = dict.fromkeys(contenders, 0.0)
    for document in documents(rows, 2):
        for name, fill in contenders.items():
            began = time.perf_counter()
            await fill(document)
            seconds[name] += time.perf_counter() - began
        start += len(document)
        terms += sum(len(tokenize(each.text)) for each in document)
    return seconds, terms


def readers(
    store: PostgresChunkStore, bare: AsyncConnection[Any], statistics: Mapping[str, object]
) -> dict[str, Callable[[Sequence[str]], Awaitable[object]]]:
    """Return how each layout is asked, by SQL alone, on one connection."""

    async def ask(statement: Any, values: Mapping[str, object]) -> object:
        return await (await bare.execute(statement, values, prepare=False)).fetchall()

    async def packed(terms: Sequence[str]) -> object:
        vector = await store._opened_vector()
        return await ask(*LexicalQuestion(store._tables, vector, TENANT, terms, LIMIT).first())

    return {
        PACKED: packed,
        "term rows in a covering index": lambda terms: ask(
            peers.SCORED, {**statistics, "terms": list(terms)}
        ),
        "arrays under GIN": lambda terms: ask(ARRAYS_SCORED, {**statistics, "terms": list(set(terms))}),
    }


async def fill_arrays(bare: AsyncConnection[Any], chunks: Sequence[StoredChunk], start: int) -> None:
    """Copy one row for each chunk."""
    async with bare.cursor().copy("COPY arrays FROM STDIN") as copy:
        for at, chunk in enumerate(chunks):
            counts = Counter(tokenize(chunk.text))
            await copy.write_row((TENANT, start + at, counts.total(), list(counts), list(counts.values())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    with running_server({"fsync": "on", "shared_buffers": "1GB"}) as server:
        asyncio.run(main(server.dsn(), given.rows))
