"""The graph store against a slow model: lists, scans, and no index. What it pins is in its neighbours."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import Entity, EntityId, Relationship, RelationshipId, TenantId, UnknownEntityError
from redstring_ref.memory.graph_store import InMemoryGraphStore
from tests.memory.test_graph_store import EDGE_IDS, IDS
from tests.support import OTHER_TENANT, TENANT

NAMES = ["Acme", "Acme Corp", "Bob", "the", "?"]
KEYS = ["acme", "corp", "bob", "the"]
KINDS = ["person", "place"]


class SlowGraph:
    """What a graph store does, each method a scan over everything."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.edges: list[Relationship] = []

    def get(self, entity_id: EntityId, tenant_id: TenantId) -> list[Entity]:
        return [each for each in self.all(tenant_id) if each.id == entity_id]

    def all(self, tenant_id: TenantId) -> list[Entity]:
        found = [each for each in self.entities if each.tenant_id == tenant_id]
        return sorted(found, key=lambda each: str(each.id))

    def edges_at(self, entity_id: EntityId, tenant_id: TenantId) -> list[Relationship]:
        found = [
            each
            for each in self.edges
            if each.tenant_id == tenant_id and entity_id in (each.source_entity_id, each.target_entity_id)
        ]
        return sorted(found, key=lambda each: str(each.id))

    def put_entities(self, entities: list[Entity]) -> None:
        for entity in entities:
            kept = [
                each for each in self.entities if (each.tenant_id, each.id) != (entity.tenant_id, entity.id)
            ]
            self.entities = [*kept, entity]

    def put_edges(self, edges: list[Relationship]) -> None:
        for edge in edges:
            for end in (edge.source_entity_id, edge.target_entity_id):
                if not self.get(end, edge.tenant_id):
                    raise UnknownEntityError(end, edge.id)
        for edge in edges:
            self.delete_edge(edge.id, edge.tenant_id)
            self.edges.append(edge)

    def delete_entity(self, entity_id: EntityId, tenant_id: TenantId) -> int:
        gone, doomed = self.get(entity_id, tenant_id), self.edges_at(entity_id, tenant_id)
        self.entities = [each for each in self.entities if each not in gone]
        self.edges = [each for each in self.edges if each not in doomed]
        return len(gone)

    def delete_edge(self, edge_id: RelationshipId, tenant_id: TenantId) -> int:
        kept = [each for each in self.edges if (each.tenant_id, each.id) != (tenant_id, edge_id)]
        gone = len(self.edges) - len(kept)
        self.edges = kept
        return gone

    def delete_tenant(self, tenant_id: TenantId) -> int:
        gone = len(self.all(tenant_id))
        self.entities = [each for each in self.entities if each.tenant_id != tenant_id]
        self.edges = [each for each in self.edges if each.tenant_id != tenant_id]
        return gone

    def distance(self, start: EntityId, end: EntityId, tenant_id: TenantId, at_most: int) -> int | None:
        """Return the length of the shortest path of at most `at_most` edges."""
        if start == end:
            return 0
        if at_most == 0:
            return None
        ends = {
            beside
            for each in self.edges_at(start, tenant_id)
            for beside in (each.source_entity_id, each.target_entity_id)
        }
        paths = [self.distance(beside, end, tenant_id, at_most - 1) for beside in ends - {start}]
        return min((path + 1 for path in paths if path is not None), default=None)

    def neighbors(self, entity_id: EntityId, tenant_id: TenantId, depth: int) -> list[Entity]:
        distances = [
            (self.distance(entity_id, each.id, tenant_id, depth), each) for each in self.all(tenant_id)
        ]
        found = [(distance, str(each.id), each) for distance, each in distances if distance]
        return [each for _, _, each in sorted(found, key=lambda row: row[:2])]


