"""A proposal never loses an answer: every way to propose gives what the slow rule gives."""

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import InvalidVectorError, as_vector, rank_vectors, score
from redstring_ref.domain.vectors import (
    FLOAT32_ROUNDOFF,
    FLOAT64_ROUNDOFF,
    cosine,
    cosine_error_bound,
    dot_product,
    squared_norm,
)
from redstring_ref.memory import proposal, vector_index
from redstring_ref.memory.proposal import Proposal, by_numpy, by_sum, by_sumprod, fastest
from redstring_ref.memory.vector_index import VectorIndex

PROPOSALS = {"sum": Proposal(FLOAT64_ROUNDOFF, by_sum), "numpy": Proposal(FLOAT32_ROUNDOFF, by_numpy)}
if sys.version_info >= (3, 12):
    PROPOSALS["sumprod"] = Proposal(FLOAT64_ROUNDOFF, by_sumprod)


@pytest.fixture(params=PROPOSALS)
def each_proposal(request: pytest.FixtureRequest) -> Proposal:
    return PROPOSALS[request.param]


def ulps(value: float, count: int) -> float:
    """Return the float32 that lies `count` steps above `value`."""
    bits = array("I", array("f", [value]).tobytes())
    bits[0] += count
    return array("f", bits.tobytes())[0]


# Near ties: neighbours in float32, duplicates, multiples, and the negatives of all of them.
NEAR = {
    "h": [1.0, 1.0],
    "b": [1.0, ulps(1.0, 1)],
    "g": [1.0, ulps(1.0, 2)],
    "a": [ulps(1.0, 1), 1.0],
    "f": [2.0, 2.0],
    "c": [-1.0, -1.0],
    "e": [1e-10, 1e-10],
    "d": [1.0, 1.0],
    "i": [1e10, -1e10],
}


@pytest.mark.parametrize("limit", range(11))
@pytest.mark.parametrize("min_score", [None, 0.0, 0.5, 0.9999999999999999, 1.0])
def test_near_ties_are_cut_as_the_slow_rule_cuts_them(
    each_proposal: Proposal, limit: int, min_score: float | None
) -> None:
    index: VectorIndex[str] = VectorIndex(2, each_proposal)
    vectors = {key: as_vector(vector) for key, vector in NEAR.items()}
    for key, vector in vectors.items():
        index.put(key, vector)
    query = as_vector([1.0, 1.0])
    assert index.nearest(query, limit, min_score) == rank_vectors(query, vectors.items(), limit, min_score)


def test_identical_vectors_at_the_cut_come_by_key(each_proposal: Proposal) -> None:
    index: VectorIndex[str] = VectorIndex(3, each_proposal)
    keys = [f"{(number * 7919) % 2000:04}" for number in range(2000)]
    for key in keys:
        index.put(key, [0.5, 0.25, 1.0])
    assert [key for key, _ in index.nearest([1.0, 2.0, 3.0], 5)] == ["0000", "0001", "0002", "0003", "0004"]


def test_a_subset_is_ranked_alone(each_proposal: Proposal) -> None:
    index: VectorIndex[str] = VectorIndex(2, each_proposal)
    for key, vector in NEAR.items():
        index.put(key, as_vector(vector))
    assert [key for key, _ in index.nearest([1.0, 1.0], 2, among=["c", "g", "h"])] == ["h", "g"]
    assert index.nearest([1.0, 1.0], 2, among=[]) == []


def test_an_empty_index_has_no_neighbours(each_proposal: Proposal) -> None:
    assert VectorIndex[str](2, each_proposal).nearest([1.0, 0.0], 3) == []


def test_the_gap_of_a_removed_vector_is_closed() -> None:
    index: VectorIndex[str] = VectorIndex(2)
    for key, vector in {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [-1.0, 0.0]}.items():
        index.put(key, vector)
    index.discard("a")
    assert index.get("a") is None
    assert index.nearest([1.0, 0.0], 9) == [("b", 0.5), ("c", 0.0)]
    index.discard("b")
    index.discard("b")
    assert index.nearest([1.0, 0.0], 9) == [("c", 0.0)]
    index.put("c", [1.0, 0.0])
    assert index.get("c") == [1.0, 0.0]
    assert index.nearest([1.0, 0.0], 9) == [("c", 1.0)]
    index.discard("c")
    assert index.nearest([1.0, 0.0], 9) == []


