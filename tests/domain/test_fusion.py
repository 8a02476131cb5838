"""Reciprocal rank fusion: exact sums, and an order in which nothing but ranks and ids shows."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import RRF_K, RetrievalMode, reciprocal_rank, reciprocal_rank_fusion


def ids(rankings: Sequence[Sequence[Hashable]]) -> list[Hashable]:
    return [each for each, _ in reciprocal_rank_fusion(rankings)]


def quotient(value: Fraction) -> float:
    return value.numerator / value.denominator


def test_the_constant_is_60() -> None:
    assert RRF_K == 60
    assert [reciprocal_rank(rank) for rank in (1, 2, 40)] == [
        Fraction(1, 61),
        Fraction(1, 62),
        Fraction(1, 100),
    ]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []


def test_one_ranking_keeps_its_order() -> None:
    assert reciprocal_rank_fusion([["z", "a", "m"]]) == [("z", 1 / 61), ("a", 1 / 62), ("m", 1 / 63)]


def test_two_rankings_of_equal_ranks_interleave_by_id() -> None:
    assert reciprocal_rank_fusion([["b", "c"], ["a", "d"]]) == [
        *[("a", 1 / 61), ("b", 1 / 61), ("c", 1 / 62), ("d", 1 / 62)]
    ]


def test_an_id_that_both_rank_second_beats_both_first() -> None:
    # 2/62 against 1/61
    assert reciprocal_rank_fusion([["a", "x"], ["b", "x"]]) == [("x", 1 / 31), ("a", 1 / 61), ("b", 1 / 61)]


def test_a_score_is_the_exact_sum_rounded_once() -> None:
    # 1/61 + 1/62 + 1/63 = (62·63 + 61·63 + 61·62) / (61·62·63) = 11531 / 238266
    rankings = [["x"], ["a", "x"], ["a", "b", "x"]]
    assert dict(reciprocal_rank_fusion(rankings))["x"] == 11531 / 238266


def test_no_order_of_rankings_shows_in_a_sum() -> None:
    ranks = (1, 2, 8)
    terms = [1 / (60 + rank) for rank in ranks]
    assert (terms[0] + terms[1]) + terms[2] != (terms[2] + terms[1]) + terms[0]
    rankings = [[f"{rank}-{n}" for n in range(1, rank)] + ["x"] for rank in ranks]
    expected = quotient(sum((Fraction(1, 60 + rank) for rank in ranks), Fraction()))
    for order in permutations(rankings):
        assert dict(reciprocal_rank_fusion(order))["x"] == expected


def test_equal_sums_of_different_ranks_are_a_tie() -> None:
    # Ranks 10 and 45 against 24 twice: 1/70 + 1/105 = 1/84 + 1/84 = 1/42.
    left = [f"l{n}" for n in range(1, 61)]
    right = [f"r{n}" for n in range(1, 61)]
    left[10 - 1] = right[45 - 1] = "b"
    left[24 - 1] = right[24 - 1] = "a"
    assert reciprocal_rank_fusion([left, right])[:2] == [("a", 1 / 42), ("b", 1 / 42)]


# Repeats


def test_a_repeated_id_counts_once_at_its_best_rank() -> None:
    assert reciprocal_rank_fusion([["a", "b", "a", "a", "c"]]) == [
        ("a", 1 / 61),
        ("b", 1 / 62),
        ("c", 1 / 65),
    ]


def test_an_id_repeated_in_two_rankings_counts_once_in_each() -> None:
    assert dict(reciprocal_rank_fusion([["a", "a"], ["b", "a", "a"]])) == {
        "a": quotient(Fraction(1, 61) + Fraction(1, 62)),
        "b": 1 / 61,
    }


def test_rankings_are_consumed_once() -> None:
    rankings = [["b", "c"], ["a", "d"]]
    once = (iter(ranking) for ranking in rankings)
    assert reciprocal_rank_fusion(once) == reciprocal_rank_fusion(rankings) != []


def test_a_str_is_a_ranking_of_its_characters() -> None:
    assert ids(["ba"]) == ["b", "a"]


# Ties


@pytest.mark.parametrize(
    ("tied", "expected"),
    [
        (["b", "B", "a", "A"], ["A", "a", "B", "b"]),
        (["_", "a", "Z"], ["_", "a", "Z"]),  # lower case: "_" is 5F, "a" 61, "z" 7A
        (["é", "z", "e\u0301"], ["e\u0301", "z", "é"]),
        (["\U0001f9f5", "\uffff"], ["\uffff", "\U0001f9f5"]),  # by code point, not by UTF-16 unit
        (["10", "9", "1"], ["1", "10", "9"]),
        (["İ", "i"], ["i", "İ"]),  # "İ".lower() is "i" and a mark
        ([10, 9, 1], [1, 10, 9]),
        (["", " ", "\x00"], ["", "\x00", " "]),
    ],
)
def test_equal_scores_are_ordered_by_lower_case_then_text(
    tied: list[Hashable], expected: list[Hashable]
) -> None:
    for order in permutations(tied):
        assert ids([[each] for each in order]) == expected


def test_uuids_are_ordered_by_their_lower_case_text() -> None:
    first, second, third = (UUID(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "1af")
    assert ids([[third], [first], [second]]) == [first, second, third]


class Labelled:
    """An id whose `repr` is ordered against its text."""

    def __init__(self, text: str, representation: str) -> None:
        self._text = text
        self._representation = representation

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._representation


def test_the_text_of_an_id_comes_before_its_repr() -> None:
    first, second, third = Labelled("A", "3"), Labelled("a", "2"), Labelled("b", "1")
    for order in permutations([first, second, third]):
        assert ids([[each] for each in order]) == [first, second, third]


def test_ids_that_print_alike_are_ordered_by_their_repr() -> None:
    number, text = 1, "1"
    identity = UUID("0000000a-0000-4000-8000-000000000001")
    # "'1'" comes before "1", and "'0000000a…'" before "UUID(…)".
    tied: list[Hashable] = [number, text, identity, str(identity)]
    expected: list[Hashable] = [str(identity), identity, text, number]
    for order in permutations(tied):
        found = ids([[each] for each in order])
        assert [(type(each), each) for each in found] == [(type(each), each) for each in expected]


@pytest.mark.parametrize(
    ("equal", "first"),
    # By str().lower(): "1" < "1.0" < "true"; "-0.0" < "0" < "false"; then by repr: "'" comes before "<".
    [
        *[([1, True], 1), ([True, 1.0, 1], 1), ([True, 1.0], 1.0), ([0, False, -0.0], -0.0)],
        ([RetrievalMode.HYBRID, "hybrid"], "hybrid"),
    ],
)
def test_ids_that_are_equal_fuse_into_the_first_of_them(equal: list[Hashable], first: Hashable) -> None:
    other: list[list[Hashable]] = [["m"] for _ in equal]
    results = set()
    for order in permutations([[each] for each in equal]):
        for rankings in ([*order, *other], [*other, *order]):
            results.add(repr(reciprocal_rank_fusion(rankings)))
    score = quotient(Fraction(len(equal), 61))
    pairs = sorted([(first, score), ("m", score)], key=lambda pair: str(pair[0]))
    assert results == {repr(pairs)}


# Drawn

some_ids = st.sampled_from(["a", "A", "b", "B", "1", "c"]) | st.sampled_from([1, 2, True, 1.0, 0.5])
some_rankings = st.lists(st.lists(some_ids, max_size=8), max_size=5)


def rrf_by_hand(rankings: list[list[Hashable]]) -> dict[Hashable, float]:
    found = {}
    for each in {each for ranking in rankings for each in ranking}:
        ranks = [ranking.index(each) + 1 for ranking in rankings if each in ranking]
        found[each] = quotient(sum((Fraction(1, 60 + rank) for rank in ranks), Fraction()))
    return found


@pytest.mark.drawn
@given(some_rankings)
def test_every_score_is_the_exact_rational_sum(rankings: list[list[Hashable]]) -> None:
    found = reciprocal_rank_fusion(rankings)
    assert dict(found) == rrf_by_hand(rankings)
    assert len(dict(found)) == len(found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.drawn
@given(some_rankings, st.randoms(use_true_random=False))
def test_no_order_of_rankings_shows(rankings: list[list[Hashable]], draw: object) -> None:
    expected = repr(reciprocal_rank_fusion(rankings))
    shuffled = list(rankings)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert repr(reciprocal_rank_fusion(shuffled)) == expected
