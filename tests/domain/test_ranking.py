"""The total orders: score, then id; zeros dropped; thresholds inclusive; limits of every size."""

import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import (
    CorpusStats,
    LexicalCandidate,
    LexicalCandidates,
    RankedChunk,
    SemanticCandidate,
    best_first,
    bm25_score,
    rank_chunks,
    rank_vectors,
    score,
)
from tests.support import make_chunk

HUGE = 10**5000

# Their ids in "doc-1" begin 13d7, 3423, 3a7c, 4a04, 9d0d and d2fc: no alphabetical order.
BY_ID = ["a", "e", "d", "b", "f", "c"]

BAD_LIMITS: list[tuple[Any, type[Exception]]] = [
    *[(-1, ValueError), (-(2**63), ValueError), (numpy.int8(-1), ValueError)],
    *[(True, TypeError), (False, TypeError), (1.0, TypeError), ("1", TypeError), (numpy.True_, TypeError)],
    *[(numpy.float64(1), TypeError), (Fraction(1), TypeError), ([1], TypeError)],
]


def test_the_pinned_ids_are_in_the_order_that_the_ties_rely_on() -> None:
    assert sorted("abcdef", key=lambda text: make_chunk(text).id) == BY_ID
    assert make_chunk("a").id.startswith("13d750ea")
    assert make_chunk("c").id.startswith("d2fc0197")


# best_first

# Insertion order z, B, a, é, b; by code point B, a, b, z, é.
TIED = [("z", 0.5), ("B", 0.5), ("a", 0.5), ("é", 0.5), ("b", 0.5)]


def test_the_best_score_comes_first_and_ties_by_code_point() -> None:
    assert [key for key, _ in best_first([*TIED, ("zz", 0.9), ("A", 0.1)])] == [
        "zz",
        "B",
        "a",
        "b",
        "z",
        "é",
        "A",
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a", "b"),
        ("B", "a"),
        ("a", "aa"),
        ("", "a"),
        ("10", "9"),
        ("z", "é"),
        ("e\u0301", "é"),
        ("\uffff", "\U00010000"),
    ],
)
def test_ids_are_compared_by_code_point(left: str, right: str) -> None:
    assert best_first([(right, 1.0), (left, 1.0)]) == best_first([(left, 1.0), (right, 1.0)])
    assert best_first([(right, 1.0), (left, 1.0)])[0][0] == left


def test_a_cut_within_a_tie_depends_on_no_order_of_arrival() -> None:
    for order in permutations(TIED):
        assert [key for key, _ in best_first(order, 3)] == ["B", "a", "b"]


def test_neighbouring_doubles_are_no_tie() -> None:
    above = math.nextafter(0.5, 1.0)
    assert best_first([("a", 0.5), ("b", above)]) == [("b", above), ("a", 0.5)]


def test_zeros_of_both_signs_are_a_tie() -> None:
    assert [key for key, _ in best_first([("b", 0.0), ("a", -0.0), ("c", -1.0), ("d", math.inf)])] == [
        *"dabc"
    ]


