"""BM25: numbers worked out by hand, in fractions and decimals, and the edges of a corpus."""

import math
import random
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import (
    BM25_B,
    BM25_K1,
    CorpusStats,
    TermWeight,
    bm25_score,
    inverse_document_frequency,
    term_weight,
    term_weights,
)

HUGE = 10**5000


def idf_by_hand(n_docs: int, doc_frequency: int) -> Decimal:
    """Return LEX-1 to 28 digits: `1 + (N - df + 1/2) / (df + 1/2)` is `(2N + 2) / (2df + 1)`."""
    return (Decimal(2 * n_docs + 2) / Decimal(2 * doc_frequency + 1)).ln()


def rounded(value: Fraction) -> Fraction:
    return Fraction(value.numerator / value.denominator)


def weight_by_hand(idf: float, term_frequency: int, doc_length: int, average: float) -> float:
    """Return LEX-2 with one rounding for each operation, in the order that the rule writes them."""
    ratio = rounded(doc_length / Fraction(average))
    norm = rounded(Fraction(1.2) * rounded(Fraction(1, 4) + rounded(Fraction(3, 4) * ratio)))
    return float(rounded(Fraction(idf) * rounded(term_frequency / rounded(term_frequency + norm))))


def test_the_constants_are_those_of_lucene() -> None:
    assert (BM25_K1, BM25_B) == (1.2, 0.75)


@pytest.mark.parametrize(
    ("n_docs", "doc_frequency", "expected"),
    [
        (3, 1, "0.980829253011726"),  # ln(8/3)
        (1, 1, "0.287682072451781"),  # ln(4/3)
        (1, 0, "1.386294361119891"),  # ln 4
        (0, 0, "0.693147180559945"),  # ln 2
        (2, 1, "0.693147180559945"),  # ln(6/3)
        (10, 10, "0.046520015634893"),  # ln(22/21)
        (1_000_000, 1, "13.410046449855"),  # ln(2000002/3), 6 · ln(10) + ln(2/3) and a little
    ],
)
def test_the_idf_is_the_natural_logarithm_of_the_rule(n_docs: int, doc_frequency: int, expected: str) -> None:
    found = inverse_document_frequency(n_docs, doc_frequency)
    assert math.isclose(found, float(expected), rel_tol=1e-10)
    assert math.isclose(found, float(idf_by_hand(n_docs, doc_frequency)), rel_tol=1e-14)


@pytest.mark.parametrize("n_docs", [1, 2, 3, 10, 1000, 10**6, 10**9])
def test_a_term_in_every_chunk_weighs_more_than_nothing(n_docs: int) -> None:
    assert inverse_document_frequency(n_docs, n_docs) > 0.0
    stats = CorpusStats(n_docs, n_docs, {"x": n_docs})
    assert bm25_score(["x"], {"x": 1}, 1, stats) > 0.0


def test_a_rarer_term_weighs_more() -> None:
    idfs = [inverse_document_frequency(100, doc_frequency) for doc_frequency in range(101)]
    assert idfs == sorted(idfs, reverse=True)
    assert len(set(idfs)) == 101


@pytest.mark.parametrize(
    ("term_frequency", "doc_length", "average", "expected"),
    [
        (1, 4, 4.0, Fraction(10, 22)),  # 1 / (1 + 1.2)
        (2, 4, 4.0, Fraction(20, 32)),  # 2 / (2 + 1.2)
        (1, 8, 4.0, Fraction(100, 310)),  # 1 / (1 + 1.2 · (0.25 + 1.5))
        (1, 2, 4.0, Fraction(100, 175)),  # 1 / (1 + 1.2 · (0.25 + 0.375))
        (3, 10, 4.5, Fraction(300, 530)),  # 3 / (3 + 1.2 · (0.25 + 0.75 · 20/9)), that is 3 / 5.3
        (1, 0, 4.0, Fraction(100, 130)),  # 1 / (1 + 1.2 · 0.25)
    ],
)
def test_a_weight_saturates_with_frequency_and_shrinks_with_length(
    term_frequency: int, doc_length: int, average: float, expected: Fraction
) -> None:
    found = term_weight(2.0, term_frequency, doc_length, average)
    assert math.isclose(found, 2 * expected, rel_tol=1e-15)
    assert found == weight_by_hand(2.0, term_frequency, doc_length, average)


