"""Limits, thresholds and widths: what counts as a number, and where each one stops."""

import math
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain.arguments import (
    require_at_least,
    require_dimension,
    require_integer,
    require_iterable,
    require_limit,
    require_min_score,
    require_strings,
)

HUGE = 10**5000
LARGEST_DOUBLE = (2 - Fraction(1, 2**52)) * 2**1023
WIDE_LONG_DOUBLE = numpy.finfo(numpy.longdouble).max > numpy.finfo(numpy.float64).max


class Three:
    def __index__(self) -> int:
        return 3


class Count(IntEnum):
    THREE = 3


THREES = [3, Three(), Count.THREE, numpy.int8(3), numpy.uint64(3), numpy.int64(3), numpy.array(3)]
NO_INTEGERS: list[Any] = [
    *(None, True, False, 3.0, "3", b"3", Fraction(3), Decimal(3), 3j, [3], (3,), {3}, Three, int),
    *(
        numpy.True_,
        numpy.float64(3),
        numpy.array([3]),
        numpy.array([3, 4]),
        numpy.array(True),
        numpy.array(3.0),
    ),
]


@pytest.mark.parametrize("value", THREES)
def test_an_integer_is_anything_with_an_index(value: object) -> None:
    for require in (lambda number: require_integer("k", number), require_dimension):
        found = require(value)
        assert (found, type(found)) == (3, int)
    assert require_limit("k", value) == 3


@pytest.mark.parametrize("value", NO_INTEGERS)
@pytest.mark.parametrize(
    "require",
    [lambda value: require_integer("k", value), lambda value: require_limit("k", value), require_dimension],
)
def test_a_bool_or_a_non_integer_is_a_type_error(require: Callable[[object], int], value: object) -> None:
    with pytest.raises(TypeError, match=r"^(k|dimension) must be an integer, got "):
        require(value)


def test_an_integer_error_names_its_field() -> None:
    with pytest.raises(TypeError, match=r"^overfetch must be an integer, got True \(bool\)$"):
        require_integer("overfetch", True)
    with pytest.raises(ValueError, match=r"^overfetch must be at least 1, got 0$"):
        require_at_least(1, "overfetch", 0)


@pytest.mark.parametrize("limit", [0, 1, 2**31, 2**63, 10**400, pytest.param(HUGE, id="huge")])
def test_a_limit_has_no_upper_bound(limit: int) -> None:
    assert require_limit("limit", limit) == limit


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (-1, "-1"),
        (numpy.int8(-1), "-1"),
        (-(2**63), "-9223372036854775808"),
        pytest.param(-HUGE, "-<16610 bits>", id="huge"),
    ],
)
def test_a_negative_limit_is_refused(limit: Any, shown: str) -> None:
    with pytest.raises(ValueError, match=f"^limit must be at least 0, got {shown}"):
        require_limit("limit", limit)


def test_a_width_is_at_least_one() -> None:
    assert require_dimension(1) == 1
    for width in (0, -1):
        with pytest.raises(ValueError, match=f"dimension must be at least 1, got {width}"):
            require_dimension(width)


@pytest.mark.parametrize(
    ("value", "threshold"),
    [
        *[(None, None), (0, 0.0), (1, 1.0), (-3, -3.0), (0.5, 0.5), (-0.0, 0.0), (5e-324, 5e-324)],
        *[
            (math.inf, math.inf),
            (-math.inf, -math.inf),
            (LARGEST_DOUBLE, float.fromhex("0x1.fffffffffffffp+1023")),
        ],
        *[
            (Fraction(3, 4), 0.75),
            (numpy.float32(0.5), 0.5),
            (numpy.int64(1), 1.0),
            (numpy.longdouble(0.25), 0.25),
        ],
        *[(numpy.float64(math.inf), math.inf), (numpy.longdouble(-math.inf), -math.inf), (10**300, 1e300)],
        # The nearest double of the float32 0.7, which is not the double 0.7: 11744051 / 2**24.
        (numpy.float32(0.7), 11744051 / 16777216),
    ],
)
def test_a_threshold_is_any_real_number_that_fits_a_double(value: object, threshold: float | None) -> None:
    found = require_min_score(value)
    assert found == threshold
    assert type(found) in (float, type(None))


@pytest.mark.parametrize(
    ("value", "threshold"),
    [
        (Fraction(1, 3), float.fromhex("0x1.5555555555556p-2")),  # its nearest double lies below
        (Fraction(2, 3), float.fromhex("0x1.5555555555556p-1")),  # the nearest from below is ...555p-1
        (-Fraction(1, 3), -float.fromhex("0x1.5555555555555p-2")),
        (Fraction(1, 2) + Fraction(1, 10**400), math.nextafter(0.5, 1.0)),
        (Fraction(1, 2) - Fraction(1, 10**400), 0.5),
        (Fraction(1, 10**400), 5e-324),
        (2**53 + 1, 2.0**53 + 2),
    ],
    ids=range(7),
)
def test_a_threshold_between_two_doubles_is_the_upper_one(value: object, threshold: float) -> None:
    assert require_min_score(value) == threshold


