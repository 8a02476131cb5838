"""The chunk store on PostgreSQL: it judges like every adapter, and ranks by the domain's rules."""

from collections.abc import Iterable, Sequence

from psycopg import sql

from redstring_pg.backfill import Backfill
from redstring_pg.chunk_schema import ChunkTables, ensure_chunk_schema
from redstring_pg.cursor import scope
from redstring_pg.lexical import LexicalQuestion
from redstring_pg.locks import lock_for_purge, lock_for_write
from redstring_pg.nearest import Nearest
from redstring_pg.rows import chunk_columns, to_chunk
from redstring_pg.schema import require_partitions
from redstring_pg.store import Pool, PostgresStore
from redstring_pg.writing import OF_SOURCE, delete_source, delete_tenant, replace, upsert
from redstring_ref.domain import (
    ChunkId,
    CorpusStats,
    EntityId,
    LexicalCandidates,
    SemanticCandidate,
    SourceId,
    StoredChunk,
    TenantId,
)
from redstring_ref.domain.arguments import (
    require_at_least,
    require_limit,
    require_min_score,
    require_strings,
)
from redstring_ref.domain.chunks import require_chunks, require_chunks_of
from redstring_ref.domain.ids import require_chunk_id, require_source_id, require_tenant, require_uuid
from redstring_ref.domain.vectors import as_vector, require_width