@pytest.mark.parametrize(
    ("term_frequency", "doc_length", "average"),
    [(0, 4, 4.0), (0, 0, 0.0), (1, 1, 0.0), (0, 10, 0.0), (5, 0, 0.0)],
)
def test_an_absent_term_or_a_corpus_without_terms_weighs_nothing(
    term_frequency: int, doc_length: int, average: float
) -> None:
    assert term_weight(2.0, term_frequency, doc_length, average) == 0.0


# Scores

STATS = CorpusStats(n_docs=3, total_doc_length=12, doc_frequencies={"tie": 1, "order": 2, "absent": 0})


def test_a_score_is_the_sum_of_the_weights() -> None:
    # ln(8/3) · 2/3.2 + ln(8/5) · 1/2.2
    expected = idf_by_hand(3, 1) * 2 / Decimal("3.2") + idf_by_hand(3, 2) / Decimal("2.2")
    found = bm25_score(["tie", "order"], {"tie": 2, "order": 1}, 4, STATS)
    assert math.isclose(found, float(expected), rel_tol=1e-15)
    assert round(found, 12) == 0.826656296426  # 0.613018283132 + 0.213638013294


@pytest.mark.parametrize("repeats", [1, 2, 3, 7])
def test_a_repeated_query_term_adds_its_weight_again(repeats: int) -> None:
    once = bm25_score(["tie"], {"tie": 2}, 4, STATS)
    found = bm25_score(["tie"] * repeats, {"tie": 2}, 4, STATS)
    assert found == rounded(repeats * Fraction(once))


def test_the_weights_are_told_in_the_order_of_the_query() -> None:
    found = list(term_weights(["order", "tie", "absent", "order"], {"tie": 2, "order": 1}, 4, STATS))
    assert [each.term for each in found] == ["order", "tie", "absent", "order"]
    assert [each.term_frequency for each in found] == [1, 2, 0, 1]
    assert [each.doc_frequency for each in found] == [2, 1, 0, 2]
    assert [each.weight > 0 for each in found] == [True, True, False, True]
    assert found[0] == found[3]
    idf = inverse_document_frequency(3, 1)
    assert found[1] == TermWeight("tie", 2, 1, idf, weight_by_hand(idf, 2, 4, 4.0))


def test_a_query_without_terms_and_a_chunk_without_them_score_zero() -> None:
    assert bm25_score([], {"tie": 2}, 4, STATS) == 0.0
    assert bm25_score(["tie", "order"], {}, 0, STATS) == 0.0
    assert bm25_score(["absent"], {"tie": 1}, 1, STATS) == 0.0
    assert bm25_score(["tie"], {"other": 3, "tie": 0}, 3, STATS) == 0.0


def test_a_score_depends_on_no_order_of_the_query() -> None:
    names = [f"t{n}" for n in range(12)]
    stats = CorpusStats(1000, 123_457, {name: 1 + 83 * n for n, name in enumerate(names)})
    frequencies = {name: 1 + n % 5 for n, name in enumerate(names)}
    weights = [
        Fraction(weight_by_hand(inverse_document_frequency(1000, 1 + 83 * n), 1 + n % 5, 77, 123.457))
        for n in range(12)
    ]
    expected = rounded(sum(weights, Fraction()))
    draw = random.Random(12)  # noqa: S311
    for _ in range(50):
        draw.shuffle(names)
        assert bm25_score(names, frequencies, 77, stats) == expected


def test_an_empty_corpus_and_a_corpus_of_empty_chunks_score_zero() -> None:
    for stats in (CorpusStats(0, 0, {"x": 0}), CorpusStats(5, 0, {"x": 0})):
        assert stats.average_doc_length == 0.0
        assert bm25_score(["x", "x"], {}, 0, stats) == 0.0
        assert bm25_score(["x"], {"x": 1}, 1, stats) == 0.0


def test_empty_chunks_count_for_the_average() -> None:
    # 6 terms in 4 chunks, of which 2 are empty: an average of 1.5.
    assert CorpusStats(4, 6, {}).average_doc_length == 1.5
    assert CorpusStats(3, 1, {}).average_doc_length == 1 / 3


@pytest.mark.parametrize("terms", [["unknown"], ["tie", "unknown"], ["Tie"], [""]])
def test_a_term_that_the_statistics_lack_is_unknown_and_not_zero(terms: list[str]) -> None:
    with pytest.raises(
        ValueError, match=rf"^stats\.doc_frequencies must cover every term, got none for {terms[-1]!r}$"
    ):
        bm25_score(terms, {"tie": 1}, 1, STATS)


