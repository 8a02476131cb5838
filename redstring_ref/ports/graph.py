"""Ports of the graph store. What entities mean, and how they are extracted, is not here.

The rules of `redstring_ref.ports.chunks` for tenants, copies, rejected calls and iterables hold.
Ids that are not a `UUID` are a `TypeError`. Ids are ordered by their canonical text.
"""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from redstring_ref.domain.graph import Entity, Relationship
from redstring_ref.domain.ids import EntityId, RelationshipId, TenantId
from redstring_ref.ports.closing import AsyncClosable


@runtime_checkable
class EntityReader(AsyncClosable, Protocol):
    """Reads entities back."""

    async def get_entity(self, entity_id: EntityId, tenant_id: TenantId) -> Entity | None:
        """Return the entity, or `None` if this tenant has none with this id.

        Spec: GRF-4.
        """
        ...

    async def get_entities(self, entity_ids: Iterable[EntityId], tenant_id: TenantId) -> list[Entity]:
        """Return those of `entity_ids` that exist, each once, by id.

        Spec: GRF-4.
        """
        ...

    async def find_entities(
        self,
        tenant_id: TenantId,
        *,
        name: str | None = None,
        entity_type: str | None = None,
        limit: int | None = None,
    ) -> list[Entity]:
        """Return the first `limit` entities, by id, with exactly this name and type; `None` is any.

        Raises `TypeError` or `ValueError` for a name or type that is not storable text, and for
        a bad `limit`.

        Spec: GRF-4.
        """
        ...

    async def find_by_blocking_key(self, key: str, tenant_id: TenantId) -> list[Entity]:
        """Return the entities that have this blocking key, by id.

        Raises `TypeError` or `ValueError` for a key that is not storable text.

        Spec: GRF-4, ENT-1.
        """
        ...

    async def find_by_blocking_keys(self, keys: Iterable[str], tenant_id: TenantId) -> list[Entity]:
        """Return the entities that have any of these blocking keys, each once, by id.

        Raises `TypeError` for `keys` that is a string, and as `find_by_blocking_key`.

        Spec: GRF-4, ENT-1.
        """
        ...


@runtime_checkable
class EntityWriter(AsyncClosable, Protocol):
    """Puts entities in."""

    async def upsert_entity(self, entity: Entity) -> None:
        """Write one entity; it replaces the one with its tenant and id whole.

        Raises as `upsert_entities`.

        Spec: GRF-2.
        """
        ...

    async def upsert_entities(self, entities: Iterable[Entity]) -> None:
        """Write `entities`, of any tenants, all together; the later of two with one id wins.

        Raises `TypeError` for an element that is not an `Entity`, and what `Entity` raises for
        one that was made invalid.

        Spec: GRF-2.
        """
        ...


@runtime_checkable
class RelationshipStore(AsyncClosable, Protocol):
    """Keeps the edges and walks them."""

    async def upsert_relationship(self, relationship: Relationship) -> None:
        """Write one edge; it replaces the one with its tenant and id whole.

        Raises as `upsert_relationships`.

        Spec: GRF-3.
        """
        ...

    async def upsert_relationships(self, relationships: Iterable[Relationship]) -> None:
        """Write edges, of any tenants, all together; the later of two with one id wins.

        Raises `UnknownEntityError` for an edge with an end that its tenant does not hold,
        `TypeError` for an element that is not a `Relationship`, and what `Relationship` raises
        for one that was made invalid.

        Spec: GRF-3.
        """
        ...

    async def get_relationships_by_entity(
        self, entity_id: EntityId, tenant_id: TenantId
    ) -> list[Relationship]:
        """Return the edges that start or end at the entity, each once, by id.

        Spec: GRF-4.
        """
        ...

    async def neighbors(self, entity_id: EntityId, tenant_id: TenantId, *, depth: int = 1) -> list[Entity]:
        """Return the entities within `depth` edges of this one, against or along them.

        The order is distance, then id; the entity itself is never among them. Cycles and
        self-loops end. Depth 0 and an unknown entity have no neighbours.

        Raises `TypeError` for a bool or non-integer `depth`, `ValueError` for a negative one.

        Spec: GRF-4.
        """
        ...


@runtime_checkable
class GraphPurge(AsyncClosable, Protocol):
    """Takes entities and edges out."""

    async def delete_entity(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        """Delete one entity and every edge at it; return how many entities there were, 0 or 1.

        Spec: GRF-6.
        """
        ...

    async def delete_relationship(self, relationship_id: RelationshipId, tenant_id: TenantId) -> int:
        """Delete one edge; return how many there were, 0 or 1.

        Spec: GRF-6.
        """
        ...

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every entity and edge of the tenant; return how many entities there were.

        Spec: GRF-6.
        """
        ...


@runtime_checkable
class GraphEditor(EntityReader, EntityWriter, RelationshipStore, Protocol):
    """Everything that building a graph needs."""


@runtime_checkable
class GraphStore(GraphEditor, GraphPurge, Protocol):
    """Everything that a graph store does."""