@pytest.mark.parametrize("dimension", [1, 2, 3, 64, 1536])
def test_the_error_bound_holds_for_adversarial_vectors(each_proposal: Proposal, dimension: int) -> None:
    ramp = [math.sin(7.0 * position + 1.0) * 2.0 ** (position % 40 - 20) for position in range(dimension)]
    swing = [(-1.0) ** position * (1.0 + 2.0**-20 * (position % 13)) for position in range(dimension)]
    pairs = [(ramp, swing), (swing, ramp), (ramp, ramp), (swing, [-each for each in swing])]
    tiny = [each * 2.0**-45 / math.hypot(*ramp) for each in ramp]
    huge = [each * 2.0**45 / math.hypot(*ramp) for each in ramp]
    pairs += [(tiny, tiny), (tiny, huge), (huge, huge), (tiny, swing)]
    for left, right in pairs:
        query, vector = as_vector(left), as_vector(right)
        (approximate,) = each_proposal.cosines(query, array("f", vector), array("d", [squared_norm(vector)]))
        exact = cosine(dot_product(query, vector), squared_norm(query), squared_norm(vector))
        assert abs(Fraction(approximate) - Fraction(exact)) <= Fraction(
            cosine_error_bound(dimension, each_proposal.roundoff)
        )


def off_by(errors: list[float]) -> Proposal:
    """Return a proposal of which each cosine is off by so many times almost the bound of float32."""

    def cosines(
        query: Sequence[float], vectors: "array[float]", squared_norms: "array[float]"
    ) -> list[float]:
        bound = cosine_error_bound(len(query), FLOAT32_ROUNDOFF)
        exact = by_sum(query, vectors, squared_norms)
        return [each + error * 0.999 * bound for each, error in zip(exact, errors, strict=True)]

    return Proposal(FLOAT32_ROUNDOFF, cosines)


def test_the_given_proposal_is_the_one_that_is_asked() -> None:
    def refusing(*arguments: object) -> list[float]:
        raise NotImplementedError("asked")

    index: VectorIndex[str] = VectorIndex(1, Proposal(FLOAT32_ROUNDOFF, refusing))
    index.put("a", [1.0])
    with pytest.raises(NotImplementedError, match="asked"):
        index.nearest([1.0], 1)


TIED = {"a": [1.0, 0.0], "b": [1.0, 0.0], "c": [1.0, 0.0], "d": [1.0, 0.0]}


@pytest.mark.parametrize("errors", [[-1.0, 1.0, 1.0, 1.0], [-1.0, -1.0, 1.0, 1.0], [1.0, -1.0, -1.0, 1.0]])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_an_error_up_to_the_bound_loses_nothing_at_the_cut(errors: list[float], limit: int) -> None:
    index: VectorIndex[str] = VectorIndex(2, off_by(errors))
    for key, vector in TIED.items():
        index.put(key, vector)
    assert index.nearest([1.0, 0.0], limit) == [("a", 1.0), ("b", 1.0), ("c", 1.0)][:limit]


@pytest.mark.parametrize("query", [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0], [-1.0, 1.0]])
def test_an_error_up_to_the_bound_loses_nothing_at_the_threshold(query: list[float]) -> None:
    index: VectorIndex[str] = VectorIndex(2, off_by([-1.0]))
    index.put("a", [1.0, 0.0])
    threshold = score(query, [1.0, 0.0])
    assert index.nearest(query, 1, threshold) == [("a", threshold)]
    assert index.nearest(query, 1, math.nextafter(threshold, 2.0)) == []


