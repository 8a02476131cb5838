"""Vectors: float32 at the door, norms within bounds, and a cosine that is one definite double."""

import math
import random
from array import array
from collections import UserList, deque
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redstring_ref.domain import (
    DimensionMismatchError,
    InvalidVectorError,
    as_vector,
    cosine,
    cosine_score,
    dot_product,
    score,
    squared_norm,
)
from redstring_ref.domain.vectors import (
    FLOAT32_ROUNDOFF,
    FLOAT64_ROUNDOFF,
    cosine_error_bound,
    require_width,
)

LARGEST_FLOAT32 = float((2**24 - 1) * 2**104)
WIDE_LONG_DOUBLE = numpy.finfo(numpy.longdouble).nmant > 60
HUGE = 10**5000


def nearest_float32(value: Fraction) -> Fraction:
    """Round to 24 significant bits, or to 2**-149 below 2**-126, ties to even, from the exact value."""
    exponent = -149
    while abs(value) >= Fraction(2) ** (exponent + 24):
        exponent += 1
    unit = Fraction(2) ** exponent
    return round(value / unit) * unit  # round() takes ties to even, and is exact for fractions


def exact_dot(left: Sequence[float], right: Sequence[float]) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True)), Fraction())


def rounded(value: Fraction) -> float:
    """Return the correctly rounded double: true division of two integers is."""
    return value.numerator / value.denominator


