"""What can be stored: text without NUL and surrogates, JSON that comes back equal in value and in type."""

import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain.storable import json_object, require_text

HUGE = 10**5000


class Color(StrEnum):
    RED = "red"


class Level(IntEnum):
    ONE = 1


class Name(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another"


class Ratio(float):
    pass


class Items(list[int]):
    pass


def nested(levels: int, wrap: Callable[[Any], Any]) -> Any:
    """Return `levels` containers, one in the other, the innermost empty."""
    value = wrap(None)
    for _ in range(levels - 1):
        value = wrap([value])
    return value


def in_list(inside: Any) -> list[Any]:
    return [] if inside is None else inside


def in_dict(inside: Any) -> dict[str, Any]:
    return {} if inside is None else {"k": inside[0]}


def typed(value: object) -> object:
    """Return `value` with every type and every sign of zero beside it, so that equality sees them."""
    if isinstance(value, dict):
        return [dict, *((key, typed(item)) for key, item in value.items())]
    if isinstance(value, list):
        return [list, *map(typed, value)]
    return type(value), repr(value)


# Text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x01\x7f\x80",
        "\ud7ff\ue000",
        "\ufffe\uffff\U0010ffff",
        "\U0001f9f5",
        "e\u0301",
        "\ufeff",
        "\r\n\u2028",
    ],
)
def test_text_without_nul_and_surrogates_is_stored_as_it_is(text: str) -> None:
    assert require_text("text", text) == text


@pytest.mark.parametrize("code_point", [0, 0xD800, 0xDBFF, 0xDC00, 0xDFFF])
@pytest.mark.parametrize("before", ["", "a", "\U0001f9f5"])
def test_nul_and_lone_surrogates_are_refused_by_index(before: str, code_point: int) -> None:
    expected = rf"^text holds U\+{code_point:04X} at index {len(before)}, which cannot be stored$"
    with pytest.raises(ValueError, match=expected):
        require_text("text", before + chr(code_point) + "\x00")


def test_two_surrogates_that_make_a_pair_are_refused_all_the_same() -> None:
    with pytest.raises(ValueError, match=r"U\+D83E at index 0"):
        require_text("text", "\ud83e\uddf5")


@pytest.mark.parametrize(
    "value", [None, 1, b"text", bytearray(b"text"), ["t"], pytest.param(HUGE, id="huge"), numpy.array("text")]
)
def test_text_is_a_str(value: object) -> None:
    with pytest.raises(TypeError, match=r"^text must be a str, got "):
        require_text("text", value)


@pytest.mark.parametrize("value", [Name("red"), Color.RED, numpy.str_("red")])
def test_a_str_subclass_becomes_the_text_that_it_holds(value: str) -> None:
    found = require_text("text", value)
    assert (found, type(found)) == ("red", str)


def test_a_str_subclass_hides_no_nul() -> None:
    with pytest.raises(ValueError, match=r"U\+0000"):
        require_text("text", Name("\x00"))


# Metadata that goes in


JSON_VALUES: list[Any] = [
    *[None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**4096 - 1, 1 - 10**4096],
    *[0.0, 1.0, 0.1, 1e22, 1e23, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**63, 1e16],
    *["", "text", "NaN", "e\u0301", "\u00e9", "\U0001f9f5", "1", "null", "\uffff", "\\u0000"],
    *[[], {}, [[]], [{}], {"": []}, [None, True, 1, 1.0, "1"], {"a": {"b": [{"c": None}]}}],
]


@pytest.mark.parametrize("value", JSON_VALUES)
def test_json_is_kept_in_value_and_in_type(value: Any) -> None:
    metadata = {"key": value}
    assert typed(json_object("metadata", metadata)) == typed(metadata)


@pytest.mark.parametrize("key", ["", " ", "é", "e\u0301", "entity_type", "\x01", "__proto__", "1"])
def test_every_storable_str_is_a_key(key: str) -> None:
    assert json_object("metadata", {key: key}) == {key: key}


def test_a_negative_zero_is_stored_as_zero() -> None:
    found = json_object("metadata", {"a": -0.0, "b": [-0.0, {"c": -0.0}]})
    assert typed(found) == typed({"a": 0.0, "b": [0.0, {"c": 0.0}]})


def test_the_order_of_keys_is_kept() -> None:
    assert list(json_object("metadata", {"b": 1, "a": 2, "c": 3})) == ["b", "a", "c"]


def test_the_copy_shares_nothing_with_the_original() -> None:
    shared: list[Any] = [1]
    metadata: dict[str, Any] = {"a": shared, "b": {"c": shared}}
    found: Any = json_object("metadata", metadata)
    shared.append(2)
    metadata["b"]["d"] = 3
    metadata["e"] = 4
    assert found == {"a": [1], "b": {"c": [1]}}
    found["a"].append(5)
    assert found["b"]["c"] == [1]
    assert shared == [1, 2]


# Metadata that does not

NO_JSON: list[Any] = [
    *[
        (1,),
        (),
        {1},
        frozenset(),
        b"b",
        bytearray(b"b"),
        memoryview(b"b"),
        1j,
        object(),
        object,
        range(2),
        ...,
    ],
    *[datetime(2024, 1, 1), date(2024, 1, 1), Decimal(1), Fraction(1), UUID(int=1), iter([])],
    *[Color.RED, Level.ONE, Name("n"), Ratio(1.0), Items([1]), OrderedDict(a=1), defaultdict(list)],
    *[
        MappingProxyType({}),
        numpy.float64(1.0),
        numpy.int64(1),
        numpy.str_("s"),
        numpy.True_,
        numpy.array([1.0]),
    ],
]


