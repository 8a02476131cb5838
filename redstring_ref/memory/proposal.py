"""Approximate cosines of one query with every row of a block, by the fastest that the interpreter has.

They only propose: `vector_index` scores what they cannot rule out by the exact rule.
"""

import math
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import mul
from types import ModuleType

from redstring_ref.domain.vectors import FLOAT32_ROUNDOFF, FLOAT64_ROUNDOFF, squared_norm

# Beyond it the float32 error bound says nothing of use, and its proof needs a narrower vector.
MAX_FLOAT32_DIMENSION = 2**20


@dataclass(frozen=True, slots=True)
class Proposal:
    """A way to compute approximate cosines, and the unit roundoff of its arithmetic.

    `cosines(query, vectors, squared_norms)` takes the rows one after the other as float32 and
    their squared norms as doubles, and returns one cosine a row.

    Spec: VEC-6.
    """

    roundoff: float
    cosines: Callable[[Sequence[float], "array[float]", "array[float]"], list[float]]


def by_sum(query: Sequence[float], vectors: "array[float]", squared_norms: "array[float]") -> list[float]:
    """Add the products up one by one in doubles."""
    return _divided((sum(map(mul, query, row)) for row in _rows(vectors, len(query))), query, squared_norms)


def by_sumprod(query: Sequence[float], vectors: "array[float]", squared_norms: "array[float]") -> list[float]:
    """Leave the sum of products to `math.sumprod`, of Python 3.12 and later."""
    if sys.version_info < (3, 12):
        raise NotImplementedError("math.sumprod needs Python 3.12")
    return _divided((math.sumprod(query, row) for row in _rows(vectors, len(query))), query, squared_norms)


def by_numpy(query: Sequence[float], vectors: "array[float]", squared_norms: "array[float]") -> list[float]:
    """Multiply the block with the query in float32, without a copy of it."""
    numpy = import_module("numpy")
    rows = numpy.frombuffer(vectors, numpy.float32).reshape(-1, len(query))
    # What underflows is within the error bound, whatever the program has told numpy to do about it.
    with numpy.errstate(under="ignore"):
        dots = (rows @ numpy.array(query, numpy.float32)).astype(numpy.float64)
    cosines = dots / numpy.sqrt(numpy.frombuffer(squared_norms, numpy.float64) * squared_norm(query))
    return list(cosines.tolist())


def fastest(dimension: int) -> Proposal:
    """Return the fastest proposal for vectors of this width."""
    if dimension <= MAX_FLOAT32_DIMENSION and _numpy() is not None:
        return Proposal(FLOAT32_ROUNDOFF, by_numpy)
    return Proposal(FLOAT64_ROUNDOFF, by_sum if sys.version_info < (3, 12) else by_sumprod)


@cache
def _numpy() -> ModuleType | None:
    """Return numpy where it is installed; it is looked for at the first scan, not at import."""
    try:
        return import_module("numpy")
    except ImportError:
        return None


def _rows(vectors: "array[float]", dimension: int) -> "Iterator[array[float]]":
    return (vectors[start : start + dimension] for start in range(0, len(vectors), dimension))


def _divided(dots: Iterable[float], query: Sequence[float], squared_norms: "array[float]") -> list[float]:
    norm = squared_norm(query)
    return [dot / math.sqrt(norm * square) for dot, square in zip(dots, squared_norms, strict=True)]
