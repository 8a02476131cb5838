"""The in-memory graph store: entities, edges, traversal, deletes."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    Entity,
    EntityId,
    JsonObject,
    Relationship,
    RelationshipId,
    TenantId,
    UnknownEntityError,
)
from redstring_ref.memory.graph_store import InMemoryGraphStore
from tests.support import OTHER_TENANT, TENANT

# Written in this order; by id they are ordered 0a, 3e, 5b, 9c, c4, f1.
PREFIXES = ["9c", "f1", "0a", "3e", "5b", "c4"]
IDS = [EntityId(UUID(f"{prefix}000000-0000-4000-8000-00000000000b")) for prefix in PREFIXES]
EDGE_IDS = [RelationshipId(UUID(f"{prefix}000000-0000-4000-8000-00000000000c")) for prefix in PREFIXES]
UNKNOWN = EntityId(UUID("77000000-0000-4000-8000-00000000000d"))
ELSEWHERE = EntityId(UUID("11000000-0000-4000-8000-00000000000e"))


def entity(
    at: int,
    name: str = "Ada",
    *,
    entity_type: str = "person",
    aliases: Sequence[str] = (),
    metadata: JsonObject | None = None,
    tenant_id: TenantId = TENANT,
) -> Entity:
    """Return an entity with the id `IDS[at]`."""
    return Entity(tenant_id, IDS[at], name, entity_type, list(aliases), "", metadata or {})


def edge(
    at: int, source: int, target: int, *, kind: str = "knows", tenant_id: TenantId = TENANT
) -> Relationship:
    """Return an edge with the id `EDGE_IDS[at]` from `IDS[source]` to `IDS[target]`."""
    return Relationship(tenant_id, EDGE_IDS[at], IDS[source], IDS[target], kind)


def prefixes(values: Iterable[Entity | Relationship]) -> list[str]:
    """Return the first two digits of each id, which tell them apart."""
    return [str(value.id)[:2] for value in values]


@pytest.fixture
async def store() -> AsyncIterator[InMemoryGraphStore]:
    """Yield a store with six entities and no edge."""
    async with InMemoryGraphStore() as store:
        await store.upsert_entities(entity(at) for at in range(6))
        yield store


@pytest.mark.parametrize("ids", [IDS, EDGE_IDS])
def test_the_orders_that_a_store_might_confuse_all_differ(ids: list[UUID]) -> None:
    written, hashed, canonical = ids, list(set(ids)), sorted(ids, key=str)
    assert written not in (hashed, canonical, canonical[::-1])
    assert hashed not in (canonical, canonical[::-1])


async def test_get_entity_returns_the_entity_or_none(store: InMemoryGraphStore) -> None:
    given = entity(0, "Ada", aliases=["Countess"], metadata={"born": [1815]})
    await store.upsert_entity(given)
    assert await store.get_entity(IDS[0], TENANT) == given
    assert await store.get_entity(UNKNOWN, TENANT) is None
    assert await store.get_entity(IDS[0], OTHER_TENANT) is None


async def test_get_entities_returns_each_once_by_id(store: InMemoryGraphStore) -> None:
    wanted = [IDS[0], IDS[1], UNKNOWN, IDS[2], IDS[0], IDS[3], IDS[2]]
    assert prefixes(await store.get_entities(iter(wanted), TENANT)) == ["0a", "3e", "9c", "f1"]
    assert await store.get_entities([], TENANT) == []
    assert await store.get_entities([UNKNOWN], TENANT) == []
    assert await store.get_entities(wanted, OTHER_TENANT) == []


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, ["0a", "3e", "5b", "9c"]),
        ({"name": None, "entity_type": None, "limit": None}, ["0a", "3e", "5b", "9c"]),
        ({"name": "Ada"}, ["0a", "3e", "9c"]),
        ({"entity_type": "place"}, ["3e", "5b"]),
        ({"name": "Ada", "entity_type": "place"}, ["3e"]),
        ({"name": "Ada", "entity_type": "topic"}, []),
        ({"name": "ada"}, []),
        ({"name": "Countess"}, []),
        ({"name": ""}, []),
        ({"entity_type": ""}, []),
        ({"limit": 0}, []),
        ({"limit": 3}, ["0a", "3e", "5b"]),
        ({"name": "Ada", "limit": numpy.int64(2)}, ["0a", "3e"]),
        ({"entity_type": "place", "limit": 10**30}, ["3e", "5b"]),
    ],
)
async def test_find_entities_filters_then_orders_by_id_then_cuts(
    options: dict[str, Any], found: list[str]
) -> None:
    store = InMemoryGraphStore()
    await store.upsert_entities(
        [
            entity(0),
            entity(2, aliases=["Countess"]),
            entity(3, entity_type="place"),
            entity(4, "Rome", entity_type="place"),
        ]
    )
    assert prefixes(await store.find_entities(TENANT, **options)) == found
    assert await store.find_entities(OTHER_TENANT, **options) == []


async def test_entities_are_found_once_by_the_blocking_keys_of_all_their_names() -> None:
    store = InMemoryGraphStore()
    await store.upsert_entities(
        [
            entity(0, "Acme Corp"),
            entity(1, "Acne"),
            entity(2, "IBM", aliases=["Acme"]),
            entity(3, "Corporate"),
        ]
    )
    assert prefixes(await store.find_by_blocking_key("acme", TENANT)) == ["0a", "9c"]
    assert prefixes(await store.find_by_blocking_key("corp", TENANT)) == ["3e", "9c"]
    for absent in ("", "acm", "Acme", "acmec"):
        assert await store.find_by_blocking_key(absent, TENANT) == []
    assert await store.find_by_blocking_key("acme", OTHER_TENANT) == []
    found = await store.find_by_blocking_keys(iter(["corp", "acme", "none", "acme"]), TENANT)
    assert prefixes(found) == ["0a", "3e", "9c"]
    assert await store.find_by_blocking_keys([], TENANT) == []
    assert await store.find_by_blocking_keys(["acme"], OTHER_TENANT) == []


async def test_an_upsert_replaces_the_entity_and_its_blocking_keys_whole(store: InMemoryGraphStore) -> None:
    await store.upsert_entity(entity(0, "Acme Corp", aliases=["Trust"], metadata={"old": True}))
    await store.upsert_entity(entity(0, "Corporate", entity_type="place"))
    assert await store.get_entity(IDS[0], TENANT) == entity(0, "Corporate", entity_type="place")
    assert await store.find_by_blocking_keys(["acme", "trus"], TENANT) == []
    assert prefixes(await store.find_by_blocking_key("corp", TENANT)) == ["9c"]


async def test_the_later_of_two_with_one_id_wins(store: InMemoryGraphStore) -> None:
    await store.upsert_entities([entity(0, "First"), entity(1), entity(0, "Second")])
    assert (await store.get_entities([IDS[0]], TENANT))[0].name == "Second"
    assert await store.find_by_blocking_key("firs", TENANT) == []
    await store.upsert_relationships([edge(0, 0, 1), edge(0, 2, 3, kind="met")])
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == []
    assert await store.get_relationships_by_entity(IDS[2], TENANT) == [edge(0, 2, 3, kind="met")]


async def test_an_upsert_of_an_entity_keeps_its_edges(store: InMemoryGraphStore) -> None:
    await store.upsert_relationships([edge(0, 0, 1), edge(1, 0, 0)])
    await store.upsert_entities([entity(0, "Other"), entity(1, "Another")])
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == [edge(0, 0, 1), edge(1, 0, 0)]
    assert [found.name for found in await store.neighbors(IDS[0], TENANT)] == ["Another"]


async def test_edges_of_an_entity_come_back_once_by_id_whichever_end_it_is(store: InMemoryGraphStore) -> None:
    # Parallel edges, one back, one from the entity to itself, one elsewhere.
    edges = [edge(0, 0, 1), edge(1, 0, 1), edge(2, 1, 0), edge(3, 0, 0), edge(4, 2, 1)]
    await store.upsert_relationships(iter(edges))
    assert prefixes(await store.get_relationships_by_entity(IDS[0], TENANT)) == ["0a", "3e", "9c", "f1"]
    assert prefixes(await store.get_relationships_by_entity(IDS[1], TENANT)) == ["0a", "5b", "9c", "f1"]
    assert await store.get_relationships_by_entity(IDS[2], TENANT) == [edge(4, 2, 1)]
    assert await store.get_relationships_by_entity(IDS[3], TENANT) == []
    assert await store.get_relationships_by_entity(UNKNOWN, TENANT) == []
    assert await store.get_relationships_by_entity(IDS[0], OTHER_TENANT) == []


async def test_an_edge_whose_ends_change_leaves_its_old_ends(store: InMemoryGraphStore) -> None:
    await store.upsert_relationship(edge(0, 0, 1))
    for source, target in ((1, 2), (2, 2), (3, 2), (3, 4)):
        await store.upsert_relationship(edge(0, source, target))
        for at in range(6):
            expected = [edge(0, source, target)] if at in (source, target) else []
            assert await store.get_relationships_by_entity(IDS[at], TENANT) == expected
    assert prefixes(await store.neighbors(IDS[3], TENANT)) == ["5b"]
    assert await store.neighbors(IDS[0], TENANT, depth=9) == []


@pytest.mark.parametrize(
    ("source", "target", "first"),
    [
        (IDS[0], UNKNOWN, UNKNOWN),
        (UNKNOWN, IDS[0], UNKNOWN),
        (UNKNOWN, ELSEWHERE, UNKNOWN),
        (ELSEWHERE, UNKNOWN, ELSEWHERE),
    ],
)
async def test_a_dangling_edge_names_its_first_missing_end_and_nothing_is_written(
    store: InMemoryGraphStore, source: EntityId, target: EntityId, first: EntityId
) -> None:
    dangling = Relationship(TENANT, EDGE_IDS[1], source, target, "knows")
    with pytest.raises(UnknownEntityError) as raised:
        await store.upsert_relationships([edge(0, 0, 1), dangling, edge(2, 0, 1)])
    assert (raised.value.entity_id, raised.value.relationship_id) == (first, EDGE_IDS[1])
    with pytest.raises(UnknownEntityError):
        await store.upsert_relationship(dangling)
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == []


async def test_an_entity_of_another_tenant_is_no_end_of_an_edge(store: InMemoryGraphStore) -> None:
    with pytest.raises(UnknownEntityError, match=f"unknown entity {IDS[0]}"):
        await store.upsert_relationship(edge(0, 0, 1, tenant_id=OTHER_TENANT))
    await store.upsert_entity(entity(0, tenant_id=OTHER_TENANT))
    with pytest.raises(UnknownEntityError, match=f"unknown entity {IDS[1]}"):
        await store.upsert_relationship(edge(0, 0, 1, tenant_id=OTHER_TENANT))


async def test_neighbors_are_ordered_by_distance_then_id(store: InMemoryGraphStore) -> None:
    # 9c is two edges from 5b along one path, three along another; edges point both ways.
    await store.upsert_relationships(
        [edge(0, 4, 1), edge(1, 3, 4), edge(2, 1, 0), edge(3, 3, 2), edge(4, 2, 0), edge(5, 0, 5)]
    )
    assert prefixes(await store.neighbors(IDS[4], TENANT)) == ["3e", "f1"]
    assert prefixes(await store.neighbors(IDS[4], TENANT, depth=2)) == ["3e", "f1", "0a", "9c"]
    for depth in (3, numpy.int64(3), 4, 10**30):
        found = await store.neighbors(IDS[4], TENANT, depth=depth)  # type: ignore[arg-type]
        assert prefixes(found) == ["3e", "f1", "0a", "9c", "c4"]
    assert prefixes(await store.neighbors(IDS[5], TENANT, depth=3)) == ["9c", "0a", "f1", "3e", "5b"]


async def test_an_entity_is_never_its_own_neighbour(store: InMemoryGraphStore) -> None:
    await store.upsert_relationships(
        [edge(0, 0, 0), edge(1, 0, 1), edge(2, 1, 2), edge(3, 2, 0), edge(4, 0, 1)]
    )
    assert prefixes(await store.neighbors(IDS[0], TENANT)) == ["0a", "f1"]
    assert prefixes(await store.neighbors(IDS[0], TENANT, depth=10**30)) == ["0a", "f1"]
    await store.upsert_relationship(edge(5, 3, 3))
    assert await store.neighbors(IDS[3], TENANT, depth=7) == []


async def test_nothing_is_near_at_depth_zero_or_near_an_unknown_entity(store: InMemoryGraphStore) -> None:
    await store.upsert_relationship(edge(0, 0, 1))
    assert await store.neighbors(IDS[0], TENANT, depth=0) == []
    assert await store.neighbors(UNKNOWN, TENANT, depth=3) == []
    assert await store.neighbors(IDS[0], OTHER_TENANT, depth=3) == []


async def test_deleting_an_entity_deletes_every_edge_at_it(store: InMemoryGraphStore) -> None:
    await store.upsert_relationships([edge(0, 0, 1), edge(1, 1, 0), edge(2, 0, 0), edge(3, 1, 2)])
    assert await store.delete_entity(IDS[0], TENANT) == 1
    assert await store.delete_entity(IDS[0], TENANT) == 0
    assert await store.get_entity(IDS[0], TENANT) is None
    assert prefixes(await store.find_by_blocking_key("ada", TENANT)) == ["0a", "3e", "5b", "c4", "f1"]
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == []
    assert await store.get_relationships_by_entity(IDS[1], TENANT) == [edge(3, 1, 2)]
    assert prefixes(await store.neighbors(IDS[1], TENANT, depth=5)) == ["0a"]
    with pytest.raises(UnknownEntityError):
        await store.upsert_relationship(edge(0, 0, 1))
    await store.upsert_entity(entity(0))
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == []


async def test_deletes_return_how_many_there_were(store: InMemoryGraphStore) -> None:
    await store.upsert_relationships([edge(0, 0, 1), edge(1, 1, 1)])
    assert await store.delete_relationship(EDGE_IDS[0], OTHER_TENANT) == 0
    assert await store.delete_relationship(EDGE_IDS[0], TENANT) == 1
    assert await store.delete_relationship(EDGE_IDS[0], TENANT) == 0
    assert await store.get_relationships_by_entity(IDS[1], TENANT) == [edge(1, 1, 1)]
    assert await store.neighbors(IDS[0], TENANT) == []
    assert await store.delete_entity(IDS[2], OTHER_TENANT) == 0
    assert await store.delete_entity(UNKNOWN, TENANT) == 0
    assert await store.delete_entity(IDS[2], TENANT) == 1
    assert await store.delete_by_tenant(OTHER_TENANT) == 0
    assert await store.delete_by_tenant(TENANT) == 5
    assert await store.delete_by_tenant(TENANT) == 0
    assert await store.find_entities(TENANT) == []
    assert await store.get_relationships_by_entity(IDS[1], TENANT) == []


@pytest.mark.parametrize("field", ["entities", "relationships"])
async def test_an_element_of_another_type_is_refused_by_position(
    store: InMemoryGraphStore, field: str
) -> None:
    upsert: Any = getattr(store, f"upsert_{field}")
    good, kind = (entity(0, "New"), "Entity") if field == "entities" else (edge(0, 0, 1), "Relationship")
    bad: Any
    for bad in (None, {"name": "Ada"}, IDS[0], edge(0, 0, 1) if field == "entities" else entity(0)):
        with pytest.raises(TypeError, match=rf"^{field}\[1\] must be of type {kind}, got "):
            await upsert([good, bad, good])
    with pytest.raises(TypeError):
        await upsert(good)
    assert await store.find_entities(TENANT, name="New") == []
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == []
