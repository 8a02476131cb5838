"""What the PostgreSQL stores are measured against: bare SQL at its best. Nothing of ours but encodings."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection

from redstring_pg.encoding import COPY_HEADER, COPY_TRAILER, copy_row, int4, jsonb, uuid_array, vector
from redstring_ref import StoredChunk, tokenize
from tests.benchmarks.corpus import TENANT

NARROW = """
DROP TABLE IF EXISTS narrow;
CREATE TABLE narrow (id integer, embedding vector({dimension}));
ALTER TABLE narrow ALTER COLUMN embedding SET STORAGE PLAIN
"""

COVERING = """
DROP TABLE IF EXISTS covering;
CREATE TABLE covering (
    tenant_id uuid, term text COLLATE "C", chunk integer, tf integer, doc_length integer
);
CREATE INDEX ON covering (tenant_id, term) INCLUDE (chunk, tf, doc_length)
"""

# The statistics stand aside, as constants.
SCORED = """
WITH found AS (
    SELECT term, chunk, tf, doc_length FROM covering WHERE tenant_id = %(tenant)s AND term = ANY(%(terms)s)
), weights AS (
    SELECT term, ln(1::float8 + (%(n)s::float8 - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) AS idf
    FROM found GROUP BY term
)
SELECT chunk, sum(idf * (tf / (tf + 1.2::float8 * (
    0.25::float8 + 0.75::float8 * doc_length / %(average)s::float8))))
FROM found JOIN weights USING (term) GROUP BY chunk ORDER BY 2 DESC, 1 LIMIT %(limit)s
"""

CHUNK_ROWS = """
DROP TABLE IF EXISTS chunk_rows;
CREATE TABLE chunk_rows (
    tenant_id uuid NOT NULL, id text COLLATE "C" NOT NULL, source_id text NOT NULL, text text NOT NULL,
    chunk_index integer NOT NULL, start_char integer NOT NULL, end_char integer NOT NULL,
    entity_ids uuid[] NOT NULL, metadata jsonb NOT NULL, embedding vector({dimension}),
    PRIMARY KEY (tenant_id, id)
)
"""


async def run_script(connection: AsyncConnection[Any], script: str, dimension: int = 0) -> None:
    """Run statements that are separated by semicolons."""
    for statement in script.format(dimension=dimension).split(";"):
        await connection.execute(statement)


async def fill_narrow(connection: AsyncConnection[Any], chunks: Sequence[StoredChunk], start: int) -> None:
    """Copy the vectors alone."""
    rows = [copy_row([int4(start + at), vector(each.embedding or [])]) for at, each in enumerate(chunks)]
    await _copy(connection, "COPY narrow FROM STDIN (FORMAT binary)", rows)


async def fill_covering(connection: AsyncConnection[Any], chunks: Sequence[StoredChunk], start: int) -> None:
    """Copy one posting for each chunk and term, sorted by term."""
    postings = []
    for at, chunk in enumerate(chunks):
        counts = Counter(tokenize(chunk.text))
        postings += [(term, start + at, tf, counts.total()) for term, tf in counts.items()]
    rows = [
        copy_row([TENANT.bytes, term.encode(), int4(chunk), int4(tf), int4(length)])
        for term, chunk, tf, length in sorted(postings)
    ]
    await _copy(connection, "COPY covering FROM STDIN (FORMAT binary)", rows)


async def copy_chunk_rows(connection: AsyncConnection[Any], chunks: Sequence[StoredChunk]) -> None:
    """Copy chunk rows as they come, checked like every adapter checks them, without any lexical index."""
    rows = [_chunk_row(chunk.copy()) for chunk in chunks]
    async with connection.transaction():
        await _copy(connection, "COPY chunk_rows FROM STDIN (FORMAT binary)", rows)


def _chunk_row(chunk: StoredChunk) -> bytes:
    texts = [chunk.id.encode(), chunk.source_id.encode(), chunk.text.encode()]
    positions = [int4(chunk.chunk_index), int4(chunk.start_char), int4(chunk.end_char)]
    rest = [uuid_array(chunk.entity_ids), jsonb(chunk.metadata), vector(chunk.embedding or [])]
    return copy_row([chunk.tenant_id.bytes, *texts, *positions, *rest])


async def _copy(connection: AsyncConnection[Any], statement: str, rows: Sequence[bytes]) -> None:
    async with psycopg.AsyncCursor(connection).copy(statement) as copy:
        await copy.write(COPY_HEADER + b"".join(rows) + COPY_TRAILER)
