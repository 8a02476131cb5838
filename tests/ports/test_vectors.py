"""The entity vector store: records, exact search, filters, deletes."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EntityId,
    InvalidVectorError,
    JsonObject,
    TenantId,
    VectorRecord,
)
from redstring_ref.ports import VectorStore
from tests.support import OTHER_TENANT, TENANT

# Inserted in this order; by id they are ordered 0a, 5b, 9c, f1.
IDS = [EntityId(UUID(f"000000{prefix}-0000-4000-8000-000000000000")) for prefix in ("9c", "0a", "f1", "5b")]


def record(
    entity_id: EntityId,
    vector: Any = (1.0, 0.0),
    metadata: JsonObject | None = None,
    tenant_id: TenantId = TENANT,
) -> VectorRecord:
    return VectorRecord(tenant_id, entity_id, vector, metadata or {})


async def test_a_record_comes_back_equal_and_independent(vector_store: VectorStore) -> None:
    given = record(IDS[0], [0.1, 2], {"entity_type": "person", "tags": ["a"]})
    await vector_store.upsert(given)
    given.vector[0] = 9.0
    given.metadata["tags"] = "spoiled"
    for _ in range(2):
        found = await vector_store.get(IDS[0], TENANT)
        assert found == record(IDS[0], [0.1, 2], {"entity_type": "person", "tags": ["a"]})
        found.vector[0] = 9.0
        nested = found.metadata["tags"]
        assert isinstance(nested, list)
        nested.append("spoiled")
    (match,) = await vector_store.search([0.1, 2.0], TENANT)
    assert match.score == 1.0
    nested = match.metadata["tags"]
    assert isinstance(nested, list)
    nested.append("spoiled")
    assert (await vector_store.search([0.1, 2.0], TENANT))[0].metadata["tags"] == ["a"]


async def test_an_upsert_replaces_the_record_whole(vector_store: VectorStore) -> None:
    await vector_store.upsert(record(IDS[0], [1.0, 0.0], {"old": True}))
    await vector_store.upsert_many([record(IDS[0], [1.0, 1.0]), record(IDS[0], [0.0, 1.0])])
    assert await vector_store.get(IDS[0], TENANT) == record(IDS[0], [0.0, 1.0])
    assert len(await vector_store.search([1.0, 0.0], TENANT)) == 1


async def test_equal_scores_are_cut_by_canonical_entity_id(vector_store: VectorStore) -> None:
    await vector_store.upsert_many(record(entity_id) for entity_id in IDS)
    for k in range(6):
        found = await vector_store.search([2.0, 0.0], TENANT, k=k)
        assert [match.entity_id for match in found] == sorted(IDS, key=str)[:k]


async def test_ten_matches_come_back_by_default(vector_store: VectorStore) -> None:
    await vector_store.upsert_many(record(EntityId(UUID(int=number))) for number in range(12))
    assert len(await vector_store.search([1.0, 0.0], TENANT)) == 10


async def test_entity_types_filter_before_k_and_before_the_threshold(vector_store: VectorStore) -> None:
    await vector_store.upsert_many(
        [
            record(IDS[0], [1.0, 0.0], {"entity_type": "place"}),
            record(IDS[1], [0.0, 1.0], {"entity_type": "person"}),
            record(IDS[2], [1.0, 0.0], {"entity_type": ["person"]}),
            record(IDS[3], [1.0, 0.0]),
        ]
    )

    async def found(entity_types: Any, **options: Any) -> list[EntityId]:
        matches = await vector_store.search([1.0, 0.0], TENANT, entity_types=entity_types, **options)
        return [match.entity_id for match in matches]

    assert await found(["person"], k=1) == [IDS[1]]
    assert await found(("person", "place", "person")) == [IDS[0], IDS[1]]
    assert await found(iter(["person"]), min_score=0.5) == [IDS[1]]
    assert await found(["person"], min_score=0.6) == []
    assert await found([]) == []
    assert await found(["Person"]) == []
    assert len(await found(None)) == 4


@pytest.mark.parametrize("entity_types", ["person", 1, [1], [None]])
async def test_bad_entity_types_are_refused(vector_store: VectorStore, entity_types: Any) -> None:
    with pytest.raises(TypeError, match="entity_types"):
        await vector_store.search([1.0, 0.0], TENANT, entity_types=entity_types)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"k": -1}, ValueError),
        ({"k": True}, TypeError),
        ({"k": 1.0}, TypeError),
        ({"min_score": float("nan")}, ValueError),
        ({"min_score": "0"}, TypeError),
    ],
)
async def test_bad_options_are_refused(
    vector_store: VectorStore, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await vector_store.search([1.0, 0.0], TENANT, **options)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"vector": None, "tenant_id": None}, TypeError, "tenant_id must be a UUID"),
        ({"vector": None, "k": -1}, TypeError, "vector must be a sequence"),
        ({"vector": [1.0], "k": -1}, DimensionMismatchError, "vector: expected 2"),
        ({"k": -1, "entity_types": "person", "min_score": "x"}, ValueError, "k must be at least 0"),
        ({"entity_types": "person", "min_score": "x"}, TypeError, "entity_types must be an iterable of str"),
        ({"min_score": "x"}, TypeError, "min_score must be a real number"),
    ],
    ids=range(6),
)
async def test_the_tenant_is_judged_first_then_the_arguments_in_order(
    vector_store: VectorStore, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    options: dict[str, Any] = {"vector": [1.0, 0.0], "tenant_id": TENANT, **arguments}
    with pytest.raises(error, match=f"^{message}"):
        await vector_store.search(**options)


async def test_each_method_judges_the_tenant_before_the_entity(vector_store: VectorStore) -> None:
    bad: Any = "bad"
    for method in (vector_store.get, vector_store.delete):
        with pytest.raises(TypeError, match=r"^tenant_id must be a UUID"):
            await method(bad, bad)


async def test_what_holds_no_records_is_refused_by_its_name(vector_store: VectorStore) -> None:
    for records in (None, 5):
        missing: Any = records
        with pytest.raises(TypeError, match=r"^records must be an iterable, got "):
            await vector_store.upsert_many(missing)


async def test_numpy_vectors_and_integers_are_accepted(vector_store: VectorStore) -> None:
    await vector_store.upsert(record(IDS[0], numpy.array([3, 4])))
    vector: Any = numpy.array([3.0, 4.0])
    k: Any = numpy.int64(1)
    (match,) = await vector_store.search(vector, TENANT, k=k)
    assert match.score == 1.0


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (record(IDS[1], [1.0]), DimensionMismatchError),
        ({"vector": [1.0, 0.0]}, TypeError),
        (None, TypeError),
    ],
)
async def test_a_bad_record_refuses_the_whole_batch(
    vector_store: VectorStore, bad: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"records\[1\]"):
        await vector_store.upsert_many([record(IDS[0]), bad])
    assert await vector_store.get(IDS[0], TENANT) is None


async def test_a_record_that_was_made_invalid_is_refused(vector_store: VectorStore) -> None:
    bad = record(IDS[0])
    bad.vector = [0.0, 0.0]
    with pytest.raises(InvalidVectorError, match="vector must have a norm"):
        await vector_store.upsert(bad)
    assert await vector_store.search([1.0, 0.0], TENANT) == []


async def test_a_failing_generator_writes_nothing(vector_store: VectorStore) -> None:
    def records() -> Iterator[VectorRecord]:
        yield record(IDS[0])
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        await vector_store.upsert_many(records())
    assert await vector_store.get(IDS[0], TENANT) is None


async def test_a_query_of_another_width_is_refused(vector_store: VectorStore) -> None:
    with pytest.raises(DimensionMismatchError) as raised:
        await vector_store.search([1.0, 0.0, 0.0], TENANT)
    assert (raised.value.expected, raised.value.actual) == (2, 3)


async def test_tenants_never_meet(vector_store: VectorStore) -> None:
    await vector_store.upsert_many([record(IDS[0]), record(IDS[0], [0.0, 1.0], tenant_id=OTHER_TENANT)])
    assert [match.score for match in await vector_store.search([1.0, 0.0], TENANT)] == [1.0]
    assert [match.score for match in await vector_store.search([1.0, 0.0], OTHER_TENANT)] == [0.5]
    assert await vector_store.delete_by_tenant(TENANT) == 1
    assert await vector_store.get(IDS[0], TENANT) is None
    assert await vector_store.get(IDS[0], OTHER_TENANT) is not None


async def test_deletes_return_how_many_there_were(vector_store: VectorStore) -> None:
    await vector_store.upsert_many([record(IDS[0]), record(IDS[1])])
    assert await vector_store.delete(IDS[0], TENANT) == 1
    assert await vector_store.delete(IDS[0], TENANT) == 0
    assert [match.entity_id for match in await vector_store.search([1.0, 0.0], TENANT)] == [IDS[1]]
    assert await vector_store.delete_by_tenant(TENANT) == 1
    assert await vector_store.delete_by_tenant(TENANT) == 0


@pytest.mark.parametrize("bad", [None, "000000a1-0000-4000-8000-000000000001", 1])
async def test_ids_that_are_not_uuids_are_refused(vector_store: VectorStore, bad: Any) -> None:
    with pytest.raises(TypeError, match="entity_id must be a UUID"):
        await vector_store.get(bad, TENANT)
    with pytest.raises(TypeError, match="entity_id must be a UUID"):
        await vector_store.delete(bad, TENANT)
    with pytest.raises(TypeError, match="tenant_id must be a UUID"):
        await vector_store.search([1.0, 0.0], bad)
    with pytest.raises(TypeError, match="tenant_id must be a UUID"):
        await vector_store.delete_by_tenant(bad)
