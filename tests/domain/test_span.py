"""Spans: half-open, never empty, ordered by start, then end."""

from dataclasses import FrozenInstanceError

import pytest

from redstring_ref.domain import TextSpan


def test_a_span_is_the_text_from_start_to_before_end() -> None:
    span = TextSpan(1, 3)
    assert "abcd"[span.start : span.end] == "bc"


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 2**40), (5, 6), (10**400, 10**400 + 1)])
def test_a_span_holds_at_least_one_character(start: int, end: int) -> None:
    assert TextSpan(start, end) == TextSpan(start=start, end=end)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 3), (3, 2), (-1, 1), (-2, -1), (0, -1)])
def test_an_empty_or_negative_span_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=rf"^a span must have 0 <= start < end, got {start} and {end}$"):
        TextSpan(start, end)


def test_a_span_of_numbers_that_python_does_not_print_is_refused_alike() -> None:
    with pytest.raises(ValueError, match=r"^a span must have 0 <= start < end, got <16610 bits> and 2$"):
        TextSpan(10**5000, 2)


def test_spans_are_ordered_by_start_then_end() -> None:
    spans = [TextSpan(2, 3), TextSpan(0, 9), TextSpan(0, 1), TextSpan(1, 2)]
    assert sorted(spans) == [TextSpan(0, 1), TextSpan(0, 9), TextSpan(1, 2), TextSpan(2, 3)]


def test_a_span_does_not_change() -> None:
    span = TextSpan(0, 1)
    with pytest.raises(FrozenInstanceError):
        span.end = 5  # type: ignore[misc]
    assert len({span, TextSpan(0, 1)}) == 1
