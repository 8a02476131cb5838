"""Rules for the numbers that callers pass: limits, thresholds, widths, ranges. Not the values stored."""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from numbers import Real
from operator import index
from typing import SupportsIndex, TypeVar

from redstring_ref.domain.errors import got, shown
from redstring_ref.domain.storable import require_text

Item = TypeVar("Item")


def require_integer(field: str, value: object) -> int:
    """Return `value` as an `int`: anything with `__index__` but a bool, else `TypeError`."""
    # A look at a Protocol takes a hundred times as long.
    if type(value) is int:
        return value
    # numpy's bool has no place here either, and no longer offers `__index__`.
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        # numpy's arrays all have an `__index__`, which refuses what is not one integer; so has a class.
        with suppress(TypeError):
            return index(value)
    raise TypeError(f"{field} must be an integer, {got(value)}")


def require_at_least(minimum: int, field: str, value: object) -> int:
    """Return `value` as an `int` of at least `minimum`, else raise a `ValueError`."""
    number = require_integer(field, value)
    if number < minimum:
        raise ValueError(f"{field} must be at least {minimum}, got {shown(number)}")
    return number


def require_limit(field: str, value: object) -> int:
    """Return how many results may come back: 0 means none, and there is no upper bound.

    A bool or a non-integer is a `TypeError`, a negative number a `ValueError`.

    Spec: ORD-2.
    """
    return require_at_least(0, field, value)


def require_dimension(value: object) -> int:
    """Return `value` if it can be the width of vectors: an integer of at least 1.

    Spec: VEC-5.
    """
    return require_at_least(1, "dimension", value)


def require_min_score(value: object) -> float | None:
    """Return the least double that is not below the threshold, `None` for none.

    A score is a double, so it is at or above either both or neither. A bool or a non-number is a
    `TypeError`; NaN, or a number beyond a double, a `ValueError`.

    Spec: ORD-3.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"min_score must be a real number, {got(value)}")
    try:
        threshold = float(value)
    except OverflowError:
        raise ValueError("min_score must fit a double") from None
    # numpy's long double turns into an infinity where a Python number overflows.
    if math.isinf(threshold) and threshold != value:
        raise ValueError("min_score must fit a double")
    if math.isnan(threshold):
        raise ValueError("min_score must not be NaN")
    return threshold if value <= threshold else math.nextafter(threshold, math.inf)


def require_iterable(field: str, values: Iterable[Item]) -> Iterator[Item]:
    """Return an iterator over `values`; what Python cannot iterate over is a `TypeError`.

    Spec: PRT-4.
    """
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{field} must be an iterable, {got(values)}") from None


def require_strings(field: str, values: object) -> list[str]:
    """Return `values` as a list of storable strings; a lone `str` is a `TypeError`, not its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{field} must be an iterable of str, {got(values)}")
    return [require_text(f"{field}[{position}]", value) for position, value in enumerate(values)]
