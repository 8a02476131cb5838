"""The rules that every method of the graph store keeps: refusals, copies, tenants, no garbage."""

import inspect
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from uuid import UUID

import pytest

from redstring_ref.domain import (
    Entity,
    EntityId,
    Relationship,
    RelationshipId,
    StoreClosedError,
    TenantId,
    UnknownEntityError,
)
from redstring_ref.memory.graph_store import InMemoryGraphStore
from redstring_ref.ports import GraphStore
from tests.memory.test_graph_store import EDGE_IDS, IDS, UNKNOWN, edge, entity
from tests.support import OTHER_TENANT, TENANT

NO_UUIDS: list[Any] = [None, str(IDS[0]), IDS[0].int, b"", True]
METHODS = sorted(
    name
    for name, _ in inspect.getmembers(GraphStore, inspect.iscoroutinefunction)
    if not name.startswith("_") and name != "close"
)
SCOPED = [name for name in METHODS if not name.startswith("upsert")]


@pytest.fixture
async def store() -> InMemoryGraphStore:
    """Return a store with six entities, four edges, and twins of some in another tenant."""
    store = InMemoryGraphStore()
    for tenant_id in (TENANT, OTHER_TENANT):
        await store.upsert_entities(entity(at, tenant_id=tenant_id) for at in range(6))
    await store.upsert_relationships([edge(0, 0, 1), edge(1, 1, 2), edge(2, 2, 2), edge(3, 3, 1)])
    await store.upsert_relationship(edge(0, 4, 5, tenant_id=OTHER_TENANT))
    return store


def contents(store: InMemoryGraphStore) -> dict[TenantId, dict[str, object]]:
    """Return all that a store holds, its indexes too."""
    return {tenant_id: vars(tenant) for tenant_id, tenant in store._tenants.items()}


def test_the_introspection_finds_the_methods() -> None:
    assert len(METHODS) == 14
    assert len(SCOPED) == 10
    assert isinstance(InMemoryGraphStore(), GraphStore)


@pytest.mark.parametrize("name", METHODS)
async def test_a_closed_store_refuses_each_method_before_its_arguments(
    store: InMemoryGraphStore, name: str
) -> None:
    await store.close()
    await store.close()
    method = getattr(store, name)
    parameters = inspect.signature(method).parameters.values()
    required = [each for each in parameters if each.default is inspect.Parameter.empty]
    with pytest.raises(StoreClosedError, match="InMemoryGraphStore is closed"):
        await method(*["bad"] * len(required))


@pytest.mark.parametrize("name", SCOPED)
@pytest.mark.parametrize("bad", NO_UUIDS)
async def test_each_method_judges_the_tenant_before_its_other_arguments(
    store: InMemoryGraphStore, name: str, bad: Any
) -> None:
    method = getattr(store, name)
    arguments = {
        each.name: bad if each.name == "tenant_id" else object()
        for each in inspect.signature(method).parameters.values()
    }
    with pytest.raises(TypeError, match=r"^tenant_id must be a UUID"):
        await method(**arguments)


async def test_arguments_are_judged_in_the_order_of_the_signature(store: InMemoryGraphStore) -> None:
    bad: Any = 1.5
    with pytest.raises(TypeError, match=r"^entity_id "):
        await store.neighbors(bad, TENANT, depth=bad)
    with pytest.raises(TypeError, match=r"^name "):
        await store.find_entities(TENANT, limit=bad, entity_type=bad, name=bad)
    with pytest.raises(TypeError, match=r"^entity_type "):
        await store.find_entities(TENANT, limit=bad, entity_type=bad, name="Ada")


async def test_what_cannot_be_iterated_over_is_refused_by_its_name(store: InMemoryGraphStore) -> None:
    missing: Any = None
    with pytest.raises(TypeError, match=r"^entity_ids must be an iterable, got None"):
        await store.get_entities(missing, TENANT)
    with pytest.raises(TypeError, match=r"^entities must be an iterable, got None"):
        await store.upsert_entities(missing)
    with pytest.raises(TypeError, match=r"^relationships must be an iterable, got None"):
        await store.upsert_relationships(missing)