@pytest.mark.parametrize(
    ("limit", "min_score", "scored"),
    [(1, None, 1), (3, None, 3), (3, 0.999, 3), (9, 0.999, 9), (99, 0.999, 14), (1, 1.1, 0), (99, None, 99)],
)
def test_what_cannot_be_in_the_answer_is_not_scored(
    each_proposal: Proposal,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    min_score: float | None,
    scored: int,
) -> None:
    counts = []

    def counting(
        query: Sequence[float],
        vectors: Iterable[tuple[str, list[float]]],
        limit: int,
        min_score: float | None,
    ) -> list[tuple[str, float]]:
        pairs = list(vectors)
        counts.append(len(pairs))
        return rank_vectors(query, pairs, limit, min_score)

    monkeypatch.setattr(vector_index, "rank_vectors", counting)
    index: VectorIndex[str] = VectorIndex(2, each_proposal)
    for step in range(1, 100):
        # Of 99 directions, a quarter of a degree apart, the first 14 score at least 0.999: cos 3.6° > 0.998.
        angle = math.radians(step / 4)
        index.put(f"{step:02}", as_vector([math.cos(angle), math.sin(angle)]))
    index.nearest([1.0, 0.0], limit, min_score)
    assert counts == [scored]


def test_a_vector_that_is_overwritten_or_moved_takes_its_norm_along(each_proposal: Proposal) -> None:
    index: VectorIndex[str] = VectorIndex(2, each_proposal)
    for key, vector in {"a": [2.0**40, 0.0], "b": [1.0, 1.0], "c": [2.0**-40, 2.0**-41]}.items():
        index.put(key, vector)
    index.put("a", [2.0**-40, 0.0])
    assert [key for key, _ in index.nearest([1.0, 0.0], 1)] == ["a"]
    index.put("a", [0.0, 2.0**40])
    assert [key for key, _ in index.nearest([1.0, 0.0], 1)] == ["c"]
    index.discard("a")
    assert [key for key, _ in index.nearest([1.0, 0.0], 1)] == ["c"]
    assert [key for key, _ in index.nearest([0.0, 1.0], 1)] == ["b"]


def test_numpy_may_be_told_to_raise_on_underflow() -> None:
    index: VectorIndex[str] = VectorIndex(2, PROPOSALS["numpy"])
    for key in "ab":
        index.put(key, as_vector([1e-30, 1.0]))
    with numpy.errstate(all="raise"):
        assert index.nearest(as_vector([1e-30, 1.0]), 1) == [("a", 1.0)]


def test_numpy_proposes_where_it_is_installed_and_the_width_allows() -> None:
    assert fastest(384).cosines is fastest(2**20).cosines is by_numpy
    assert fastest(2**20 + 1).roundoff == FLOAT64_ROUNDOFF


def test_without_numpy_the_interpreter_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(proposal, "import_module", missing)
    proposal._numpy.cache_clear()
    try:
        chosen = fastest(384)
    finally:
        proposal._numpy.cache_clear()
    assert chosen.cosines is (by_sumprod if sys.version_info >= (3, 12) else by_sum)
    assert chosen.roundoff == FLOAT64_ROUNDOFF


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="math.sumprod exists since Python 3.12")
def test_sumprod_is_refused_where_it_does_not_exist() -> None:
    with pytest.raises(NotImplementedError):
        by_sumprod([1.0], array("f", [1.0]), array("d", [1.0]))


def valid(vector: list[float]) -> bool:
    try:
        as_vector(vector)
    except InvalidVectorError:
        return False
    return True


COMPONENT = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, ulps(1.0, 1), ulps(1.0, -1), 1e-12, 1e12, 0.1]),
    st.floats(-1e6, 1e6, width=32),
)


@pytest.mark.drawn
@given(st.data())
def test_any_vectors_are_ranked_as_the_slow_rule_ranks_them(data: st.DataObject) -> None:
    dimension = data.draw(st.sampled_from([1, 2, 3, 17]))
    vector = st.lists(COMPONENT, min_size=dimension, max_size=dimension).filter(valid)
    query = as_vector(data.draw(vector))
    vectors = data.draw(st.dictionaries(st.text("abc", min_size=1, max_size=2), vector, max_size=9))
    limit = data.draw(st.integers(0, 10))
    min_score = data.draw(st.one_of(st.none(), st.sampled_from([0.0, 0.5, 0.75, 1.0]), st.floats(0, 1)))
    rounded = {key: as_vector(each) for key, each in vectors.items()}
    expected = rank_vectors(query, rounded.items(), limit, min_score)
    for each_proposal in PROPOSALS.values():
        index: VectorIndex[str] = VectorIndex(dimension, each_proposal)
        for key, each in rounded.items():
            index.put(key, each)
        assert index.nearest(query, limit, min_score) == expected
