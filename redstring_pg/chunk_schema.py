"""The tables of the chunk store: how they are created, repaired and migrated. No reads, no writes of chunks.

Spec: PG-2 to PG-4, PG-9, PG-10.
"""

from dataclasses import dataclass

from psycopg import sql

from redstring_pg.cursor import Cursor
from redstring_pg.names import Table, quoted
from redstring_pg.postings import BLOCK_SIZE, COUNT_BITS
from redstring_pg.schema import (
    Part,
    VectorType,
    create_extension,
    create_part,
    create_schema,
    enable_row_security,
    exists,
    lock_schema,
    require_column_width,
    set_storage,
    vector_storage,
)


@dataclass(frozen=True, slots=True)
class ChunkTables:
    """The chunk table and what is derived from its name."""

    chunks: Table

    @property
    def postings(self) -> Table:
        """One row for each term of each block, with the packed postings."""
        return self.chunks.derived("postings")

    @property
    def blocks(self) -> Table:
        """One row for each block, with its number of chunks and of terms: the statistics."""
        return self.chunks.derived("blocks")

    @property
    def block_numbers(self) -> Table:
        """The sequence that blocks are numbered by."""
        return self.chunks.derived("block_seq")

    @property
    def term_rows(self) -> Table:
        """The older lexical table, of one row for each chunk and term, which `migrate_terms` replaces."""
        return self.chunks.derived("terms")


async def ensure_chunk_schema(
    cursor: Cursor, tables: ChunkTables, dimension: int, partitions: int | None, row_security: bool
) -> None:
    """Create what is missing, repair what is older, and refuse a column of another width. Spec: PG-2."""
    await lock_schema(cursor)
    await create_schema(cursor, tables.chunks.schema)
    vector = await create_extension(cursor)
    await cursor.run(sql.SQL("CREATE SEQUENCE IF NOT EXISTS {}").format(tables.block_numbers.identifier))
    await create_part(cursor, _chunk_part(tables, vector, dimension), partitions)
    await _repair_columns(cursor, tables.chunks, vector, dimension)
    await require_column_width(cursor, tables.chunks, dimension)
    for part in (_postings_part(tables), _blocks_part(tables)):
        await create_part(cursor, part, partitions)
    await set_storage(cursor, tables.chunks, "embedding", vector_storage(dimension))
    await set_storage(cursor, tables.postings, "postings", "PLAIN")
    await _create_indexes(cursor, tables)
    await migrate_terms(cursor, tables)
    if row_security:
        for table in (tables.chunks, tables.postings, tables.blocks):
            await enable_row_security(cursor, table)


def _chunk_part(tables: ChunkTables, vector: VectorType, dimension: int) -> Part:
    # What a scan reads of every row comes first.
    columns = sql.SQL(
        "tenant_id uuid NOT NULL, embedding {vector}({dimension}), chunk_index integer NOT NULL,"
        " start_char integer NOT NULL, end_char integer NOT NULL, doc_length integer NOT NULL DEFAULT 0,"
        ' id text COLLATE "C" NOT NULL, source_id text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,'
        " entity_ids uuid[] NOT NULL DEFAULT '{{}}', metadata jsonb NOT NULL DEFAULT '{{}}',"
        " lexical_block bigint, lexical_slot integer, PRIMARY KEY (tenant_id, id)"
    ).format(vector=vector.name, dimension=sql.Literal(dimension))
    return Part(tables.chunks, columns)


def _postings_part(tables: ChunkTables) -> Part:
    # Without a primary key: it would have to hold the block, and take half as much room again.
    columns = (
        'tenant_id uuid NOT NULL, term text COLLATE "C" NOT NULL,'
        " block bigint NOT NULL, postings bigint[] NOT NULL"
    )
    return Part(tables.postings, sql.SQL(columns))


def _blocks_part(tables: ChunkTables) -> Part:
    # The key covers the statistics, so that they are summed from the index alone.
    columns = (
        "tenant_id uuid NOT NULL, block bigint NOT NULL, chunks integer NOT NULL, terms bigint NOT NULL,"
        " PRIMARY KEY (tenant_id, block) INCLUDE (chunks, terms)"
    )
    return Part(tables.blocks, sql.SQL(columns))