ids = st.sampled_from(IDS[:4])
edge_ids = st.sampled_from(EDGE_IDS[:4])
tenants = st.sampled_from([TENANT, TENANT, OTHER_TENANT])
names = st.sampled_from(NAMES)
entities = st.builds(Entity, tenants, ids, names, st.sampled_from(KINDS), st.lists(names, max_size=2))
edges = st.builds(Relationship, tenants, edge_ids, ids, ids, st.sampled_from(["knows", "met"]))
steps = st.one_of(
    st.tuples(st.just("put_entities"), st.lists(entities, max_size=5)),
    st.tuples(st.just("put_edges"), st.lists(edges, max_size=3)),
    st.tuples(st.just("put_edges"), st.lists(edges, min_size=1, max_size=1)),
    st.tuples(st.just("delete_entity"), ids, tenants),
    st.tuples(st.just("delete_edge"), edge_ids, tenants),
    st.tuples(st.just("delete_tenant"), tenants),
)
METHODS = {
    "put_entities": InMemoryGraphStore.upsert_entities,
    "put_edges": InMemoryGraphStore.upsert_relationships,
    "delete_entity": InMemoryGraphStore.delete_entity,
    "delete_edge": InMemoryGraphStore.delete_relationship,
    "delete_tenant": InMemoryGraphStore.delete_by_tenant,
}


async def take(step: tuple[Any, ...], store: InMemoryGraphStore, slow: SlowGraph) -> None:
    """Take one step in both, and hold their answers, or errors, against each other."""
    name, *arguments = step
    method: Any = METHODS[name]
    try:
        expected = getattr(slow, name)(*arguments)
    except UnknownEntityError as error:
        with pytest.raises(UnknownEntityError, match=str(error)):
            await method(store, *arguments)
    else:
        assert await method(store, *arguments) == expected


async def compare(store: InMemoryGraphStore, slow: SlowGraph, tenant_id: TenantId) -> None:
    """Hold every read of one tenant against the model's."""
    everything = slow.all(tenant_id)
    assert await store.find_entities(tenant_id) == everything
    assert await store.get_entities(IDS, tenant_id) == everything
    for kind in KINDS:
        of_kind = [each for each in everything if each.entity_type == kind and each.name == NAMES[0]]
        assert await store.find_entities(tenant_id, name=NAMES[0], entity_type=kind, limit=1) == of_kind[:1]
    for key in KEYS:
        keyed = [each for each in everything if key in each.blocking_keys]
        assert await store.find_by_blocking_key(key, tenant_id) == keyed
    keyed = [each for each in everything if each.blocking_keys & {"acme", "bob"}]
    assert await store.find_by_blocking_keys(["acme", "bob"], tenant_id) == keyed
    for entity_id in IDS[:4]:
        assert await store.get_entity(entity_id, tenant_id) == next(
            iter(slow.get(entity_id, tenant_id)), None
        )
        assert await store.get_relationships_by_entity(entity_id, tenant_id) == slow.edges_at(
            entity_id, tenant_id
        )
        for depth in range(5):
            expected = slow.neighbors(entity_id, tenant_id, depth)
            assert await store.neighbors(entity_id, tenant_id, depth=depth) == expected


@pytest.mark.drawn
@given(st.lists(steps, max_size=12))
async def test_any_sequence_of_writes_reads_as_in_the_slow_model(sequence: list[tuple[Any, ...]]) -> None:
    store, slow = InMemoryGraphStore(), SlowGraph()
    # Without entities to begin with, few edges would have ends.
    full = [Entity(TENANT, each, "Acme", "person") for each in IDS[:4]]
    ring = [Relationship(TENANT, EDGE_IDS[at], IDS[at], IDS[at - 1], "knows") for at in range(4)]
    for step in [("put_entities", full), ("put_edges", ring), *sequence]:
        await take(step, store, slow)
    for tenant_id in (TENANT, OTHER_TENANT):
        await compare(store, slow, tenant_id)
    assert set(store._tenants) == {each.tenant_id for each in slow.entities}


async def test_the_slow_model_knows_distances() -> None:
    slow = SlowGraph()
    slow.put_entities([Entity(TENANT, each, "Acme", "person") for each in IDS[:4]])
    slow.put_edges([Relationship(TENANT, EDGE_IDS[at], IDS[at], IDS[at + 1], "knows") for at in range(3)])
    assert [slow.distance(IDS[0], each, TENANT, 3) for each in IDS[:4]] == [0, 1, 2, 3]
    assert slow.distance(IDS[3], IDS[0], TENANT, 2) is None
