"""The entity vector store on PostgreSQL. Chunks carry their own vectors and have their own store."""

import json
from collections.abc import Iterable, Sequence

from psycopg import sql

from redstring_pg.cursor import Cursor, scope
from redstring_pg.encoding import json_text, vector_components, vector_text
from redstring_pg.locks import lock_for_purge, share_tenants
from redstring_pg.names import quoted
from redstring_pg.nearest import Nearest
from redstring_pg.schema import (
    Part,
    VectorType,
    create_extension,
    create_part,
    create_schema,
    enable_row_security,
    lock_schema,
    require_column_width,
    require_partitions,
    set_storage,
    vector_storage,
)
from redstring_pg.store import Pool, PostgresStore
from redstring_ref.domain import EntityId, TenantId, VectorMatch, VectorRecord
from redstring_ref.domain.arguments import require_limit, require_min_score, require_strings
from redstring_ref.domain.ids import require_tenant, require_uuid
from redstring_ref.domain.vector_record import require_records
from redstring_ref.domain.vectors import as_vector, require_width

_UPSERT = """
INSERT INTO {table} (tenant_id, entity_id, embedding, metadata)
SELECT %s, entity_id, embedding::{vector}, metadata::jsonb
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS u(entity_id, embedding, metadata)
ORDER BY entity_id
ON CONFLICT (tenant_id, entity_id) DO UPDATE SET embedding = EXCLUDED.embedding, metadata = EXCLUDED.metadata
"""

# Only a string can be one of the types; `->>` would take the number 1 for "1".
_OF_TYPES = (
    "jsonb_typeof(metadata -> 'entity_type') = 'string' AND metadata ->> 'entity_type' = ANY(%(types)s)"
)