async def _repair_columns(cursor: Cursor, chunks: Table, vector: VectorType, dimension: int) -> None:
    """Add the columns that older tables lack; none of them rewrites the table."""
    width = sql.Literal(dimension)
    wanted = {
        "doc_length": sql.SQL("integer NOT NULL DEFAULT 0"),
        "embedding": sql.SQL("{}({})").format(vector.name, width),
        "lexical_block": sql.SQL("bigint"),
        "lexical_slot": sql.SQL("integer"),
    }
    await cursor.run(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND NOT attisdropped",
        [chunks.text],
    )
    existing = {row[0] async for row in cursor}
    for column, kind in wanted.items():
        # ALTER TABLE would wait for every writer, even where it has nothing to do.
        if column not in existing:
            addition = sql.SQL("ALTER TABLE {} ADD COLUMN IF NOT EXISTS {} {}")
            await cursor.run(addition.format(chunks.identifier, quoted(column), kind))


async def _create_indexes(cursor: Cursor, tables: ChunkTables) -> None:
    """Create the indexes that are missing. Spec: PG-3."""
    chunks, postings = tables.chunks, tables.postings
    wanted = [
        # Serves get_by_source and the backfill; "C" whatever the column's collation.
        (chunks, "source", '(tenant_id, source_id COLLATE "C", chunk_index)'),
        (chunks, "entity", "USING gin (entity_ids) WHERE entity_ids <> '{}'"),
        (chunks, "place", "(tenant_id, lexical_block, lexical_slot)"),
        (postings, "term", "(tenant_id, term)"),
        (postings, "block", "(tenant_id, block)"),
    ]
    for table, suffix, keys in wanted:
        index = table.derived(f"{suffix}_idx")
        # CREATE INDEX IF NOT EXISTS would wait for every writer as well.
        if await exists(cursor, index):
            continue
        statement = sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} {}")
        name = quoted(index.name)
        await cursor.run(statement.format(name, table.identifier, sql.SQL(keys)))


async def migrate_terms(cursor: Cursor, tables: ChunkTables) -> None:
    """Move the older term rows into blocks and postings, and drop their table. Spec: PG-3.

    What they say is kept as it is; `backfill_lexical_index` corrects what an older tokenizer did
    differently, and indexes the chunks that have no term rows.
    """
    if not await exists(cursor, tables.term_rows):
        return
    names = {
        "chunks": tables.chunks.identifier,
        "terms": tables.term_rows.identifier,
        "postings": tables.postings.identifier,
        "blocks": tables.blocks.identifier,
        "size": sql.Literal(BLOCK_SIZE),
        "slot_shift": sql.Literal(2 * COUNT_BITS),
        "count_shift": sql.Literal(COUNT_BITS),
    }
    for statement in (_MIGRATION, "DROP TABLE {terms}"):
        await cursor.run(sql.SQL(statement).format(**names), {"numbers": tables.block_numbers.text})


_MIGRATION = """
WITH numbered AS (
    SELECT tenant_id, id, source_id,
           row_number() OVER (PARTITION BY tenant_id, source_id ORDER BY chunk_index, id) - 1 AS n
    FROM {chunks} WHERE lexical_block IS NULL AND doc_length > 0
), grouped AS MATERIALIZED (
    SELECT tenant_id, source_id, n / {size} AS part, nextval(%(numbers)s::regclass) AS block
    FROM numbered GROUP BY tenant_id, source_id, n / {size}
), placed AS (
    UPDATE {chunks} AS c SET lexical_block = g.block, lexical_slot = m.n %% {size}
    FROM numbered AS m JOIN grouped AS g
      ON g.tenant_id = m.tenant_id AND g.source_id = m.source_id AND g.part = m.n / {size}
    WHERE c.tenant_id = m.tenant_id AND c.id = m.id
    RETURNING c.tenant_id, c.id, c.doc_length, c.lexical_block AS block, c.lexical_slot::bigint AS slot
), counted AS (
    INSERT INTO {blocks} (tenant_id, block, chunks, terms)
    SELECT tenant_id, block, count(*), sum(doc_length) FROM placed GROUP BY tenant_id, block
)
INSERT INTO {postings} (tenant_id, term, block, postings)
SELECT t.tenant_id, t.term, p.block,
       array_agg((p.slot << {slot_shift}) | (t.tf::bigint << {count_shift}) | p.doc_length)
FROM {terms} AS t JOIN placed AS p ON p.tenant_id = t.tenant_id AND p.id = t.chunk_id
GROUP BY t.tenant_id, t.term, p.block
"""
