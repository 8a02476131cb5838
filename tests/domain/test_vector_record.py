"""Vector records: checked and copied as they are made, and at the door of a store."""

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EntityId,
    InvalidVectorError,
    VectorMatch,
    VectorRecord,
)
from redstring_ref.domain.vector_record import require_records
from tests.support import OTHER_TENANT, TENANT

ADA = EntityId(UUID("0000000c-0000-4000-8000-000000000003"))
BOB = EntityId(UUID("0000000d-0000-4000-8000-000000000004"))


def record() -> VectorRecord:
    """Return a record with something in every field, new each time."""
    return VectorRecord(TENANT, ADA, [0.5, -2.0], {"entity_type": "person", "tags": [{"a": [1]}]})


def test_the_constructor_takes_its_fields_in_this_order() -> None:
    assert [field.name for field in fields(VectorRecord)] == ["tenant_id", "entity_id", "vector", "metadata"]
    assert VectorRecord(TENANT, ADA, [1.0]).metadata == {}


def test_a_vector_is_rounded_to_float32_and_metadata_to_json() -> None:
    found = VectorRecord(TENANT, ADA, numpy.array([0.1, 1]), {"zero": -0.0})  # type: ignore[arg-type]
    assert found.vector == [float.fromhex("0x1.99999ap-4"), 1.0]
    assert str(found.metadata) == "{'zero': 0.0}"


BAD_FIELDS: list[tuple[str, Any, type[Exception], str]] = [
    *[("tenant_id", value, TypeError, "tenant_id must be a UUID") for value in (None, str(TENANT))],
    *[("entity_id", value, TypeError, "entity_id must be a UUID") for value in (None, str(ADA), 1)],
    *[
        ("vector", value, TypeError, "vector must be a sequence of real numbers")
        for value in (None, "1", iter([1.0]))
    ],
    ("vector", [1.0, True], TypeError, r"vector\[1\] must be a real number"),
    ("vector", [math.inf], InvalidVectorError, r"vector\[0\] must be a finite float32, got inf"),
    *[("vector", value, InvalidVectorError, "vector must have a norm") for value in ([], [0.0, 0.0], [1e16])],
    ("metadata", None, TypeError, "metadata must be a dict"),
    ("metadata", {"a": [{1}]}, TypeError, r"metadata\['a'\]\[0\] must be JSON"),
    ("metadata", {"a": math.inf}, ValueError, r"metadata\['a'\] must be finite"),
]


@pytest.mark.parametrize(("field", "value", "error", "message"), BAD_FIELDS)
def test_a_bad_field_is_refused_by_name_when_made_and_when_copied(
    field: str, value: Any, error: type[Exception], message: str
) -> None:
    changes: dict[str, Any] = {field: value}
    with pytest.raises(error, match=f"^{message}"):
        replace(record(), **changes)
    changed = record()
    setattr(changed, field, value)
    with pytest.raises(error, match=f"^{message}"):
        changed.copy()
    with pytest.raises(error, match=f"^{message}"):
        require_records([record(), changed], 2)


@pytest.mark.parametrize(
    "copied",
    [
        VectorRecord.copy,
        copy.deepcopy,
        replace,
        lambda each: pickle.loads(pickle.dumps(each)),  # noqa: S301
        lambda each: require_records([each], 2)[0],
    ],
)
def test_a_copy_is_equal_and_independent(copied: Callable[[VectorRecord], VectorRecord]) -> None:
    original = record()
    found: Any = copied(original)
    assert found == original
    found.vector[0] = 9.0
    found.metadata["tags"][0]["a"].append(2)
    assert original == record()


def test_a_record_shares_nothing_with_what_it_was_made_from() -> None:
    vector, tags = [1.0, 2.0], ["a"]
    metadata: dict[str, Any] = {"tags": tags}
    found = VectorRecord(TENANT, ADA, vector, metadata)
    vector[0] = 9.0
    tags.append("b")
    assert (found.vector, found.metadata) == ([1.0, 2.0], {"tags": ["a"]})


@pytest.mark.parametrize(
    "change", [{"tenant_id": OTHER_TENANT}, {"entity_id": BOB}, {"vector": [0.5, 2.0]}, {"metadata": {}}]
)
def test_records_are_equal_when_every_field_is(change: dict[str, Any]) -> None:
    assert record() == record()
    assert replace(record(), **change) != record()


def test_a_batch_is_consumed_once_and_keeps_its_order_and_repeats() -> None:
    records = [VectorRecord(TENANT, BOB, [1.0, 0.0]), record(), VectorRecord(TENANT, BOB, [0.0, 1.0])]
    assert require_records(iter(records), 2) == records
    assert require_records([], 2) == []


@pytest.mark.parametrize("bad", [None, [1.0, 2.0], (TENANT, ADA, [1.0, 2.0]), VectorRecord])
def test_what_is_no_record_is_a_type_error_by_position(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^records\[1\] must be a VectorRecord, got "):
        require_records([record(), bad], 2)


@pytest.mark.parametrize("width", [1, 3])
def test_a_vector_of_another_width_is_told_by_position(width: int) -> None:
    records = [record(), VectorRecord(TENANT, BOB, [1.0] * width)]
    expected = rf"^records\[1\]\.vector: expected 2 dimensions, got {width}$"
    with pytest.raises(DimensionMismatchError, match=expected) as caught:
        require_records(records, 2)
    assert (caught.value.expected, caught.value.actual) == (2, width)


def test_the_first_bad_record_raises() -> None:
    with pytest.raises(DimensionMismatchError, match=r"records\[0\]"):
        require_records([VectorRecord(TENANT, ADA, [1.0]), None], 2)  # type: ignore[list-item]


def test_a_match_is_a_value_that_does_not_change() -> None:
    match = VectorMatch(ADA, 0.5, {"entity_type": "person"})
    assert match == VectorMatch(entity_id=ADA, score=0.5, metadata={"entity_type": "person"})
    with pytest.raises(FrozenInstanceError):
        match.score = 1.0  # type: ignore[misc]
