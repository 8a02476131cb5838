"""The in-memory graph store. What entities mean, and how they are extracted, is not here."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from redstring_ref.domain.arguments import require_at_least, require_iterable, require_limit, require_strings
from redstring_ref.domain.errors import UnknownEntityError, got
from redstring_ref.domain.graph import Entity, Relationship
from redstring_ref.domain.ids import EntityId, RelationshipId, TenantId, require_tenant, require_uuid
from redstring_ref.domain.storable import require_text
from redstring_ref.memory.closing import Closable
from redstring_ref.memory.keyed_sets import KeyedSets

Value = TypeVar("Value", Entity, Relationship)


class InMemoryGraphStore(Closable):
    """A `GraphStore` in the memory of one process, for one event loop.

    No method awaits anything between its first and its last change, so each is one step for
    every other task.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tenants: dict[TenantId, _TenantGraph] = {}

    async def get_entity(self, entity_id: EntityId, tenant_id: TenantId) -> Entity | None:
        """Return the entity, or `None` if this tenant has none with this id. Spec: GRF-4."""
        self._require_open()
        require_tenant(tenant_id)
        found = self._of(tenant_id).read_entities([_require_entity_id(entity_id)])
        return found[0] if found else None

    async def get_entities(self, entity_ids: Iterable[EntityId], tenant_id: TenantId) -> list[Entity]:
        """Return those of `entity_ids` that exist, each once, by id. Spec: GRF-4."""
        self._require_open()
        require_tenant(tenant_id)
        ids = enumerate(require_iterable("entity_ids", entity_ids))
        checked = {EntityId(require_uuid(f"entity_ids[{at}]", each)) for at, each in ids}
        return self._of(tenant_id).read_entities(sorted(checked, key=str))

    async def find_entities(
        self,
        tenant_id: TenantId,
        *,
        name: str | None = None,
        entity_type: str | None = None,
        limit: int | None = None,
    ) -> list[Entity]:
        """Return the first `limit` entities, by id, with exactly this name and type. Spec: GRF-4."""
        self._require_open()
        require_tenant(tenant_id)
        exact_name = None if name is None else require_text("name", name)
        exact_type = None if entity_type is None else require_text("entity_type", entity_type)
        cutoff = None if limit is None else require_limit("limit", limit)

        def wanted(entity: Entity) -> bool:
            return exact_name in (None, entity.name) and exact_type in (None, entity.entity_type)

        return self._of(tenant_id).find_entities(wanted, cutoff)

    async def find_by_blocking_key(self, key: str, tenant_id: TenantId) -> list[Entity]:
        """Return the entities that have this blocking key, by id. Spec: GRF-4, ENT-1."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).find_by_blocking_keys([require_text("key", key)])

    async def find_by_blocking_keys(self, keys: Iterable[str], tenant_id: TenantId) -> list[Entity]:
        """Return the entities that have any of these keys, each once, by id. Spec: GRF-4, ENT-1."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).find_by_blocking_keys(require_strings("keys", keys))

    async def upsert_entity(self, entity: Entity) -> None:
        """Write one entity whole. Spec: GRF-2."""
        self._require_open()
        await self.upsert_entities([entity])

    async def upsert_entities(self, entities: Iterable[Entity]) -> None:
        """Write `entities`, of any tenants, all together; their edges stay. Spec: GRF-2."""
        self._require_open()
        for entity in list(_checked("entities", entities, Entity)):
            if entity.tenant_id not in self._tenants:
                self._tenants[entity.tenant_id] = _TenantGraph()
            self._tenants[entity.tenant_id].put_entity(entity)

    async def upsert_relationship(self, relationship: Relationship) -> None:
        """Write one edge whole. Spec: GRF-3."""
        self._require_open()
        await self.upsert_relationships([relationship])

    async def upsert_relationships(self, relationships: Iterable[Relationship]) -> None:
        """Write edges, of any tenants, all together, or none of them. Spec: GRF-3."""
        self._require_open()
        edges = []
        for edge in _checked("relationships", relationships, Relationship):
            self._of(edge.tenant_id).require_ends(edge)
            edges.append(edge)
        for edge in edges:
            self._tenants[edge.tenant_id].put_relationship(edge)

    async def get_relationships_by_entity(
        self, entity_id: EntityId, tenant_id: TenantId
    ) -> list[Relationship]:
        """Return the edges that start or end at the entity, each once, by id. Spec: GRF-4."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).relationships_at(_require_entity_id(entity_id))

    async def neighbors(self, entity_id: EntityId, tenant_id: TenantId, *, depth: int = 1) -> list[Entity]:
        """Return the entities within `depth` edges of this one, by distance, then id. Spec: GRF-4."""
        self._require_open()
        require_tenant(tenant_id)
        start = _require_entity_id(entity_id)
        return self._of(tenant_id).neighbors(start, require_at_least(0, "depth", depth))

    async def delete_entity(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        """Delete one entity and every edge at it; return how many entities there were. Spec: GRF-6."""
        self._require_open()
        require_tenant(tenant_id)
        tenant = self._of(tenant_id)
        removed = tenant.remove_entity(_require_entity_id(entity_id))
        if not tenant:
            self._tenants.pop(tenant_id, None)
        return removed

    async def delete_relationship(self, relationship_id: RelationshipId, tenant_id: TenantId) -> int:
        """Delete one edge; return how many there were, 0 or 1. Spec: GRF-6."""
        self._require_open()
        require_tenant(tenant_id)
        edge_id = RelationshipId(require_uuid("relationship_id", relationship_id))
        return self._of(tenant_id).remove_relationship(edge_id)

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete all that the tenant has; return how many entities there were. Spec: GRF-6."""
        self._require_open()
        gone = self._tenants.pop(require_tenant(tenant_id), None)
        return 0 if gone is None else len(gone)

    def _of(self, tenant_id: TenantId) -> "_TenantGraph":
        # A tenant that was only asked about leaves nothing behind.
        return self._tenants.get(tenant_id) or _TenantGraph()