# Statistics


@pytest.mark.parametrize(
    ("n_docs", "total", "frequencies"),
    [
        (0, 0, {}),
        (0, 0, {"x": 0}),
        (1, 0, {"x": 0}),
        (1, 1, {"x": 1}),
        (2**63, 2**70, {"x": 2**63}),
        (HUGE, HUGE, {}),
    ],
    ids=range(6),
)
def test_statistics_count_from_zero_up(n_docs: int, total: int, frequencies: dict[str, int]) -> None:
    stats = CorpusStats(n_docs, total, frequencies)
    assert (stats.n_docs, stats.total_doc_length, stats.doc_frequencies) == (n_docs, total, frequencies)


@pytest.mark.parametrize(
    ("n_docs", "total", "frequencies", "message"),
    [
        (-1, 0, {}, "n_docs must be at least 0, got -1"),
        (1, -1, {}, "total_doc_length must be at least 0, got -1"),
        (3, 9, {"a": 1, "b": -1}, r"doc_frequencies\['b'\] must be at least 0, got -1"),
        (3, 9, {"a": 3, "b": 4}, r"doc_frequencies\['b'\] must be at most n_docs 3, got 4"),
        (0, 0, {"a": 1}, r"doc_frequencies\['a'\] must be at most n_docs 0, got 1"),
        pytest.param(
            3, 9, {"a": HUGE}, r"doc_frequencies\['a'\] must be at most n_docs 3, got <16610 b", id="huge"
        ),
        pytest.param(-HUGE, 0, {}, "n_docs must be at least 0, got -<16610 bits>", id="-huge"),
    ],
)
def test_impossible_statistics_are_refused(
    n_docs: int, total: int, frequencies: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        CorpusStats(n_docs, total, frequencies)


@pytest.mark.parametrize("value", [None, True, 1.0, Decimal(1), Fraction(1), "1", math.nan, numpy.float64(1)])
def test_statistics_are_integers(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^n_docs must be an integer, got "):
        CorpusStats(value, 1, {})
    with pytest.raises(TypeError, match=r"^total_doc_length must be an integer, got "):
        CorpusStats(1, value, {})
    with pytest.raises(TypeError, match=r"^doc_frequencies\['x'\] must be an integer, got "):
        CorpusStats(1, 1, {"x": value})


def test_statistics_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        STATS.n_docs = 4  # type: ignore[misc]
    frequencies = {"x": 1}
    stats = CorpusStats(2, 2, frequencies)
    frequencies["x"] = 3
    assert stats.doc_frequencies == {"x": 1}


@pytest.mark.parametrize("narrow", [numpy.int8, numpy.int16, numpy.uint8])
def test_statistics_of_narrow_integers_are_those_of_pythons(narrow: Any) -> None:
    stats = CorpusStats(narrow(3), narrow(100), {"x": narrow(2)})
    counts = [stats.n_docs, stats.total_doc_length, stats.doc_frequencies["x"]]
    assert ([type(count) for count in counts], counts) == ([int, int, int], [3, 100, 2])
    # numpy would divide these in half precision.
    assert stats.average_doc_length == 100 / 3
    assert bm25_score(["x"], {"x": 1}, 40, stats) == bm25_score(
        ["x"], {"x": 1}, 40, CorpusStats(3, 100, {"x": 2})
    )


# Drawn


@pytest.mark.drawn
@given(
    st.floats(2.0**-20, 40.0),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.integers(1, 10**9),
    st.integers(1, 10**6),
)
def test_every_weight_is_the_rule_rounded_step_by_step(
    idf: float, term_frequency: int, doc_length: int, total: int, n_docs: int
) -> None:
    average = CorpusStats(n_docs, total, {}).average_doc_length
    assert average == rounded(Fraction(total, n_docs))
    found = term_weight(idf, term_frequency, doc_length, average)
    assert found == weight_by_hand(idf, term_frequency, doc_length, average)
    assert 0.0 < found <= idf


@pytest.mark.drawn
@given(st.integers(0, 10**9).flatmap(lambda n_docs: st.tuples(st.just(n_docs), st.integers(0, n_docs))))
def test_every_idf_is_positive_and_near_the_exact_logarithm(counts: tuple[int, int]) -> None:
    found = inverse_document_frequency(*counts)
    assert found > 0.0
    # The sum inside the logarithm is rounded to a double before.
    assert abs(found - float(idf_by_hand(*counts))) <= 1e-15 * max(1.0, found)