@pytest.mark.parametrize(
    ("limit", "count"),
    [(None, 5), (0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (2**63, 5), (10**30, 5), (numpy.int64(2), 2)],
)
def test_a_limit_cuts_and_may_exceed_what_there_is(limit: Any, count: int) -> None:
    assert len(best_first(iter(TIED), limit)) == count
    assert best_first([], limit) == []
    assert best_first(TIED, limit) == best_first(TIED)[:count]


def test_a_limit_that_python_does_not_print_is_a_limit() -> None:
    assert best_first(TIED, HUGE) == best_first(TIED)


@pytest.mark.parametrize(("limit", "error"), BAD_LIMITS)
def test_a_bad_limit_is_refused_even_where_there_is_nothing(limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^limit must be "):
        best_first([], limit)
    with pytest.raises(error, match=r"^limit must be "):
        best_first(TIED, limit)
    with pytest.raises(error, match=r"^limit must be "):
        rank_vectors([1.0], [("a", [1.0])], limit)
    with pytest.raises(error, match=r"^k must be "):
        rank_chunks(["x"], LexicalCandidates(CorpusStats(0, 0, {"x": 0}), []), limit)


# rank_chunks


def candidate(text: str, doc_length: int, frequencies: dict[str, int]) -> LexicalCandidate:
    return LexicalCandidate(make_chunk(text), doc_length, frequencies)


def ranked_texts(
    terms: Sequence[str], candidates: Sequence[LexicalCandidate], k: int, stats: CorpusStats
) -> list[str]:
    return [each.chunk.text for each in rank_chunks(terms, LexicalCandidates(stats, list(candidates)), k)]


SIX = CorpusStats(6, 12, {"x": 6, "y": 1})


def test_chunks_of_one_score_are_ordered_by_id() -> None:
    tied = [candidate(text, 2, {"x": 1}) for text in "cafbed"]
    assert ranked_texts(["x"], tied, 6, SIX) == BY_ID
    assert ranked_texts(["x"], tied[::-1], 6, SIX) == BY_ID
    assert ranked_texts(["x"], tied, 3, SIX) == BY_ID[:3]


def test_the_score_comes_before_the_id() -> None:
    candidates = [
        candidate("a", 2, {"x": 1}),
        candidate("c", 2, {"x": 2}),  # more often
        candidate("b", 1, {"x": 1}),  # shorter
        candidate("f", 2, {"y": 1}),  # rarer
        candidate("e", 3, {"x": 1}),  # longer
    ]
    # Weights: y ln(14/3)·1/2.2; c ln(14/13)·2/3.2; b ln(14/13)/1.75; a ln(14/13)/2.2; e ln(14/13)/2.65.
    assert ranked_texts(["x", "y"], candidates, 9, SIX) == ["f", "c", "b", "a", "e"]


def test_a_ranked_chunk_carries_its_bm25_score() -> None:
    found = rank_chunks(["x", "y", "x"], LexicalCandidates(SIX, [candidate("a", 2, {"x": 1, "y": 2})]), 1)
    assert found == [RankedChunk(make_chunk("a"), bm25_score(["x", "y", "x"], {"x": 1, "y": 2}, 2, SIX))]
    # 2 · ln(14/13) / 2.2 + ln(14/3) · 2 / 3.2
    expected = 2 * math.log(14 / 13) / 2.2 + math.log(14 / 3) * 2 / 3.2
    assert math.isclose(found[0].score, expected, rel_tol=1e-14)


def test_zero_scores_are_dropped_before_the_cut() -> None:
    candidates = [candidate("a", 2, {}), candidate("c", 2, {"x": 1}), candidate("e", 0, {"x": 0})]
    assert ranked_texts(["x"], candidates, 9, SIX) == ["c"]
    assert ranked_texts(["x"], candidates, 1, SIX) == ["c"]


def test_a_term_that_every_chunk_holds_drops_nothing() -> None:
    everywhere = [candidate(text, 2, {"x": 1}) for text in "abc"]
    assert len(ranked_texts(["x"], everywhere, 9, CorpusStats(3, 6, {"x": 3}))) == 3


def test_a_score_however_small_is_above_zero() -> None:
    n_docs = 2**40
    everywhere = LexicalCandidates(CorpusStats(n_docs, n_docs, {"x": n_docs}), [candidate("a", 1, {"x": 1})])
    (found,) = rank_chunks(["x"], everywhere, 1)
    assert 0.0 < found.score < 1e-12


def test_nothing_ranks_without_terms_without_candidates_or_without_a_corpus() -> None:
    one = [candidate("a", 2, {"x": 1})]
    assert ranked_texts([], one, 9, SIX) == []
    assert ranked_texts(["x"], [], 9, SIX) == []
    assert ranked_texts(["x"], one, 9, CorpusStats(0, 0, {"x": 0})) == []
    assert ranked_texts(["x"], one, 9, CorpusStats(4, 0, {"x": 0})) == []


@pytest.mark.parametrize(("k", "count"), [(0, 0), (1, 1), (3, 3), (4, 3), (10**30, 3), (numpy.int16(2), 2)])
def test_k_cuts_and_may_exceed_the_candidates(k: Any, count: int) -> None:
    candidates = [candidate(text, 2, {"x": 1}) for text in "abc"]
    assert ranked_texts(["x"], candidates, k, SIX) == ["a", "b", "c"][:count]


def test_a_term_without_statistics_is_refused() -> None:
    with pytest.raises(ValueError, match="must cover every term, got none for 'z'"):
        ranked_texts(["x", "z"], [candidate("a", 2, {"x": 1})], 1, SIX)


def test_the_values_that_carry_a_rank_do_not_change() -> None:
    stats = CorpusStats(1, 1, {"x": 1})
    carriers: list[Any] = [
        *(SemanticCandidate(make_chunk("a"), 0.5), RankedChunk(make_chunk("a"), 0.5)),
        *(candidate("a", 1, {"x": 1}), LexicalCandidates(stats, [])),
    ]
    for carrier in carriers:
        with pytest.raises(FrozenInstanceError):
            setattr(carrier, fields(carrier)[0].name, None)


# rank_vectors

QUERY = [1.0, 0.0]


def test_vectors_are_ranked_by_score_then_id() -> None:
    vectors = [
        ("z", [0.0, 1.0]),
        ("b", [2.0, 0.0]),
        ("m", [-1.0, 0.0]),
        ("a", [0.0, -3.0]),
        ("c", [0.5, 0.0]),
    ]
    assert rank_vectors(QUERY, iter(vectors), 9) == [
        ("b", 1.0),
        ("c", 1.0),
        ("a", 0.5),
        ("z", 0.5),
        ("m", 0.0),
    ]
    assert rank_vectors(QUERY, vectors, 1) == [("b", 1.0)]
    assert rank_vectors(QUERY, vectors, 0) == rank_vectors(QUERY, [], 5) == []


def test_different_cosines_of_one_score_are_a_tie() -> None:
    # The cosines 2**-54, 2**-60 and 0 differ; (1 + cosine) / 2 is 0.5 for each.
    vectors = [("c", [2.0**-54, 1.0]), ("b", [2.0**-60, 1.0]), ("a", [0.0, 1.0])]
    assert rank_vectors(QUERY, vectors, 9) == [("a", 0.5), ("b", 0.5), ("c", 0.5)]


def test_one_vector_under_many_ids_is_one_tie() -> None:
    vectors = [(key, [0.0, -0.0, 1.0]) for key in "cab"] + [("d", [-0.0, 0.0, 1.0])]
    assert rank_vectors([0.0, 0.0, 3.0], vectors, 3) == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


# The scores 1, 0.9, 0.5 and 0, from the cosines 1, 4/5, 0 and -1.
FOUR = [("a", [-1.0, 0.0]), ("b", [0.0, 1.0]), ("c", [4.0, 3.0]), ("d", [1.0, 0.0])]


@pytest.mark.parametrize(
    ("min_score", "kept"),
    [
        *[(None, "dcba"), (-math.inf, "dcba"), (-1, "dcba"), (0, "dcba"), (-0.0, "dcba"), (5e-324, "dcb")],
        *[
            (0.5, "dcb"),
            (math.nextafter(0.5, 1), "dc"),
            (math.nextafter(0.5, 0), "dcb"),
            (Fraction(1, 2), "dcb"),
        ],
        *[
            (0.9, "dc"),
            (math.nextafter(0.9, 1), "d"),
            (1, "d"),
            (math.nextafter(1, 2), ""),
            (math.inf, ""),
            (2, ""),
        ],
        # The float32 nearest to 0.9 lies below 0.9; the next one lies above it, by less than float32 tells.
        *[(numpy.float32(0.9), "dc"), (numpy.nextafter(numpy.float32(0.9), numpy.float32(1)), "d")],
    ],
)
def test_a_threshold_keeps_the_scores_at_or_above_it(min_score: Any, kept: str) -> None:
    assert "".join(key for key, _ in rank_vectors(QUERY, FOUR, 9, min_score)) == kept


def test_a_float32_threshold_is_compared_as_a_double() -> None:
    threshold: Any = numpy.nextafter(numpy.float32(0.5), numpy.float32(1))  # 0.5 + 2**-24
    just_below = [
        1.5,
        2.0**24,
    ]  # the score is about 0.5 + 0.75 · 2**-24, whose nearest float32 is the threshold
    assert 0.5 < score(QUERY, just_below) < float(threshold)
    assert rank_vectors(QUERY, [("a", just_below)], 9, threshold) == []


def test_the_threshold_comes_before_the_limit() -> None:
    assert [key for key, _ in rank_vectors(QUERY, FOUR, 1, 0.5)] == ["d"]
    assert [key for key, _ in rank_vectors(QUERY, FOUR, 3, 0.9)] == ["d", "c"]


@pytest.mark.parametrize(
    ("min_score", "error"),
    [
        (math.nan, ValueError),
        (10**400, ValueError),
        (True, TypeError),
        ("0.5", TypeError),
        (numpy.array(0.5), TypeError),
    ],
)
def test_a_bad_threshold_is_refused_even_where_there_is_nothing(
    min_score: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="min_score"):
        rank_vectors(QUERY, [], 9, min_score)
    with pytest.raises(error, match="min_score"):
        rank_vectors(QUERY, FOUR, 0, min_score)


# Drawn

few_scores = st.sampled_from([-1.0, 0.0, -0.0, 0.25, 0.5, math.nextafter(0.5, 1), 1.0])
few_vectors = st.sampled_from([(1.0, 0.0), (2.0, 0.0), (0.0, 1.0), (2.0**-54, 1.0), (1.0, 1.0), (-1.0, 0.0)])


@pytest.mark.drawn
@given(st.dictionaries(st.text(max_size=3), few_scores, max_size=12), st.integers(0, 14))
def test_the_best_are_a_prefix_of_the_sorted_whole(scores: dict[str, float], limit: int) -> None:
    by_id = sorted(scores.items())
    whole = [pair for each in sorted(set(scores.values()), reverse=True) for pair in by_id if pair[1] == each]
    assert best_first(scores.items(), limit) == whole[:limit]
    assert best_first(reversed(list(scores.items())), limit) == whole[:limit]


@pytest.mark.drawn
@given(
    st.dictionaries(st.text("abc", max_size=3), few_vectors, max_size=12),
    few_vectors,
    st.integers(0, 14),
    st.none() | few_scores,
)
def test_every_ranking_is_the_slow_program(
    vectors: dict[str, tuple[float, float]], query: tuple[float, float], limit: int, min_score: float | None
) -> None:
    scored = [(-score(query, vector), key) for key, vector in vectors.items()]
    kept = [
        (key, -negative) for negative, key in sorted(scored) if min_score is None or -negative >= min_score
    ]
    assert rank_vectors(query, vectors.items(), limit, min_score) == kept[:limit]


def test_a_lone_string_is_no_list_of_terms() -> None:
    terms: Any = "tie"
    with pytest.raises(TypeError, match="terms must be an iterable of str"):
        rank_chunks(terms, LexicalCandidates(CorpusStats(0, 0, {}), []), 1)
