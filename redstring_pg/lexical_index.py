"""Writes to the lexical index: blocks come and go whole. Its reads are in `lexical`.

Spec: PG-4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from psycopg import sql

from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.cursor import Cursor
from redstring_pg.encoding import int8_array, text_array
from redstring_pg.postings import BLOCK_SIZE, block_postings
from redstring_ref.domain import TenantId

# The term counts of each chunk of a block, slot after slot.
BlockCounts = Sequence[Mapping[str, int]]

# The postings of so many chunks at least go in one statement: many small blocks would be many statements.
_CHUNKS_A_STATEMENT = 8 * BLOCK_SIZE

_INSERT_BLOCKS = """
INSERT INTO {blocks} (tenant_id, block, chunks, terms)
SELECT %s, block, chunks, terms FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS u(block, chunks, terms)
"""

# Sorted by term, as the index is.
_INSERT_POSTINGS = """
INSERT INTO {postings} (tenant_id, term, block, postings)
SELECT %s, term, block, array_agg(posting)
FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) AS u(term, block, posting)
GROUP BY term, block ORDER BY term COLLATE "C", block
"""


async def insert_blocks(
    cursor: Cursor, tables: ChunkTables, tenant_id: TenantId, blocks: Sequence[BlockCounts]
) -> list[int]:
    """Write new blocks with their postings; return their numbers."""
    if not blocks:
        return []
    await cursor.run(
        "SELECT nextval(%s::regclass) FROM generate_series(1, %s)", [tables.block_numbers.text, len(blocks)]
    )
    numbers = [row[0] async for row in cursor]
    lengths = [sum(sum(counts.values()) for counts in block) for block in blocks]
    sizes = [len(block) for block in blocks]
    await cursor.run(
        sql.SQL(_INSERT_BLOCKS).format(blocks=tables.blocks.identifier), [tenant_id, numbers, sizes, lengths]
    )
    statement = sql.SQL(_INSERT_POSTINGS).format(postings=tables.postings.identifier)
    for part in _parts(list(zip(numbers, blocks, strict=True))):
        await cursor.run(statement, [tenant_id, *_flat(part)])
    return numbers


async def delete_blocks(
    cursor: Cursor, tables: ChunkTables, tenant_id: TenantId, numbers: Sequence[int]
) -> None:
    """Delete blocks with their postings; the rows that stood in them are the caller's concern."""
    if not numbers:
        return
    for table in (tables.postings, tables.blocks):
        statement = sql.SQL("DELETE FROM {} WHERE tenant_id = %s AND block = ANY(%s)").format(
            table.identifier
        )
        await cursor.run(statement, [tenant_id, list(numbers)])


def _parts(blocks: Iterable[tuple[int, BlockCounts]]) -> Iterator[list[tuple[int, BlockCounts]]]:
    part: list[tuple[int, BlockCounts]] = []
    chunks = 0
    for number, block in blocks:
        part.append((number, block))
        chunks += len(block)
        if chunks >= _CHUNKS_A_STATEMENT:
            yield part
            part, chunks = [], 0
    if part:
        yield part


def _flat(blocks: Iterable[tuple[int, BlockCounts]]) -> tuple[str, str, str]:
    """Return three arrays of one length: the term, the block and the posting of each entry."""
    terms: list[str] = []
    numbers: list[int] = []
    postings: list[int] = []
    for number, block in blocks:
        block_terms, packed = block_postings(block)
        terms += block_terms
        numbers += [number] * len(packed)
        postings += packed
    return text_array(terms), int8_array(numbers), int8_array(postings)