@pytest.mark.parametrize("value", NO_JSON)
@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        (lambda value: {"a": value}, r"metadata\['a'\]"),
        (lambda value: {"a": [0, value]}, r"metadata\['a'\]\[1\]"),
        (lambda value: {"x": 1, "a": [{"b c": value}]}, r"metadata\['a'\]\[0\]\['b c'\]"),
    ],
)
def test_any_other_type_is_a_type_error_that_names_the_path(
    value: Any, metadata: Callable[[Any], Any], path: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{path} must be JSON, got .*\({type(value).__name__}\)$"):
        json_object("metadata", metadata(value))


@pytest.mark.parametrize(
    "value",
    [None, [], [("a", 1)], "{}", 1, OrderedDict(a=1), MappingProxyType({}), pytest.param(HUGE, id="huge")],
)
def test_metadata_itself_is_exactly_a_dict(value: object) -> None:
    with pytest.raises(TypeError, match=r"^metadata must be a dict, got "):
        json_object("metadata", value)


@pytest.mark.parametrize(
    "key",
    [None, True, 1, 1.5, ("a",), b"a", Color.RED, Name("n"), numpy.str_("s"), pytest.param(HUGE, id="huge")],
)
def test_a_key_is_exactly_a_str(key: Any) -> None:
    with pytest.raises(TypeError, match=r"^metadata must have str keys, got "):
        json_object("metadata", {"a": 1, key: 2})
    with pytest.raises(TypeError, match=r"^metadata\['a'\]\[0\] must have str keys, got "):
        json_object("metadata", {"a": [{key: 2}]})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_by_path(value: float) -> None:
    with pytest.raises(ValueError, match=rf"^metadata\['a'\]\[1\] must be finite, got {value!r}$"):
        json_object("metadata", {"a": [1, value]})


@pytest.mark.parametrize(
    "value", [10**4096, -(10**4096), pytest.param(HUGE, id="huge"), pytest.param(-HUGE, id="-huge")]
)
def test_an_integer_of_more_than_4096_digits_is_refused_by_path(value: int) -> None:
    with pytest.raises(ValueError, match=r"^metadata\['a'\] must have at most 4096 digits, got \d+ bits$"):
        json_object("metadata", {"a": value})


@pytest.mark.parametrize(("bad", "code_point"), [("x\x00", "0000"), ("x\ud800", "D800"), ("x\udfff", "DFFF")])
def test_an_unstorable_string_or_key_is_refused_by_path(bad: str, code_point: str) -> None:
    with pytest.raises(ValueError, match=rf"^metadata\['a'\]\[0\] holds U\+{code_point} at index 1"):
        json_object("metadata", {"a": [bad]})
    with pytest.raises(ValueError, match=rf"^metadata\['a'\] key 'x.*' holds U\+{code_point} at index 1"):
        json_object("metadata", {"a": {bad: 1}})


# Depth


@pytest.mark.parametrize("wrap", [in_list, in_dict])
def test_200_levels_are_stored_and_201_are_not(wrap: Callable[[Any], Any]) -> None:
    deepest = {"a": nested(199, wrap)}
    assert json_object("metadata", deepest) == deepest
    with pytest.raises(
        ValueError, match=r"^metadata\['a'\].*… is nested more than 200 levels deep$"
    ) as caught:
        json_object("metadata", {"a": nested(200, wrap)})
    assert len(str(caught.value)) < 150


def test_a_value_in_the_200th_level_takes_no_level_of_its_own() -> None:
    innermost: dict[str, Any] = {"a": 1.5}
    metadata = innermost
    for _ in range(199):
        metadata = {"k": metadata}
    assert json_object("metadata", metadata) == metadata
    innermost["a"] = {}
    with pytest.raises(ValueError, match="200 levels"):
        json_object("metadata", metadata)


def test_a_cycle_is_refused() -> None:
    items: list[Any] = []
    items.append(items)
    table: dict[str, Any] = {}
    table["self"] = table
    there: dict[str, Any] = {}
    there["back"] = [there]
    for metadata in ({"a": items}, table, there):
        with pytest.raises(ValueError, match="is nested more than 200 levels deep"):
            json_object("metadata", metadata)


def test_far_more_levels_than_python_can_recurse_are_refused_alike() -> None:
    with pytest.raises(ValueError, match="is nested more than 200 levels deep"):
        json_object("metadata", {"a": nested(100_000, in_list)})


# Drawn

storable_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | storable_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(storable_text, inner, max_size=4),
    max_leaves=20,
)


def without_negative_zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_negative_zeros(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_negative_zeros(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0 else value


@pytest.mark.drawn
@given(st.dictionaries(storable_text, json_values, max_size=4))
def test_every_json_object_is_kept_in_value_and_in_type(metadata: dict[str, Any]) -> None:
    found = json_object("metadata", metadata)
    assert typed(found) == typed(without_negative_zeros(metadata))
    assert typed(json_object("metadata", found)) == typed(found)