@pytest.mark.skipif(not WIDE_LONG_DOUBLE, reason="long double is no wider than double here")
def test_a_long_double_threshold_is_not_rounded_down() -> None:
    little = numpy.longdouble(2) ** -60
    assert require_min_score(numpy.longdouble(0.5) + little) == math.nextafter(0.5, 1.0)
    assert require_min_score(numpy.longdouble(0.5) - little) == 0.5


@pytest.mark.parametrize(
    "value",
    [math.nan, -math.nan, numpy.float32(math.nan), numpy.float64(math.nan), numpy.longdouble(math.nan)],
)
def test_a_nan_threshold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="min_score must not be NaN"):
        require_min_score(value)


@pytest.mark.parametrize(
    "value", [10**309, pytest.param(-HUGE, id="huge"), Fraction(10**400), 2**1024, LARGEST_DOUBLE + 2**970]
)
def test_a_threshold_beyond_a_double_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="min_score must fit a double"):
        require_min_score(value)


@pytest.mark.skipif(not WIDE_LONG_DOUBLE, reason="long double is no wider than double here")
@pytest.mark.parametrize("sign", [1, -1])
def test_a_long_double_beyond_a_double_is_no_infinite_threshold(sign: int) -> None:
    with pytest.raises(ValueError, match="min_score must fit a double"):
        require_min_score(sign * numpy.longdouble(2) ** 2000)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        "0.5",
        b"1",
        1j,
        Decimal("0.5"),
        [0.5],
        (0.5,),
        {},
        numpy.True_,
        numpy.array(0.5),
        numpy.array([0.5]),
        int,
    ],
)
def test_a_threshold_that_is_no_real_number_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="min_score must be a real number, got "):
        require_min_score(value)


@pytest.mark.parametrize(
    "values",
    [["b", "a", "b"], ("b", "a", "b"), iter("bab"), (term for term in "bab"), numpy.array(["b", "a", "b"])],
)
def test_strings_keep_their_order_and_repeats(values: object) -> None:
    found = require_strings("terms", values)
    assert found == ["b", "a", "b"]
    assert {type(each) for each in found} == {str}


def test_no_strings_are_strings_too() -> None:
    assert require_strings("terms", []) == require_strings("terms", {}) == []
    assert require_strings("terms", [""]) == [""]


@pytest.mark.parametrize("values", ["term", "", None, 1, numpy.str_("term")])
def test_a_lone_str_is_not_its_letters(values: object) -> None:
    with pytest.raises(TypeError, match="terms must be an iterable of str"):
        require_strings("terms", values)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["a", None], TypeError, r"terms\[1\] must be a str, got None"),
        (b"ab", TypeError, r"terms\[0\] must be a str, got 97"),
        (["a", "b", "c\x00"], ValueError, r"terms\[2\] holds U\+0000 at index 1"),
        (["\udc80"], ValueError, r"terms\[0\] holds U\+DC80 at index 0"),
        ([HUGE], TypeError, r"terms\[0\] must be a str, got <16610 bits>"),
    ],
)
def test_a_string_that_is_none_is_told_by_position(values: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        require_strings("terms", values)


class Seen:
    """What Python iterates over by index."""

    def __getitem__(self, index: int) -> str:
        return "ab"[index]


@pytest.mark.parametrize("values", ["ab", ["a", "b"], {"a": 1, "b": 2}, iter("ab"), Seen()], ids=range(5))
def test_an_iterable_is_whatever_python_iterates_over(values: Any) -> None:
    assert list(require_iterable("chunks", values)) == ["a", "b"]


@pytest.mark.parametrize("values", [None, 5, list, numpy.array(1)], ids=range(4))
def test_what_cannot_be_iterated_over_is_refused_by_its_name(values: Any) -> None:
    with pytest.raises(TypeError, match=r"^chunks must be an iterable, got "):
        require_iterable("chunks", values)


@pytest.mark.drawn
@given(st.integers())
def test_integers_are_limits_from_zero_up(value: int) -> None:
    if value >= 0:
        assert require_limit("k", value) == value
    else:
        with pytest.raises(ValueError, match="at least 0"):
            require_limit("k", value)


@pytest.mark.drawn
@given(st.floats(allow_nan=False))
def test_a_double_is_its_own_threshold(value: float) -> None:
    assert require_min_score(value) == value