class PostgresChunkStore(PostgresStore):
    """A `ChunkStore` in PostgreSQL 15 to 18 with pgvector 0.8, for any number of processes.

    `pool` is the caller's, who closes it; `connect` makes one that the store closes. `table` and
    `schema` are any names that PostgreSQL can quote; without a schema the search path decides.
    `ensure_schema` creates the tables, and repairs older ones.

    A `dimension` below 1 or above 16,000, a name of no or more than 63 UTF-8 bytes is a
    `ValueError`; of another type, a `TypeError`.

    Spec: PG-1 to PG-10.
    """

    def __init__(
        self, pool: Pool, *, dimension: int, table: str = "kg_chunks", schema: str | None = None
    ) -> None:
        super().__init__(pool, dimension=dimension, table=table, schema=schema)
        self._tables = ChunkTables(self._table)

    async def ensure_schema(self, *, partitions: int | None = None, row_level_security: bool = False) -> None:
        """Create what is missing and repair older tables; nothing changes where all is as it should be.

        `partitions` makes new tables hash-partitioned by tenant. `row_level_security` adds
        policies that show and accept only rows of the tenant that a transaction names.

        Raises `DimensionMismatchError` for a table of another width, and `ValueError` for a
        number of partitions that an existing table does not have; then nothing has changed.

        Spec: PG-2, PG-3, PG-9, PG-10.
        """
        self._require_open()
        wanted = require_partitions(partitions)
        async with self._transaction() as cursor:
            await ensure_chunk_schema(cursor, self._tables, self._dimension, wanted, row_level_security)

    async def backfill_lexical_index(
        self, *, tenant_id: TenantId | None = None, batch_size: int = 1000
    ) -> int:
        """Index again whatever chunk is not indexed as `tokenize` says; return how many were not.

        Of one tenant, or of all. Each batch of `batch_size` chunks is a transaction of its own,
        so what is done stays done when it is interrupted, and a second run changes nothing.

        Raises `TypeError` or `ValueError` for an argument that is no tenant or no positive integer.

        Spec: PG-3.
        """
        self._require_open()
        tenant = None if tenant_id is None else require_tenant(tenant_id)
        size = require_at_least(1, "batch_size", batch_size)
        await self._opened_vector()
        return await Backfill(self._transaction, self._tables, size).run(tenant)

    async def upsert_many(self, chunks: Iterable[StoredChunk]) -> None:
        """Write `chunks`, of any tenants, whole and all together. Spec: CHK-6, PG-7."""
        self._require_open()
        by_tenant: dict[TenantId, dict[ChunkId, StoredChunk]] = {}
        for chunk in require_chunks(chunks, self._dimension):
            by_tenant.setdefault(chunk.tenant_id, {})[chunk.id] = chunk
        if not by_tenant:
            return
        vector = await self._opened_vector()
        sources = {(tenant, each.source_id) for tenant, given in by_tenant.items() for each in given.values()}
        async with self._transaction() as cursor:
            await lock_for_write(cursor, sources)
            for tenant_id, given in sorted(by_tenant.items()):
                await scope(cursor, tenant_id)
                await upsert(cursor, self._tables, vector, tenant_id, given)

    async def replace_source(
        self, source_id: SourceId, tenant_id: TenantId, chunks: Iterable[StoredChunk]
    ) -> int:
        """Make `chunks` the whole of this source; return how many others went. Spec: CHK-7, PG-7."""
        self._require_open()
        require_tenant(tenant_id)
        source_id = require_source_id(source_id)
        checked = require_chunks_of(source_id, tenant_id, chunks, self._dimension)
        vector = await self._opened_vector()
        async with self._transaction(tenant_id) as cursor:
            await lock_for_write(cursor, [(tenant_id, source_id)])
            given = {chunk.id: chunk for chunk in checked}
            return await replace(cursor, self._tables, vector, tenant_id, source_id, given)

    async def get(self, chunk_id: ChunkId, tenant_id: TenantId) -> StoredChunk | None:
        """Return the chunk, or `None` if this tenant has no chunk with this id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        found = await self._chunks(tenant_id, "id = %s", require_chunk_id(chunk_id))
        return found[0] if found else None

    async def get_by_source(self, source_id: SourceId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks of one source, by `chunk_index`, then id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        return await self._chunks(tenant_id, OF_SOURCE, require_source_id(source_id))

    async def get_by_entity(self, entity_id: EntityId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks that name an entity, by `source_id`, `chunk_index`, then id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        # The second condition is the index's own: an empty array is not in it.
        condition = "entity_ids @> ARRAY[%s]::uuid[] AND entity_ids <> '{}'"
        return await self._chunks(tenant_id, condition, require_uuid("entity_id", entity_id))

    async def lexical_candidates(
        self, terms: Sequence[str], tenant_id: TenantId, limit: int
    ) -> LexicalCandidates:
        """Return the `limit` best chunks by BM25, and the statistics. Spec: LEX-4, LEX-5, PG-4."""
        self._require_open()
        require_tenant(tenant_id)
        checked, cutoff = require_strings("terms", terms), require_limit("limit", limit)
        if not checked:
            return LexicalCandidates(CorpusStats(0, 0, {}), [])
        vector = await self._opened_vector()
        question = LexicalQuestion(self._tables, vector, tenant_id, checked, cutoff)
        return question.answer(await self._proposed(tenant_id, question))

    async def semantic_candidates(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        limit: int,
        *,
        min_score: float | None = None,
    ) -> list[SemanticCandidate]:
        """Return the `limit` best chunks by exact cosine score. Spec: VEC-4, ORD-1 to ORD-3, PG-6."""
        self._require_open()
        require_tenant(tenant_id)
        query = as_vector(vector, "vector")
        require_width(self._dimension, query, "vector")
        cutoff, threshold = require_limit("limit", limit), require_min_score(min_score)
        if cutoff == 0:
            return []
        opened = await self._opened_vector()
        nearest = Nearest(
            self._table,
            opened,
            tenant_id,
            query,
            cutoff,
            threshold,
            key="id",
            order=sql.SQL('c.id COLLATE "C"'),
            columns=chunk_columns(opened),
        )
        return [
            SemanticCandidate(to_chunk(tenant_id, row[2:-1]), score)
            for row, score in nearest.ranked(await self._proposed(tenant_id, nearest))
        ]

    async def delete_by_source(self, source_id: SourceId, tenant_id: TenantId) -> int:
        """Delete the chunks of exactly this source; return how many there were. Spec: CHK-9, PG-7."""
        self._require_open()
        require_tenant(tenant_id)
        source_id = require_source_id(source_id)
        await self._opened_vector()
        async with self._transaction(tenant_id) as cursor:
            await lock_for_write(cursor, [(tenant_id, source_id)])
            return await delete_source(cursor, self._tables, tenant_id, source_id)

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every chunk of the tenant; return how many there were. Spec: CHK-9, PG-7."""
        self._require_open()
        require_tenant(tenant_id)
        await self._opened_vector()
        async with self._transaction(tenant_id) as cursor:
            await lock_for_purge(cursor, tenant_id)
            return await delete_tenant(cursor, self._tables, tenant_id)

    async def _chunks(self, tenant_id: TenantId, condition: str, value: object) -> list[StoredChunk]:
        """Return the tenant's chunks that meet a condition, in the order that all reads by key share."""
        vector = await self._opened_vector()
        statement = sql.SQL(
            "SELECT {columns} FROM {chunks} AS c WHERE c.tenant_id = %s AND {condition}"
            ' ORDER BY c.source_id COLLATE "C", c.chunk_index, c.id COLLATE "C"'
        ).format(columns=chunk_columns(vector), chunks=self._table.identifier, condition=sql.SQL(condition))
        rows = await self._read(tenant_id, statement, [tenant_id, value])
        return [to_chunk(tenant_id, row) for row in rows]
