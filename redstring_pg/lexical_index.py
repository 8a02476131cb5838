"""Writes to the lexical index: blocks come and go whole. Its reads are in `lexical`.

Spec: PG-4.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from psycopg import sql

from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.copying import copy_rows
from redstring_pg.cursor import Cursor
from redstring_pg.encoding import int8_array
from redstring_pg.postings import block_postings
from redstring_ref.domain import TenantId

# The term counts of each chunk of a block, slot after slot.
BlockCounts = Sequence[Mapping[str, int]]

_INSERT_BLOCKS = """
INSERT INTO {blocks} (tenant_id, block, chunks, terms)
SELECT %s, block, chunks, terms
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS u(block, chunks, terms)
"""


# So many lines are encoded together.
_TERMS_A_PIECE = 512


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
    lines = chain.from_iterable(
        _lines(tenant_id, number, block) for number, block in zip(numbers, blocks, strict=True)
    )
    await copy_rows(cursor, tables.postings, "tenant_id, term, block, postings", "text", lines)
    return numbers


def _lines(tenant_id: TenantId, number: int, block: BlockCounts) -> Iterator[bytes]:
    """Yield a block's lines of COPY, sorted as the index is; a term needs no escapes."""
    tenant, postings = str(tenant_id), block_postings(block)
    terms = sorted(postings)
    for start in range(0, len(terms), _TERMS_A_PIECE):
        lines = [
            f"{tenant}\t{term}\t{number}\t{int8_array(postings[term])}\n"
            for term in terms[start : start + _TERMS_A_PIECE]
        ]
        yield "".join(lines).encode()


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
