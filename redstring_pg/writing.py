"""The writes of the chunk store, each inside a transaction of the caller's. No reads that leave the store.

Spec: PG-4, PG-7.
"""

from collections.abc import Mapping

from psycopg import sql

from redstring_pg.change import Change, StoredRow, change
from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.cursor import Cursor
from redstring_pg.lexical_index import delete_blocks, insert_blocks
from redstring_pg.postings import Place
from redstring_pg.rows import copy_chunks, stored_rows
from redstring_pg.schema import VectorType
from redstring_ref.domain import ChunkId, SourceId, StoredChunk, TenantId

# "C" on both sides of the index that has it, whatever the collation of an older table's column.
OF_SOURCE = 'c.source_id COLLATE "C" = %s'


async def replace(
    cursor: Cursor,
    tables: ChunkTables,
    vector: VectorType,
    tenant_id: TenantId,
    source_id: SourceId,
    given: Mapping[ChunkId, StoredChunk],
) -> int:
    """Make `given` the whole of a source that is locked; return how many others went. Spec: CHK-7."""
    stored = await stored_rows(cursor, tables, vector, tenant_id, OF_SOURCE, source_id)
    orphans = stored.keys() - given.keys()
    await _apply(cursor, tables, tenant_id, change(given, stored, orphans))
    return len(orphans)


async def upsert(
    cursor: Cursor,
    tables: ChunkTables,
    vector: VectorType,
    tenant_id: TenantId,
    given: Mapping[ChunkId, StoredChunk],
) -> None:
    """Write chunks of one tenant whose sources are locked. Spec: CHK-6."""
    stored: dict[ChunkId, StoredRow] = await stored_rows(
        cursor, tables, vector, tenant_id, "c.id = ANY(%s)", list(given)
    )
    await _apply(cursor, tables, tenant_id, change(given, stored, orphans=()))


async def delete_source(cursor: Cursor, tables: ChunkTables, tenant_id: TenantId, source_id: SourceId) -> int:
    """Delete a source that is locked; return how many chunks it had. Spec: CHK-9."""
    statement = "DELETE FROM {} AS c WHERE tenant_id = %s AND {} RETURNING lexical_block"
    await cursor.run(
        sql.SQL(statement).format(tables.chunks.identifier, sql.SQL(OF_SOURCE)), [tenant_id, source_id]
    )
    blocks = [row[0] async for row in cursor]
    await delete_blocks(cursor, tables, tenant_id, sorted({block for block in blocks if block is not None}))
    return len(blocks)


async def delete_tenant(cursor: Cursor, tables: ChunkTables, tenant_id: TenantId) -> int:
    """Delete a tenant that is locked; return how many chunks it had. Spec: CHK-9."""
    deleted = 0
    for table in (tables.postings, tables.blocks, tables.chunks):
        await cursor.run(sql.SQL("DELETE FROM {} WHERE tenant_id = %s").format(table.identifier), [tenant_id])
        deleted = cursor.rowcount
    return deleted


async def _apply(cursor: Cursor, tables: ChunkTables, tenant_id: TenantId, wanted: Change) -> None:
    await delete_blocks(cursor, tables, tenant_id, wanted.deleted_blocks)
    if wanted.deleted:
        statement = sql.SQL("DELETE FROM {} WHERE tenant_id = %s AND id = ANY(%s)").format(
            tables.chunks.identifier
        )
        await cursor.run(statement, [tenant_id, wanted.deleted])
    numbers = await insert_blocks(cursor, tables, tenant_id, [block.counts for block in wanted.blocks])
    rows = list(wanted.rows)
    for number, block in zip(numbers, wanted.blocks, strict=True):
        for slot, (chunk, counts) in enumerate(zip(block.chunks, block.counts, strict=True)):
            rows.append((chunk, sum(counts.values()), Place(number, slot)))
    if rows:
        await copy_chunks(cursor, tables, rows)