async def test_the_first_bad_element_of_a_batch_is_the_one_that_is_named(store: InMemoryGraphStore) -> None:
    dangling, bad = edge(0, 0, 1), edge(1, 0, 1)
    dangling.target_entity_id = UNKNOWN
    bad.relationship_type = " "
    with pytest.raises(UnknownEntityError):
        await store.upsert_relationships([dangling, bad])
    with pytest.raises(ValueError, match=r"^relationship_type must not be blank"):
        await store.upsert_relationships([bad, dangling])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"name": 1}, TypeError),
        ({"name": "a\x00"}, ValueError),
        ({"entity_type": ["person"]}, TypeError),
        ({"entity_type": "\ud800"}, ValueError),
        ({"limit": -1}, ValueError),
        ({"limit": True}, TypeError),
        ({"limit": 1.0}, TypeError),
    ],
)
async def test_find_entities_refuses_bad_filters_by_name(
    store: InMemoryGraphStore, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{next(iter(options))} "):
        await store.find_entities(TENANT, **options)


async def test_bad_blocking_keys_are_refused(store: InMemoryGraphStore) -> None:
    bad: Any
    for bad, error in ((None, TypeError), (b"ada", TypeError), ("\x00", ValueError)):
        with pytest.raises(error, match=r"^key "):
            await store.find_by_blocking_key(bad, TENANT)
        with pytest.raises(error, match=r"^keys\[1\] "):
            await store.find_by_blocking_keys(["ada", bad], TENANT)
    for bad in ("ada", None, 1):
        with pytest.raises(TypeError, match=r"^keys must be an iterable of str"):
            await store.find_by_blocking_keys(bad, TENANT)


@pytest.mark.parametrize(
    ("depth", "error"),
    [(-1, ValueError), (True, TypeError), (1.0, TypeError), ("1", TypeError), (None, TypeError)],
)
async def test_a_bad_depth_is_refused(store: InMemoryGraphStore, depth: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^depth must be"):
        await store.neighbors(UNKNOWN, TENANT, depth=depth)


@pytest.mark.parametrize("bad", NO_UUIDS)
async def test_ids_that_are_not_uuids_are_refused_by_name(store: InMemoryGraphStore, bad: Any) -> None:
    for method in (store.get_entity, store.get_relationships_by_entity, store.neighbors, store.delete_entity):
        with pytest.raises(TypeError, match=r"^entity_id must be a UUID"):
            await method(bad, TENANT)
    with pytest.raises(TypeError, match=r"^entity_ids\[1\] must be a UUID"):
        await store.get_entities([IDS[0], bad], TENANT)
    with pytest.raises(TypeError, match=r"^relationship_id must be a UUID"):
        await store.delete_relationship(bad, TENANT)
    assert len(await store.find_entities(TENANT)) == 6


async def test_a_rejected_batch_changes_nothing(store: InMemoryGraphStore) -> None:
    spoiled_entity, spoiled_edge, dangling = entity(0), edge(0, 0, 1), edge(0, 0, 1)
    spoiled_entity.name = ""
    spoiled_edge.id = str(EDGE_IDS[0])  # type: ignore[assignment]
    dangling.target_entity_id = UNKNOWN
    before = deepcopy(contents(store))

    def failing(first: Any) -> Iterator[Any]:
        yield first
        raise RuntimeError("gone")

    bad: Any
    for bad in ([entity(0, "New"), spoiled_entity], [entity(0, "New"), None], failing(entity(0, "New"))):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            await store.upsert_entities(bad)
    moved = edge(0, 4, 5)
    for bad in ([moved, spoiled_edge], [moved, dangling], [moved, None], failing(moved)):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            await store.upsert_relationships(bad)
    assert contents(store) == before


async def test_an_empty_batch_does_nothing() -> None:
    store = InMemoryGraphStore()
    await store.upsert_entities([])
    await store.upsert_relationships(iter(()))
    assert contents(store) == {}


async def test_arguments_may_be_mutated_after_a_write() -> None:
    store = InMemoryGraphStore()
    node = entity(0, "Acme", aliases=["Trust"], metadata={"tags": ["a"]})
    line = Relationship(TENANT, EDGE_IDS[0], IDS[0], IDS[0], "owns", {"tags": ["a"]})
    expected = node.copy(), line.copy()
    await store.upsert_entity(node)
    await store.upsert_relationship(line)
    node.name, node.id, node.tenant_id = "Spoiled", IDS[1], OTHER_TENANT
    node.aliases.append("Spoiled")
    line.source_entity_id, line.id, line.tenant_id = IDS[1], EDGE_IDS[1], OTHER_TENANT
    for tags in (node.metadata["tags"], line.metadata["tags"]):
        assert isinstance(tags, list)
        tags.append("spoiled")
    assert await store.find_entities(TENANT) == [expected[0]]
    assert await store.find_by_blocking_keys(["acme", "trus", "spoi"], TENANT) == [expected[0]]
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == [expected[1]]


def spoil(values: Any) -> None:
    for value in values if isinstance(values, list) else [values]:
        value.metadata["tags"].append("spoiled")
        value.metadata["new"] = 1
        value.id = UNKNOWN
        if isinstance(value, Relationship):
            value.source_entity_id = value.target_entity_id = UNKNOWN
        else:
            value.name = "Spoiled"
            value.aliases.append("Spoiled")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_entity", [IDS[0], TENANT]),
        ("get_entities", [IDS, TENANT]),
        ("find_entities", [TENANT]),
        ("find_by_blocking_key", ["acme", TENANT]),
        ("find_by_blocking_keys", [["acme"], TENANT]),
        ("get_relationships_by_entity", [IDS[0], TENANT]),
        ("neighbors", [IDS[1], TENANT]),
    ],
)
async def test_results_may_be_mutated(name: str, arguments: list[Any]) -> None:
    store = InMemoryGraphStore()
    await store.upsert_entities([entity(at, "Acme", metadata={"tags": ["a"]}) for at in range(2)])
    await store.upsert_relationship(
        Relationship(TENANT, EDGE_IDS[0], IDS[0], IDS[1], "owns", {"tags": ["a"]})
    )
    before, expected = deepcopy(contents(store)), await getattr(store, name)(*arguments)
    pristine = deepcopy(expected)
    spoil(expected)
    assert await getattr(store, name)(*arguments) == pristine
    assert contents(store) == before