def score_by_hand(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the score of VEC-3 and VEC-4 with each rounding of its own, in exact fractions between."""
    norms = rounded(exact_dot(left, left)), rounded(exact_dot(right, right))
    root = math.sqrt(rounded(Fraction(norms[0]) * Fraction(norms[1])))
    quotient = rounded(Fraction(rounded(exact_dot(left, right))) / Fraction(root))
    return min(1.0, max(0.0, rounded(Fraction(rounded(1 + Fraction(quotient))) / 2)))


# What goes in


@pytest.mark.parametrize(
    "values",
    [
        *[
            [1, 2, 3],
            [1.0, 2.0, 3.0],
            (1, 2.0, Fraction(3)),
            range(1, 4),
            array("d", [1, 2, 3]),
            array("h", [1, 2, 3]),
        ],
        *[deque([1, 2, 3]), UserList([1, 2, 3]), memoryview(array("f", [1, 2, 3]))],
        *[
            numpy.array([1, 2, 3], dtype)
            for dtype in ("b", "u8", "i8", "f2", "f4", "f8", "longdouble", object)
        ],
        *[[numpy.int8(1), numpy.float16(2), numpy.float32(3)], (numpy.longdouble(1), numpy.uint64(2), 3)],
        *[
            numpy.array([1, 2, 3, 4])[:3],
            numpy.array([[1, 9], [2, 9], [3, 9]])[:, 0],
            numpy.array([1, 2, 3], ">f4"),
        ],
    ],
)
def test_any_sequence_of_real_numbers_becomes_a_list_of_floats(values: Any) -> None:
    found = as_vector(values)
    assert found == [1.0, 2.0, 3.0]
    assert type(found) is list
    assert {type(component) for component in found} == {float}


def test_the_list_is_a_new_one() -> None:
    values = [1.0, 2.0]
    found = as_vector(values)
    values[0] = 9.0
    assert found == [1.0, 2.0]


@pytest.mark.parametrize(
    "values",
    [
        *[
            None,
            1,
            1.0,
            True,
            "12",
            "",
            b"12",
            bytearray(b"12"),
            {1.0: 1.0},
            {1.0},
            iter([1.0]),
            object(),
            HUGE,
        ],
        *[
            (component for component in (1.0, 2.0)),
            map(float, [1, 2]),
            zip([1.0], strict=True),
            numpy.float64(1.0),
        ],
        *[numpy.array(1.0), numpy.str_("12"), numpy.bytes_(b"12"), {}.keys()],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_sequence_is_a_type_error(values: object) -> None:
    with pytest.raises(TypeError, match=r"^embedding must be a sequence of real numbers, got "):
        as_vector(values)


@pytest.mark.parametrize(
    "bad",
    [
        True,
        False,
        None,
        "1",
        b"1",
        [1.0],
        (1.0,),
        [],
        {},
        1j,
        Decimal(1),
        numpy.True_,
        numpy.array([1.0]),
        int,
    ],
)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_component_that_is_no_real_number_is_a_type_error_by_position(position: int, bad: Any) -> None:
    values: list[Any] = [1.0, 1.0]
    values.insert(position, bad)
    with pytest.raises(TypeError, match=rf"^embedding\[{position}\] must be a real number, got "):
        as_vector(values)


@pytest.mark.parametrize(
    "values",
    [
        *[numpy.array([[1.0, 2.0]]), numpy.array([True, False]), numpy.array(["1"]), numpy.array([1j])],
        *[numpy.array([None, 1.0]), numpy.array([[]]), numpy.array([{}, {}])],
        numpy.ma.masked_array([1.0, 2.0], mask=[False, True]),
    ],
)
def test_an_array_of_another_shape_or_kind_is_a_type_error(values: Any) -> None:
    with pytest.raises(TypeError, match=r"^query\[\d\] must be a real number, got "):
        as_vector(values, "query")


def test_the_type_is_judged_before_the_value() -> None:
    with pytest.raises(TypeError, match=r"embedding\[1\]"):
        as_vector([math.nan, True])


# Rounding


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, float.fromhex("0x1.99999ap-4")),
        (1 + 2**-24, 1.0),  # halfway: to the even 1
        (1 + 3 * 2**-24, 1 + 2**-22),  # halfway: to the even 1 + 2**-22
        (1 + 2**-24 + 2**-52, 1 + 2**-23),  # just above halfway
        (1 + 2**-23 - 2**-52, 1 + 2**-23),
        (2**24 + 1, 2.0**24),
        (2**24 + 3, 2.0**24 + 4),
        # Fractions that a double would round onto the halfway point: a second rounding would go wrong.
        (1 + Fraction(1, 2**24) + Fraction(1, 2**80), 1 + 2**-23),
        (1 + Fraction(1, 2**24) - Fraction(1, 2**80), 1.0),
        (1 + Fraction(3, 2**24) + Fraction(1, 2**80), 1 + 2**-22),
        (1 + Fraction(3, 2**24) - Fraction(1, 2**80), 1 + 2**-23),
        (-1 - Fraction(1, 2**24) - Fraction(1, 2**80), -1 - 2**-23),
        (-1 - Fraction(1, 2**24) + Fraction(1, 2**80), -1.0),
        (Fraction(1, 3), float.fromhex("0x1.555556p-2")),
        # Exactly halfway between two doubles, right above a halfway point of float32.
        (1 + Fraction(1, 2**24) + Fraction(1, 2**53), 1 + 2**-23),
        # Between a halfway point and the double next to it, which is the nearer one and has an odd last bit.
        (1 + Fraction(1, 2**24) + Fraction(3, 2**54), 1 + 2**-23),
        (1 + Fraction(3, 2**24) - Fraction(3, 2**54), 1 + 2**-23),
    ],
)
def test_a_component_becomes_the_nearest_float32_from_its_exact_value(value: Any, expected: float) -> None:
    assert nearest_float32(Fraction(value)) == expected
    assert as_vector([value]) == [expected]
    assert as_vector([1, value])[1] == expected
    assert as_vector((-value,)) == [-expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.0**-149, 2.0**-149),
        (2.0**-150, 0.0),  # halfway: to the even 0
        (math.nextafter(2.0**-150, 1.0), 2.0**-149),
        (3 * 2.0**-150, 2.0**-148),  # halfway: to the even 2
        (Fraction(1, 2**150) + Fraction(1, 2**300), 2.0**-149),
        (Fraction(1, 2**150) - Fraction(1, 2**300), 0.0),
        (2.0**-126 - 2.0**-149, 2.0**-126 - 2.0**-149),
        (5e-324, 0.0),
        (Fraction(1, 10**400), 0.0),
    ],
)
def test_a_subnormal_component_is_rounded_too(value: Any, expected: float) -> None:
    assert as_vector([1.0, value, -value]) == [1.0, expected, -expected]


@pytest.mark.skipif(not WIDE_LONG_DOUBLE, reason="long double is no wider than double here")
def test_a_long_double_is_not_rounded_twice() -> None:
    half, little = numpy.longdouble(2) ** -24, numpy.longdouble(2) ** -60
    values = [1 + half + little, 1 + half - little, 1 + half, -1 - half - little]
    expected = [1 + 2**-23, 1.0, 1.0, -1 - 2**-23]
    assert as_vector(values) == as_vector(numpy.array(values)) == expected


def test_a_zero_keeps_its_sign() -> None:
    found = as_vector([1.0, -0.0, 0.0, 0])
    assert [math.copysign(1.0, component) for component in found] == [1.0, -1.0, 1.0, 1.0]


def test_a_vector_that_was_accepted_is_accepted_unchanged() -> None:
    found = as_vector([0.1, 2.0**-149, -3.3, Fraction(1, 3)])
    assert as_vector(found) == found
    assert as_vector(numpy.array(found, numpy.float32)) == found


@pytest.mark.parametrize(
    "value",
    [
        *[math.nan, math.inf, -math.inf, 1e39, -1e39, 1.7976931348623157e308],
        # The halfway point between the largest float32 and 2**128 rounds to the even 2**128.
        float(2**128 - 2**103),
        *[
            numpy.float32(math.nan),
            numpy.float16(math.inf),
            numpy.float64(-math.inf),
            numpy.longdouble(math.nan),
        ],
        *[2**128, 10**400, Fraction(10**400), Fraction(-(10**400))],
        pytest.param(HUGE, id="huge"),
        pytest.param(-HUGE, id="-huge"),
        pytest.param(numpy.finfo(numpy.longdouble).max, id="longest"),
    ],
)
def test_a_component_beyond_float32_is_an_invalid_vector(value: Any) -> None:
    with pytest.raises(InvalidVectorError, match=r"^embedding\[1\] must be a finite float32, got "):
        as_vector([1.0, value, 1.0])
    with pytest.raises(InvalidVectorError, match=r"^vector\[0\] must be a finite float32, got "):
        as_vector((value, 1), "vector")


def test_a_component_just_below_the_halfway_point_to_infinity_is_told_by_its_norm() -> None:
    # It rounds to the largest float32, whose norm no vector may have.
    with pytest.raises(InvalidVectorError, match="norm"):
        as_vector([math.nextafter(2.0**128 - 2**103, 0.0)])
    with pytest.raises(InvalidVectorError, match="norm"):
        as_vector([LARGEST_FLOAT32])


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63, 2**64 + 1, 2**127])
def test_an_integer_that_no_double_holds_is_told_by_its_norm(value: int) -> None:
    with pytest.raises(InvalidVectorError, match="norm"):
        as_vector([value])


# Norms


@pytest.mark.parametrize(
    "values", [[], (), numpy.array([]), [0.0], [0, 0], [-0.0] * 3, [5e-324], [1e-46] * 9]
)
def test_a_vector_without_a_norm_is_refused(values: Any) -> None:
    with pytest.raises(
        InvalidVectorError, match=r"embedding must have a norm from 2\*\*-50 to 2\*\*50, got 0.0$"
    ):
        as_vector(values)


SMALLEST, LARGEST = 2.0**-50, 2.0**50


@pytest.mark.parametrize(
    "values",
    [
        *[[SMALLEST], [LARGEST], [-SMALLEST], [-LARGEST], [SMALLEST + 2.0**-73], [LARGEST - 2.0**26]],
        *[[SMALLEST / 2] * 4, [LARGEST / 2] * 4, [SMALLEST, 2.0**-149]],
        # The exact squared norm lies above 2**100 by 2**-298, and rounds to it.
        [LARGEST, 2.0**-149],
        # 2**100 + 2**46 is 2**-7 of a unit above; 2**100 + 2**47 is halfway, and rounds to the even 2**100.
        *[[LARGEST, 2.0**23], [LARGEST, 2.0**23, 2.0**23]],
        # Doubles that round to the bounds in float32 are judged as they are stored.
        *[[SMALLEST * (1 - 2.0**-26)], [LARGEST * (1 + 2.0**-25)]],
    ],
)
def test_both_bounds_of_the_norm_are_within(values: list[float]) -> None:
    assert as_vector(values) == values or len(values) == 1
    assert as_vector([0.0, *values])[0] == 0.0


@pytest.mark.parametrize(
    "values",
    [
        *[[SMALLEST - 2.0**-74], [LARGEST + 2.0**27], [SMALLEST / 2] * 3, [LARGEST / 2] * 5, [1e38, 1e38]],
        # One more than halfway above 2**100: 2**100 + 3 * 2**46 rounds to 2**100 + 2**48.
        [LARGEST, 2.0**23, 2.0**23, 2.0**23],
    ],
)
def test_a_norm_just_outside_is_refused(values: list[float]) -> None:
    with pytest.raises(InvalidVectorError, match=r"vector must have a norm from 2\*\*-50 to 2\*\*50, got "):
        as_vector(values, "vector")


# Width


def test_a_vector_of_another_width_is_a_dimension_mismatch() -> None:
    require_width(2, [1.0, 2.0])
    with pytest.raises(DimensionMismatchError, match=r"^embedding: expected 2 dimensions, got 3$") as caught:
        require_width(2, [1.0, 2.0, 3.0])
    assert (caught.value.expected, caught.value.actual) == (2, 3)
    with pytest.raises(DimensionMismatchError, match=r"^query: expected 2 dimensions, got 0$"):
        require_width(2, [], "query")


@pytest.mark.parametrize(("left", "right"), [([1.0], [1.0, 0.0]), ([1.0, 0.0], [1.0]), ([1.0], [])])
def test_vectors_of_two_widths_have_no_score(left: list[float], right: list[float]) -> None:
    with pytest.raises(DimensionMismatchError) as caught:
        score(left, right)
    assert (caught.value.expected, caught.value.actual) == (len(left), len(right))


# Cosine


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1.0, 0.0], [1.0, 0.0], 1.0),
        ([1.0, 0.0], [0.0, 1.0], 0.5),
        ([1.0, 0.0], [-1.0, 0.0], 0.0),
        ([3.0, 4.0], [4.0, 3.0], 0.98),  # 24 / 25
        ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0], 0.75),  # 2 / 4
        ([1.0, 0.0], [-3.0, 4.0], 0.2),  # -3 / 5
        ([0.0, -0.0, 2.0], [-0.0, 0.0, 5.0], 1.0),
        ([LARGEST], [SMALLEST], 1.0),
        ([LARGEST, SMALLEST], [SMALLEST, -LARGEST], 0.5),
    ],
)
def test_a_score_is_half_of_one_plus_the_cosine(
    left: list[float], right: list[float], expected: float
) -> None:
    assert score(left, right) == score(right, left) == expected


def test_a_sum_of_products_is_rounded_once() -> None:
    # Added from the left in doubles, 2**53 + 1 - 2**53 would be 0.
    left, right = [2.0**30, 1.0, 2.0**30], [2.0**23, 1.0, -(2.0**23)]
    assert dot_product(left, right) == 1.0
    assert squared_norm([2.0**27, 1.0, 1.0]) == 2.0**54 + 0.0  # 2**54 + 2 is halfway: to even
    assert squared_norm([2.0**27, 1.0, 1.0, 1.0]) == 2.0**54 + 4.0
    assert dot_product([], []) == 0.0


def test_a_score_depends_on_no_order_of_components() -> None:
    draw = random.Random(20)  # noqa: S311
    left = as_vector([draw.gauss(0, 1) * 2.0 ** draw.randint(-20, 20) for _ in range(64)])
    right = as_vector([draw.gauss(0, 1) * 2.0 ** draw.randint(-20, 20) for _ in range(64)])
    expected = score_by_hand(left, right)
    pairs = list(zip(left, right, strict=True))
    for _ in range(20):
        draw.shuffle(pairs)
        assert score(*zip(*pairs, strict=True)) == expected


ADVERSARIAL: list[list[float]] = [
    *[[0.1], [0.1, 0.2, 0.3], [1 / 3] * 7, [1e-15], [1e15], [SMALLEST] * 3, [LARGEST / 2, 1.0, SMALLEST]],
    *[[1 + 2.0**-23] * 3, [2.0**24 - 1, 1.0], [LARGEST, 2.0**-149], [0.7071067811865476] * 2, [0.1] * 1536],
]


@pytest.mark.parametrize("values", ADVERSARIAL)
def test_a_vector_scores_exactly_one_with_itself(values: list[float]) -> None:
    vector = as_vector(values)
    opposite = [-component for component in vector]
    assert score(vector, vector) == 1.0
    assert score(vector, opposite) == 0.0


@pytest.mark.parametrize("values", [[0.1, 0.7], [1 / 3] * 7, [1 + 2.0**-23] * 3, [0.1] * 1536])
def test_a_power_of_two_times_a_vector_scores_exactly_one_with_it(values: list[float]) -> None:
    vector = as_vector(values)
    assert score(vector, [component * 2.0**-20 for component in vector]) == 1.0
    assert score(vector, [component * -(2.0**20) for component in vector]) == 0.0


def test_a_cosine_that_rounding_pushed_beyond_one_is_clamped() -> None:
    assert cosine(math.nextafter(1.0, 2.0), 1.0, 1.0) > 1.0
    assert cosine_score(math.nextafter(1.0, 2.0)) == cosine_score(1.5) == 1.0
    assert cosine_score(math.nextafter(-1.0, -2.0)) == cosine_score(-1.5) == 0.0
    assert cosine_score(-0.0) == 0.5


def test_multiples_may_score_one_unit_below_one() -> None:
    # 25 times the left vector, every component exact: the rule's roundings show, and they are the rule.
    left = [5131968.0, 77360128.0, 497.341796875]
    right = [25 * component for component in left]
    assert as_vector(right) == right
    assert score(left, right) == score_by_hand(left, right) == 1 - 2.0**-53


def test_cosines_too_close_for_a_score_are_ties() -> None:
    query = [1.0, 0.0]
    assert score(query, [2.0**-54, 1.0]) == score(query, [2.0**-60, 1.0]) == score(query, [0.0, 1.0]) == 0.5
    assert score(query, [2.0**-51, 1.0]) > 0.5


def test_the_error_bound_grows_with_the_width() -> None:
    assert cosine_error_bound(1, 2.0**-24) == 18 * 2.0**-24
    assert cosine_error_bound(1024, FLOAT32_ROUNDOFF) == 2064 / 2**24
    assert cosine_error_bound(1024, FLOAT64_ROUNDOFF) == 2064 / 2**53


@pytest.mark.parametrize("dimension", [1, 2, 3, 16, 100, 384])
def test_an_approximate_cosine_lies_within_the_bound(dimension: int) -> None:
    draw = random.Random(dimension)  # noqa: S311
    for scale in (-48, -20, 0, 20, 40):
        left = as_vector([draw.gauss(0, 1) * 2.0 ** (scale + draw.randint(-2, 2)) for _ in range(dimension)])
        right = as_vector([draw.gauss(0, 1) * 2.0 ** draw.randint(-2, 2) for _ in range(dimension)])
        exact = cosine(dot_product(left, right), squared_norm(left), squared_norm(right))
        narrow = numpy.array(left, numpy.float32), numpy.array(right, numpy.float32)
        approximate = (
            float(narrow[0] @ narrow[1]) / math.sqrt(squared_norm(left)) / math.sqrt(squared_norm(right))
        )
        assert abs(approximate - exact) <= cosine_error_bound(dimension, FLOAT32_ROUNDOFF)


# Drawn

components = st.floats(width=32, min_value=-(2.0**40), max_value=2.0**40)
vectors = st.lists(components, min_size=1, max_size=8).filter(lambda each: exact_dot(each, each) >= 2.0**-98)
pairs_of_vectors = st.integers(1, 6).flatmap(
    lambda width: st.tuples(*[st.lists(components, min_size=width, max_size=width)] * 2)
)


@pytest.mark.drawn
@given(
    st.floats(-1e30, 1e30)
    | st.integers(-(10**14), 10**14)
    | st.fractions(-(10**6), 10**6)
    | st.builds(
        lambda numerator, exponent, nudge: Fraction(2 * numerator + 1, 2) * Fraction(2) ** exponent + nudge,
        st.integers(2**23, 2**24 - 1),
        st.integers(-60, 20),
        st.sampled_from([Fraction(0), Fraction(1, 2**200), Fraction(-1, 2**200)]),
    )
)
def test_every_number_becomes_its_nearest_float32(value: float | Fraction) -> None:
    expected = nearest_float32(Fraction(value))
    assume(abs(expected) <= 2**50)
    found = as_vector([1.0, value])[1]
    assert found == expected


@pytest.mark.drawn
@given(pairs_of_vectors)
def test_every_dot_product_is_the_exact_sum_rounded_once(pair: tuple[list[float], list[float]]) -> None:
    assert dot_product(*pair) == rounded(exact_dot(*pair))


@pytest.mark.drawn
@given(pairs_of_vectors)
def test_every_score_is_the_rule_and_symmetric(pair: tuple[list[float], list[float]]) -> None:
    left, right = pair
    assume(all(exact_dot(each, each) >= 2.0**-100 for each in pair))
    assert score(left, right) == score(right, left) == score_by_hand(left, right)
    assert 0.0 <= score(left, right) <= 1.0


@pytest.mark.drawn
@given(vectors)
def test_every_vector_scores_one_with_itself(values: list[float]) -> None:
    vector = as_vector(values)
    assert vector == values
    assert score(vector, vector) == 1.0
