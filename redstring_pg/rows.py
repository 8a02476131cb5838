"""How a chunk is read from a row and written into one. No decision about which."""

import json
from collections.abc import Iterable
from itertools import chain

from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg import encoding
from redstring_pg.change import StoredRow
from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.copying import copy_rows
from redstring_pg.cursor import Cursor
from redstring_pg.names import quoted
from redstring_pg.postings import Place
from redstring_pg.schema import VectorType
from redstring_ref.domain import ChunkId, StoredChunk, TenantId

_COPIED = (
    "tenant_id, id, source_id, text, chunk_index, start_char, end_char, entity_ids, metadata,"
    " doc_length, embedding, lexical_block, lexical_slot"
)


def chunk_columns(vector: VectorType) -> sql.Composed:
    """Return the columns, of a table `c`, that `to_chunk` reads."""
    return sql.SQL(
        "c.source_id, c.text, c.chunk_index, c.start_char, c.end_char, c.entity_ids, c.metadata::text, {}"
    ).format(vector.sent(quoted("c", "embedding")))


def to_chunk(tenant_id: TenantId, row: TupleRow) -> StoredChunk:
    """Return the chunk of a row of `chunk_columns`."""
    source_id, text, chunk_index, start_char, end_char, entity_ids, metadata, embedding = row
    return StoredChunk(
        tenant_id,
        source_id,
        text,
        chunk_index,
        start_char,
        end_char,
        entity_ids,
        json.loads(metadata),
        # An array of float32 has nothing to be rounded, and becomes a list.
        None if embedding is None else encoding.vector_components(embedding),  # type: ignore[arg-type]
    )


async def stored_rows(
    cursor: Cursor,
    tables: ChunkTables,
    vector: VectorType,
    tenant_id: TenantId,
    condition: str,
    value: object,
) -> dict[ChunkId, StoredRow]:
    """Return what the write must know of the tenant's rows that meet a condition on one value."""
    statement = sql.SQL(
        "SELECT c.id, c.chunk_index, c.start_char, c.end_char, c.entity_ids, c.metadata::text, {embedding},"
        " c.doc_length, c.lexical_block, c.lexical_slot"
        " FROM {chunks} AS c WHERE c.tenant_id = %s AND {condition}"
    ).format(
        embedding=vector.sent(quoted("c", "embedding")),
        chunks=tables.chunks.identifier,
        condition=sql.SQL(condition),
    )
    await cursor.run(statement, [tenant_id, value], binary=True)
    return {row[0]: _to_stored_row(row[1:]) async for row in cursor}


def _to_stored_row(row: TupleRow) -> StoredRow:
    chunk_index, start_char, end_char, entity_ids, metadata, embedding, doc_length, block, slot = row
    entities, canonical = encoding.uuid_array(entity_ids), encoding.json_text(json.loads(metadata))
    place = None if block is None or slot is None else Place(block, slot)
    return StoredRow((chunk_index, start_char, end_char, entities, canonical, embedding), doc_length, place)


async def copy_chunks(
    cursor: Cursor, tables: ChunkTables, rows: Iterable[tuple[StoredChunk, int, Place]]
) -> None:
    """Write new rows, each with its number of terms and its place."""
    encoded = (_copied(chunk, doc_length, place) for chunk, doc_length, place in rows)
    framed = chain([encoding.COPY_HEADER], encoded, [encoding.COPY_TRAILER])
    await copy_rows(cursor, tables.chunks, _COPIED, "binary", framed)


def _copied(chunk: StoredChunk, doc_length: int, place: Place) -> bytes:
    return encoding.copy_row(
        [
            chunk.tenant_id.bytes,
            chunk.id.encode(),
            chunk.source_id.encode(),
            chunk.text.encode(),
            encoding.int4(chunk.chunk_index),
            encoding.int4(chunk.start_char),
            encoding.int4(chunk.end_char),
            encoding.uuid_array(chunk.entity_ids),
            encoding.jsonb(chunk.metadata),
            encoding.int4(doc_length),
            None if chunk.embedding is None else encoding.vector(chunk.embedding),
            encoding.int8(place.block),
            encoding.int4(place.slot),
        ]
    )
