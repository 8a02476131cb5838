"""The in-memory entity vector store."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from redstring_ref.domain.arguments import (
    require_dimension,
    require_limit,
    require_min_score,
    require_strings,
)
from redstring_ref.domain.ids import EntityId, TenantId, require_tenant, require_uuid
from redstring_ref.domain.storable import JsonObject, json_object
from redstring_ref.domain.vector_record import VectorMatch, VectorRecord, require_records
from redstring_ref.domain.vectors import as_vector, require_width
from redstring_ref.memory.closing import Closable
from redstring_ref.memory.vector_index import VectorIndex


class InMemoryVectorStore(Closable):
    """A `VectorStore` in the memory of one process, for one event loop.

    An invalid `dimension` is a `TypeError` or a `ValueError`.
    """

    def __init__(self, *, dimension: int) -> None:
        super().__init__()
        self._dimension = require_dimension(dimension)
        self._tenants: dict[TenantId, _TenantVectors] = {}

    @property
    def dimension(self) -> int:
        """The number of components of every vector."""
        return self._dimension

    async def upsert(self, record: VectorRecord) -> None:
        """Write one record whole. Spec: VST-1."""
        await self.upsert_many([record])

    async def upsert_many(self, records: Iterable[VectorRecord]) -> None:
        """Write `records`, of any tenants, all together. Spec: VST-1."""
        self._require_open()
        for record in require_records(records, self._dimension):
            if record.tenant_id not in self._tenants:
                self._tenants[record.tenant_id] = _TenantVectors(record.tenant_id, self._dimension)
            self._tenants[record.tenant_id].put(record)

    async def get(self, entity_id: EntityId, tenant_id: TenantId) -> VectorRecord | None:
        """Return the record, or `None` if this tenant has none for the entity. Spec: VST-1."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).get(str(require_uuid("entity_id", entity_id)))

    async def search(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        *,
        k: int = 10,
        entity_types: Iterable[str] | None = None,
        min_score: float | None = None,
    ) -> list[VectorMatch]:
        """Return the `k` best entities by exact cosine score. Spec: VST-2, ORD-1 to ORD-3."""
        self._require_open()
        require_tenant(tenant_id)
        query = as_vector(vector, "vector")
        require_width(self._dimension, query, "vector")
        cutoff = require_limit("k", k)
        types = None if entity_types is None else frozenset(require_strings("entity_types", entity_types))
        return self._of(tenant_id).search(query, cutoff, types, require_min_score(min_score))

    async def delete(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        """Delete one record; return how many there were, 0 or 1. Spec: VST-3."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).remove(str(require_uuid("entity_id", entity_id)))

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every record of the tenant; return how many there were. Spec: VST-3."""
        self._require_open()
        gone = self._tenants.pop(require_tenant(tenant_id), None)
        return 0 if gone is None else len(gone)

    def _of(self, tenant_id: TenantId) -> "_TenantVectors":
        # A tenant that was only asked about leaves nothing behind.
        return self._tenants.get(tenant_id) or _TenantVectors(tenant_id, self._dimension)


class _TenantVectors:
    """The records of one tenant, by canonical entity id: their metadata, and the index of their vectors."""

    def __init__(self, tenant_id: TenantId, dimension: int) -> None:
        self._tenant_id = tenant_id
        self._metadata: dict[str, JsonObject] = {}
        self._vectors: VectorIndex[str] = VectorIndex(dimension)

    def __len__(self) -> int:
        return len(self._metadata)

    def put(self, record: VectorRecord) -> None:
        """Take over `record`, a copy that nobody else holds."""
        key = str(record.entity_id)
        self._vectors.put(key, record.vector)
        self._metadata[key] = record.metadata

    def get(self, key: str) -> VectorRecord | None:
        vector = self._vectors.get(key)
        if vector is None:
            return None
        return VectorRecord(self._tenant_id, EntityId(UUID(key)), vector, self._metadata[key])

    def search(
        self, query: Sequence[float], k: int, entity_types: frozenset[str] | None, min_score: float | None
    ) -> list[VectorMatch]:
        among = None
        if entity_types is not None:
            # A set has no place for an unhashable value, and no string equals a number.
            types = {key: metadata.get("entity_type") for key, metadata in self._metadata.items()}
            among = [key for key, value in types.items() if isinstance(value, str) and value in entity_types]
        return [
            VectorMatch(EntityId(UUID(key)), score, json_object("metadata", self._metadata[key]))
            for key, score in self._vectors.nearest(query, k, min_score, among)
        ]

    def remove(self, key: str) -> int:
        self._vectors.discard(key)
        return 0 if self._metadata.pop(key, None) is None else 1