class PgVectorStore(PostgresStore):
    """A `VectorStore` in PostgreSQL 15 to 18 with pgvector 0.8, for any number of processes.

    Arguments and errors are those of `PostgresChunkStore`.

    Spec: PG-1, PG-2, PG-5 to PG-10.
    """

    def __init__(
        self, pool: Pool, *, dimension: int, table: str = "kg_vectors", schema: str | None = None
    ) -> None:
        super().__init__(pool, dimension=dimension, table=table, schema=schema)

    async def ensure_schema(self, *, partitions: int | None = None, row_level_security: bool = False) -> None:
        """Create what is missing, as `PostgresChunkStore.ensure_schema` does. Spec: PG-2, PG-9, PG-10."""
        self._require_open()
        wanted = require_partitions(partitions)
        async with self._transaction() as cursor:
            await lock_schema(cursor)
            await create_schema(cursor, self._table.schema)
            vector = await create_extension(cursor)
            await create_part(cursor, self._part(vector), wanted)
            await require_column_width(cursor, self._table, self._dimension)
            await set_storage(cursor, self._table, "embedding", vector_storage(self._dimension))
            if row_level_security:
                await enable_row_security(cursor, self._table)

    async def upsert(self, record: VectorRecord) -> None:
        """Write one record whole. Spec: VST-1."""
        await self.upsert_many([record])

    async def upsert_many(self, records: Iterable[VectorRecord]) -> None:
        """Write `records`, of any tenants, all together. Spec: VST-1, PG-7."""
        self._require_open()
        by_tenant: dict[TenantId, dict[EntityId, VectorRecord]] = {}
        for record in require_records(records, self._dimension):
            by_tenant.setdefault(record.tenant_id, {})[record.entity_id] = record
        if not by_tenant:
            return
        vector = await self._opened_vector()
        async with self._transaction() as cursor:
            await share_tenants(cursor, by_tenant)
            for tenant_id, given in sorted(by_tenant.items()):
                await scope(cursor, tenant_id)
                await self._upsert(cursor, vector, tenant_id, given.values())

    async def get(self, entity_id: EntityId, tenant_id: TenantId) -> VectorRecord | None:
        """Return the record, or `None` if this tenant has none for the entity. Spec: VST-1."""
        self._require_open()
        require_tenant(tenant_id)
        entity_id = EntityId(require_uuid("entity_id", entity_id))
        vector = await self._opened_vector()
        statement = sql.SQL(
            "SELECT {embedding}, metadata::text FROM {table} WHERE tenant_id = %s AND entity_id = %s"
        ).format(embedding=vector.sent(quoted("embedding")), table=self._table.identifier)
        for embedding, metadata in await self._read(tenant_id, statement, [tenant_id, entity_id]):
            return VectorRecord(
                tenant_id, entity_id, vector_components(embedding).tolist(), json.loads(metadata)
            )
        return None

    async def search(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        *,
        k: int = 10,
        entity_types: Iterable[str] | None = None,
        min_score: float | None = None,
    ) -> list[VectorMatch]:
        """Return the `k` best entities by exact cosine score. Spec: VST-2, ORD-1 to ORD-3, PG-6."""
        self._require_open()
        require_tenant(tenant_id)
        query = as_vector(vector, "vector")
        require_width(self._dimension, query, "vector")
        cutoff = require_limit("k", k)
        types = None if entity_types is None else require_strings("entity_types", entity_types)
        threshold = require_min_score(min_score)
        if cutoff == 0:
            return []
        nearest = Nearest(
            self._table,
            await self._opened_vector(),
            tenant_id,
            query,
            cutoff,
            threshold,
            key="entity_id",
            order=sql.SQL("c.entity_id"),
            columns=sql.SQL("c.metadata::text"),
            condition=sql.SQL("TRUE" if types is None else _OF_TYPES),
            parameters={"types": types},
        )
        return [
            VectorMatch(EntityId(row[0]), score, json.loads(row[2]))
            for row, score in nearest.ranked(await self._proposed(tenant_id, nearest))
        ]

    async def delete(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        """Delete one record; return how many there were, 0 or 1. Spec: VST-3, PG-7."""
        self._require_open()
        require_tenant(tenant_id)
        require_uuid("entity_id", entity_id)
        await self._opened_vector()
        async with self._transaction(tenant_id) as cursor:
            await share_tenants(cursor, [tenant_id])
            statement = sql.SQL("DELETE FROM {} WHERE tenant_id = %s AND entity_id = %s").format(
                self._table.identifier
            )
            return (await cursor.run(statement, [tenant_id, entity_id])).rowcount

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every record of the tenant; return how many there were. Spec: VST-3, PG-7."""
        self._require_open()
        require_tenant(tenant_id)
        await self._opened_vector()
        async with self._transaction(tenant_id) as cursor:
            await lock_for_purge(cursor, tenant_id)
            statement = sql.SQL("DELETE FROM {} WHERE tenant_id = %s").format(self._table.identifier)
            return (await cursor.run(statement, [tenant_id])).rowcount

    def _part(self, vector: VectorType) -> Part:
        columns = sql.SQL(
            "tenant_id uuid NOT NULL, embedding {vector}({dimension}) NOT NULL, entity_id uuid NOT NULL,"
            " metadata jsonb NOT NULL DEFAULT '{{}}', PRIMARY KEY (tenant_id, entity_id)"
        ).format(vector=vector.name, dimension=sql.Literal(self._dimension))
        return Part(self._table, columns)

    async def _upsert(
        self, cursor: Cursor, vector: VectorType, tenant_id: TenantId, records: Iterable[VectorRecord]
    ) -> None:
        """Write one tenant's records in the order of their ids: no two batches wait for each other."""
        rows = [(each.entity_id, vector_text(each.vector), json_text(each.metadata)) for each in records]
        columns = [list(column) for column in zip(*rows, strict=True)]
        statement = sql.SQL(_UPSERT).format(table=self._table.identifier, vector=vector.name)
        await cursor.run(statement, [tenant_id, *columns])