class _TenantGraph:
    """The entities and edges of one tenant, and the indexes that every change keeps in step."""

    def __init__(self) -> None:
        self._entities: dict[EntityId, Entity] = {}
        self._relationships: dict[RelationshipId, Relationship] = {}
        self._by_blocking_key: KeyedSets[str, EntityId] = KeyedSets()
        self._edges_at: KeyedSets[EntityId, RelationshipId] = KeyedSets()

    def __len__(self) -> int:
        return len(self._entities)

    def put_entity(self, entity: Entity) -> None:
        """Take over `entity`, a copy that nobody else holds."""
        self._forget_entity(entity.id)
        self._entities[entity.id] = entity
        for key in entity.blocking_keys:
            self._by_blocking_key.add(key, entity.id)

    def remove_entity(self, entity_id: EntityId) -> int:
        for edge_id in self._edges_at.of(entity_id):
            self.remove_relationship(edge_id)
        return self._forget_entity(entity_id)

    def require_ends(self, edge: Relationship) -> None:
        for end in (edge.source_entity_id, edge.target_entity_id):
            if end not in self._entities:
                raise UnknownEntityError(end, edge.id)

    def put_relationship(self, edge: Relationship) -> None:
        """Take over `edge`, a copy that nobody else holds."""
        self.remove_relationship(edge.id)
        self._relationships[edge.id] = edge
        for end in (edge.source_entity_id, edge.target_entity_id):
            self._edges_at.add(end, edge.id)

    def remove_relationship(self, edge_id: RelationshipId) -> int:
        edge = self._relationships.pop(edge_id, None)
        if edge is None:
            return 0
        for end in (edge.source_entity_id, edge.target_entity_id):
            self._edges_at.discard(end, edge_id)
        return 1

    def read_entities(self, entity_ids: Iterable[EntityId]) -> list[Entity]:
        """Return copies of the entities that there are, in the order of `entity_ids`."""
        return [self._entities[each].copy() for each in entity_ids if each in self._entities]

    def find_entities(self, wanted: Callable[[Entity], bool], limit: int | None) -> list[Entity]:
        found = (each for each, entity in self._entities.items() if wanted(entity))
        return self.read_entities(sorted(found, key=str)[:limit])

    def find_by_blocking_keys(self, keys: Iterable[str]) -> list[Entity]:
        found = {each for key in keys for each in self._by_blocking_key.of(key)}
        return self.read_entities(sorted(found, key=str))

    def relationships_at(self, entity_id: EntityId) -> list[Relationship]:
        edge_ids = sorted(self._edges_at.of(entity_id), key=str)
        return [self._relationships[edge_id].copy() for edge_id in edge_ids]

    def neighbors(self, entity_id: EntityId, depth: int) -> list[Entity]:
        reached, nearest_first, frontier = {entity_id}, [], [entity_id]
        while frontier and depth > 0:
            ring = {end for each in frontier for end in self._ends_beside(each)} - reached
            frontier = sorted(ring, key=str)
            nearest_first += frontier
            reached |= ring
            depth -= 1
        return self.read_entities(nearest_first)

    def _ends_beside(self, entity_id: EntityId) -> Iterator[EntityId]:
        """Yield both ends of every edge at the entity, itself among them."""
        for edge_id in self._edges_at.of(entity_id):
            edge = self._relationships[edge_id]
            yield edge.source_entity_id
            yield edge.target_entity_id

    def _forget_entity(self, entity_id: EntityId) -> int:
        """Take an entity out, its edges left alone; it may be unknown. Return how many there were."""
        entity = self._entities.pop(entity_id, None)
        if entity is None:
            return 0
        for key in entity.blocking_keys:
            self._by_blocking_key.discard(key, entity_id)
        return 1


def _checked(field: str, values: Iterable[Value], kind: type[Value]) -> Iterator[Value]:
    """Yield checked, independent copies; the first bad element raises. Spec: PRT-2 to PRT-4."""
    for position, value in enumerate(require_iterable(field, values)):
        if not isinstance(value, kind):
            raise TypeError(f"{field}[{position}] must be of type {kind.__name__}, {got(value)}")
        yield value.copy()


def _require_entity_id(value: object) -> EntityId:
    return EntityId(require_uuid("entity_id", value))