async def test_equal_ids_of_two_tenants_never_meet(store: InMemoryGraphStore) -> None:
    twins = deepcopy(contents(store))[OTHER_TENANT]
    await store.upsert_entity(entity(0, "Changed"))
    await store.upsert_relationship(edge(0, 3, 3))
    assert await store.get_relationships_by_entity(IDS[3], OTHER_TENANT) == []
    assert await store.neighbors(IDS[1], OTHER_TENANT, depth=9) == []
    assert [found.id for found in await store.neighbors(IDS[4], OTHER_TENANT)] == [IDS[5]]
    assert await store.find_entities(OTHER_TENANT, name="Changed") == []
    assert await store.delete_relationship(EDGE_IDS[0], TENANT) == 1
    assert await store.delete_entity(IDS[4], TENANT) == 1
    assert await store.delete_by_tenant(TENANT) == 5
    assert contents(store) == {OTHER_TENANT: twins}


async def test_one_batch_may_hold_several_tenants() -> None:
    store = InMemoryGraphStore()
    await store.upsert_entities([entity(0), entity(0, "Twin", tenant_id=OTHER_TENANT)])
    await store.upsert_relationships([edge(0, 0, 0), edge(0, 0, 0, kind="met", tenant_id=OTHER_TENANT)])
    assert await store.get_relationships_by_entity(IDS[0], TENANT) == [edge(0, 0, 0)]
    assert await store.find_entities(OTHER_TENANT) == [entity(0, "Twin", tenant_id=OTHER_TENANT)]


@pytest.mark.parametrize("name", SCOPED)
@pytest.mark.parametrize("tenant_id", [TENANT, TenantId(UNKNOWN)])
async def test_what_was_only_asked_about_leaves_nothing_behind(
    store: InMemoryGraphStore, name: str, tenant_id: TenantId
) -> None:
    if name == "delete_by_tenant":
        tenant_id = TenantId(UNKNOWN)
    before = deepcopy(contents(store))
    given = {"entity_ids": [UNKNOWN], "key": "none", "keys": ["none"], "name": "none", "tenant_id": tenant_id}
    parameters = inspect.signature(getattr(store, name)).parameters.values()
    required = {each.name for each in parameters if each.default is inspect.Parameter.empty} | {"name"}
    arguments = {each.name: given.get(each.name, UNKNOWN) for each in parameters if each.name in required}
    assert not await getattr(store, name)(**arguments)
    assert contents(store) == before


async def test_what_was_deleted_leaves_nothing_behind(store: InMemoryGraphStore) -> None:
    for at in (5, 0, 3, 1, 4):
        assert await store.delete_entity(IDS[at], TENANT) == 1
    await store.delete_relationship(EDGE_IDS[2], TENANT)
    fresh = InMemoryGraphStore()
    await fresh.upsert_entity(entity(2))
    assert contents(store)[TENANT] == contents(fresh)[TENANT]
    assert await store.delete_entity(IDS[2], TENANT) == 1
    assert await store.delete_by_tenant(OTHER_TENANT) == 6
    assert contents(store) == {}


async def test_twenty_thousand_entities_and_edges_are_one_step_each() -> None:
    store = InMemoryGraphStore()
    ids = [EntityId(UUID(int=number)) for number in range(20_000)]
    await store.upsert_entities(Entity(TENANT, each, f"Node {each.int}", "node") for each in ids)
    await store.upsert_relationships(
        Relationship(TENANT, RelationshipId(each), each, ids[each.int // 2], "parent") for each in ids
    )
    assert len(await store.neighbors(ids[0], TENANT, depth=99)) == 19_999
    assert [found.id.int for found in await store.neighbors(ids[9999], TENANT)] == [4999, 19_998, 19_999]
