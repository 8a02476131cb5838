"""Ports of the entity vector store. The chunk's vector lives on the chunk, not here.

The rules of `redstring_ref.ports.chunks` for tenants, copies, rejected calls and iterables hold.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from redstring_ref.domain.ids import EntityId, TenantId
from redstring_ref.domain.vector_record import VectorMatch, VectorRecord
from redstring_ref.ports.closing import AsyncClosable, Dimensioned


@runtime_checkable
class VectorWriter(AsyncClosable, Dimensioned, Protocol):
    """Puts entity vectors in."""

    async def upsert(self, record: VectorRecord) -> None:
        """Write one record; it replaces the one of its tenant and entity whole.

        Raises as `upsert_many`.

        Spec: VST-1.
        """
        ...

    async def upsert_many(self, records: Iterable[VectorRecord]) -> None:
        """Write `records`, of any tenants, all together; the later of two for one entity wins.

        Raises `TypeError` for an element that is not a `VectorRecord`, what `VectorRecord`
        raises for one that was made invalid, and `DimensionMismatchError` for another width.

        Spec: VST-1.
        """
        ...


@runtime_checkable
class VectorReader(AsyncClosable, Dimensioned, Protocol):
    """Finds entities by their vector."""

    async def get(self, entity_id: EntityId, tenant_id: TenantId) -> VectorRecord | None:
        """Return the record, or `None` if this tenant has none for the entity.

        Raises `TypeError` for an id that is not a `UUID`.

        Spec: VST-1.
        """
        ...

    async def search(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        *,
        k: int = 10,
        entity_types: Iterable[str] | None = None,
        min_score: float | None = None,
    ) -> list[VectorMatch]:
        """Return the `k` best entities by exact cosine score.

        The order is score descending, then the entity id's canonical text ascending.
        `entity_types` keeps the records whose `metadata["entity_type"]` is one of them, and
        `[]` matches nothing; both it and the inclusive `min_score` come before `k`.

        Raises as `semantic_candidates` does, and `TypeError` for `entity_types` that is a
        string or holds anything else than strings.

        Spec: VST-2, ORD-1 to ORD-3.
        """
        ...


@runtime_checkable
class VectorPurge(AsyncClosable, Protocol):
    """Takes entity vectors out."""

    async def delete(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        """Delete one record; return how many there were, 0 or 1.

        Raises `TypeError` for an id that is not a `UUID`.

        Spec: VST-3.
        """
        ...

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every record of the tenant; return how many there were.

        Spec: VST-3.
        """
        ...


@runtime_checkable
class VectorStore(VectorWriter, VectorReader, VectorPurge, Protocol):
    """Everything that an entity vector store does."""
