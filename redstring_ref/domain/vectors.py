"""Vectors and cosine: what is accepted, how it is rounded, how two vectors score. No ranking."""

import math
import struct
from array import array
from collections.abc import Sequence
from numbers import Real
from operator import mul

from redstring_ref.domain.errors import DimensionMismatchError, InvalidVectorError, got

MIN_NORM = 2.0**-50
MAX_NORM = 2.0**50

FLOAT32_ROUNDOFF = 2.0**-24
FLOAT64_ROUNDOFF = 2.0**-53


def as_vector(values: object, field: str = "embedding") -> list[float]:
    """Return `values` as a list of float32 values, kept as Python floats.

    Any sequence of real numbers goes in: a list, a tuple, an array, a numpy array. Each
    component becomes its nearest float32, ties to even. A bool, a string, a nested sequence or
    a non-sequence is a `TypeError`; NaN, an infinity, a component beyond float32 or a norm
    outside 2**-50 to 2**50 is an `InvalidVectorError`.

    >>> as_vector((1, 0.1))
    [1.0, 0.10000000149011612]

    Spec: VEC-1, VEC-2.
    """
    # What is float32 already has nothing to round.
    doubles = values if isinstance(values, array) and values.typecode == "f" else _doubles(values, field)
    vector: list[float] = doubles.tolist() if isinstance(doubles, array) else array("f", doubles).tolist()
    # Far within the bounds, one quick norm tells all: it is finite only if every component is.
    if MIN_NORM * 2.0 < math.hypot(*vector) < MAX_NORM / 2.0:
        return vector
    if not all(map(math.isfinite, vector)):
        position = [math.isfinite(component) for component in vector].index(False)
        raise InvalidVectorError(f"{field}[{position}] must be a finite float32, got {doubles[position]!r}")
    norm = squared_norm(vector)
    if not MIN_NORM**2 <= norm <= MAX_NORM**2:
        raise InvalidVectorError(f"{field} must have a norm from 2**-50 to 2**50, got {math.sqrt(norm)}")
    return vector


def _doubles(values: object, field: str) -> list[float]:
    """Return one double for each component, each of which rounds to the component's nearest float32."""
    # numpy arrays and array.array turn into Python numbers much faster in one call.
    items = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(items, Sequence) or isinstance(items, str | bytes | bytearray):
        raise TypeError(f"{field} must be a sequence of real numbers, {got(values)}")
    if set(map(type, items)) == {float}:
        return list(items)
    return [_double(item, f"{field}[{position}]") for position, item in enumerate(items)]


def _double(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{field} must be a real number, {got(value)}")
    try:
        double = float(value)
    except OverflowError:
        raise InvalidVectorError(f"{field} must be a finite float32, {got(value)}") from None
    if double == value or math.isnan(double):
        return double
    # A fraction between two doubles must not be rounded twice: of its two neighbours, the one
    # with an odd last bit lies on the same side of every float32 midpoint.
    neighbour = math.nextafter(double, -math.inf if value < double else math.inf)
    return double if struct.pack(">d", double)[-1] & 1 else neighbour


def require_width(expected: int, vector: Sequence[float], what: str = "embedding") -> None:
    """Raise `DimensionMismatchError` unless `vector` has `expected` components.

    Spec: VEC-5.
    """
    if len(vector) != expected:
        raise DimensionMismatchError(expected, len(vector), what)


def dot_product(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the correctly rounded dot product of two float32 vectors of one width.

    Spec: VEC-3.
    """
    return math.fsum(map(mul, left, right))


def squared_norm(vector: Sequence[float]) -> float:
    """Return the correctly rounded squared norm of a float32 vector.

    Spec: VEC-3.
    """
    return dot_product(vector, vector)


def cosine(dot: float, left_squared_norm: float, right_squared_norm: float) -> float:
    """Return the cosine from the three correctly rounded sums.

    Spec: VEC-3.
    """
    return dot / math.sqrt(left_squared_norm * right_squared_norm)


def cosine_score(cosine: float) -> float:
    """Return the score of a cosine: `(1 + cosine) / 2`, within 0 and 1.

    Spec: VEC-4.
    """
    return min(1.0, max(0.0, (1.0 + cosine) / 2.0))


def score(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the similarity of two vectors as `as_vector` returns them: 1.0 for equal vectors, exactly.

    Vectors of different widths are a `DimensionMismatchError`.

    >>> score([1.0, 0.0], [1.0, 0.0]), score([1.0, 0.0], [0.0, 2.0]), score([1.0, 0.0], [-3.0, 0.0])
    (1.0, 0.5, 0.0)

    Spec: VEC-3, VEC-4.
    """
    return score_to(left, squared_norm(left), right)


def score_to(query: Sequence[float], query_squared_norm: float, vector: Sequence[float]) -> float:
    """Return `score(query, vector)`, the query's squared norm being known.

    Spec: VEC-3, VEC-4.
    """
    require_width(len(query), vector, "vector")
    return cosine_score(cosine(dot_product(query, vector), query_squared_norm, squared_norm(vector)))


def cosine_error_bound(dimension: int, roundoff: float) -> float:
    """Return how far an approximate cosine may lie from the exact rule's.

    It holds for every order of summation, fused or not, with products and sums rounded to
    `roundoff` (`FLOAT32_ROUNDOFF`, `FLOAT64_ROUNDOFF`), and for hardware that flushes subnormal
    numbers to zero: the classic bound `n·u·|q|·|v|` on a dot product (Higham, Accuracy and
    Stability of Numerical Algorithms, section 3.1), once more for what the flushing loses,
    and a few roundings for the division. `dimension * roundoff` must be below 1/8.

    Spec: VEC-6.
    """
    return (2 * dimension + 16) * roundoff
