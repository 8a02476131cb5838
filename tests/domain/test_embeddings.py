"""What counts as a provider's answer."""

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import (
    DimensionMismatchError,
    EmbeddingProviderError,
    InvalidVectorError,
    as_vector,
)
from redstring_ref.domain.embeddings import require_embeddings

A, B, C, D = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]


def generator() -> Iterator[list[float]]:
    yield from (A, B, C)


@pytest.mark.parametrize(
    "answer",
    [
        [A, B, C],
        ((1, 0), (0, 1), (1, 1)),
        np.array([A, B, C], dtype=np.float32),
        [np.array(A), array("d", B), (1, 1.0)],
    ],
    ids=["lists", "tuples of integers", "numpy matrix", "mixed"],
)
def test_one_vector_a_text_comes_back_as_float32_lists(answer: object) -> None:
    assert require_embeddings(answer, expected=3, dimension=2) == [A, B, C]


def test_components_are_rounded_to_float32() -> None:
    assert require_embeddings([[0.1]], expected=1, dimension=1) == [[0.10000000149011612]]


def test_no_texts_have_no_vectors() -> None:
    assert require_embeddings([], expected=0, dimension=2) == []


def test_the_vectors_are_copies() -> None:
    answer = [[1.0, 0.0]]
    vectors = require_embeddings(answer, expected=1, dimension=2)
    answer[0][0] = 9.0
    assert vectors == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("make_answer", "actual"),
    [
        (lambda: [A, B], 2),
        (lambda: [A, B, C, D], 4),
        (list, 0),
        (lambda: [1.0, 0.0, 1.0], 3),
        (lambda: [1.0, 0.0], 2),
        (lambda: [A, None, C], 3),
        (lambda: [A, "10", C], 3),
        (lambda: [A, [1.0, "0"], C], 3),
        (lambda: [A, [True, False], C], 3),
        (lambda: [A, [[1.0], [0.0]], C], 3),
        (lambda: None, None),
        (lambda: 3, None),
        (generator, None),
        (lambda: "abc", 3),
        (lambda: b"abc", 3),
        (lambda: {"a": A, "b": B, "c": C}, 3),
        (lambda: {1, 2, 3}, 3),
        # Vectors all three, but in an order that nobody gave them, or as the keys of something else.
        (lambda: frozenset([tuple(A), tuple(B), tuple(C)]), 3),
        (lambda: dict.fromkeys([tuple(A), tuple(B), tuple(C)]), 3),
        (lambda: range(3), 3),
        (lambda: np.array([1.0, 2.0, 3.0]), 3),
        (lambda: np.array(1.0), None),
        (lambda: np.array([A, B]), 2),
    ],
)
def test_an_answer_that_is_not_three_vectors_is_an_error_with_both_counts(
    make_answer: Callable[[], object], actual: int | None
) -> None:
    with pytest.raises(EmbeddingProviderError) as caught:
        require_embeddings(make_answer(), expected=3, dimension=2)
    assert (caught.value.expected, caught.value.actual) == (3, actual)


def test_the_error_of_a_wrong_count_names_both() -> None:
    with pytest.raises(EmbeddingProviderError, match="one vector a text: expected 3, got 2"):
        require_embeddings([A, B], expected=3, dimension=2)


def test_the_error_of_a_non_vector_names_its_place() -> None:
    with pytest.raises(EmbeddingProviderError, match=r"vectors\[1\]\[0\] must be a real number"):
        require_embeddings([A, ["x", 1.0]], expected=2, dimension=2)


def test_a_vector_of_another_width_is_a_dimension_mismatch() -> None:
    with pytest.raises(DimensionMismatchError, match=r"vectors\[1\]") as caught:
        require_embeddings([A, [1.0, 2.0, 3.0], C], expected=3, dimension=2)
    assert (caught.value.expected, caught.value.actual) == (2, 3)


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e39, 1.0], []])
def test_a_vector_that_no_store_can_rank_is_invalid(vector: list[float]) -> None:
    with pytest.raises(InvalidVectorError, match=r"vectors\[2\]"):
        require_embeddings([A, B, vector], expected=3, dimension=2)


COMPONENTS = st.floats(-1e6, 1e6, width=32).filter(lambda number: abs(number) > 1e-6)


@pytest.mark.drawn
@given(st.lists(st.lists(COMPONENTS, min_size=3, max_size=3), max_size=6))
def test_every_good_answer_comes_back_as_as_vector_gives_it(answer: list[list[float]]) -> None:
    assert require_embeddings(answer, expected=len(answer), dimension=3) == [as_vector(v) for v in answer]


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.drawn
@given(ANYTHING)
def test_every_answer_is_vectors_or_an_error_of_the_family(answer: object) -> None:
    try:
        vectors = require_embeddings(answer, expected=2, dimension=2)
    except (EmbeddingProviderError, DimensionMismatchError, InvalidVectorError):
        return
    assert [len(vector) for vector in vectors] == [2, 2]
