"""Clusters: what no cut takes apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.chunking.clusters import edge_after, first_edge, is_edge, last_edge
from tests.chunking.definition import edges

FLAG = "\U0001f1e9\U0001f1ea"


def inner_edges(text: str) -> list[int]:
    return [at for at in range(1, len(text)) if is_edge(text, at, 0)]


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("e\u0301", id="nonspacing mark"),
        pytest.param("\u0915\u093f", id="spacing mark"),
        pytest.param("1\u20dd", id="enclosing mark"),
        pytest.param("e\u0301\u0323\u0302", id="several marks"),
        pytest.param(" \u0301", id="mark on a space"),
        pytest.param("\n\u0301", id="mark on a newline"),
        pytest.param("\u2764\ufe0f", id="variation selector"),
        pytest.param("\u845b\U000e0100", id="ideographic variation selector"),
        pytest.param("\U0001f469\u200d\U0001f680", id="joined emoji"),
        pytest.param("\u0644\u200dx", id="joined letters"),
        pytest.param("\u0646\u200c", id="non-joiner"),
        pytest.param("\U0001f44d\U0001f3fd", id="emoji modifier"),
        pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e007f", id="tags"),
        pytest.param(FLAG, id="flag"),
        pytest.param(FLAG + "\ufe0f", id="flag with a selector"),
        pytest.param("\ud83d\ude00", id="pair of surrogates"),
        pytest.param("\r\n", id="carriage return and line feed"),
        pytest.param("\u1112\u1161\u11ab", id="jamo"),
        pytest.param("\u1112\ud7b0\ud7cb", id="extended jamo"),
        pytest.param("\uff76\uff9e", id="halfwidth voicing mark"),
        pytest.param("\uff8a\uff9f", id="halfwidth semivoicing mark"),
        pytest.param("\u0e01\u0e33", id="thai am"),
        pytest.param("\u0e81\u0eb3", id="lao am"),
    ],
)
def test_a_cluster_is_kept_whole(cluster: str) -> None:
    assert inner_edges(f"a{cluster}b") == [1, 1 + len(cluster)]
    assert edge_after(f"a{cluster}", 1) == 1 + len(cluster)


@pytest.mark.parametrize("text", ["ab", "検索", "\n\r", "\n\n", "\r\r"])
def test_characters_of_their_own_are_cut_apart(text: str) -> None:
    assert inner_edges(text) == [1]


def test_only_a_high_surrogate_before_a_low_one_makes_a_pair() -> None:
    low, high = "\ude00", "\ud83d"
    for text in (low + high, high + high, low + low, high + "a", "a" + low):
        assert inner_edges(text) == [1]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0x0E33, 0x0E3A),
        (0x0EB3, 0x0EBC),
        (0x1160, 0x11FF),
        (0x200C, 0x200D),
        (0xD7B0, 0xD7FF),
        (0xFF9E, 0xFF9F),
        (0x1F3FB, 0x1F3FF),
        (0xE0020, 0xE007F),
    ],
)
def test_each_range_continues_a_cluster_and_its_neighbours_do_not(first: int, last: int) -> None:
    assert [is_edge("a" + chr(code), 1, 0) for code in (first - 1, first, last, last + 1)] == [
        True,
        False,
        False,
        True,
    ]


def test_what_a_non_joiner_follows_is_a_cluster_of_its_own() -> None:
    assert inner_edges("a\u200cb") == [2]
    assert inner_edges("\U0001f469\U0001f680") == [1]


def test_regional_indicators_pair_up_from_the_start_of_their_run() -> None:
    assert inner_edges("a" + FLAG * 2 + FLAG[0] + "b") == [1, 3, 5, 6]
    assert inner_edges(FLAG + "a" + FLAG) == [2, 3]


def test_regional_indicators_pair_up_from_a_known_edge() -> None:
    text = "a" + FLAG * 2
    assert not is_edge(text, 4, 3)
    assert edge_after(text, 3) == 5


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [(1, 3, 1, 3), (2, 4, 3, 3), (3, 3, 3, 3), (4, 5, 5, 4), (4, 6, 6, 6), (4, 7, 6, 7)],
)
def test_the_first_and_last_edge_of_a_range_fall_back_to_its_far_end(
    low: int, high: int, first: int, last: int
) -> None:
    text = "ab\u0301e\u0301\u0301ghi"  # edges at 1, 3, 6, 7, 8
    assert first_edge(text, 0, low, high) == first
    assert last_edge(text, 0, low, high) == last


@pytest.mark.drawn
@given(st.text("ae\u0301\u200d\u200c\r\n \U0001f1e9\U0001f1ea\ud83d\ude00\u1112\u1161\U0001f3fd\uff9e"))
def test_the_edges_are_those_of_the_definition(text: str) -> None:
    assert [0, *inner_edges(text), len(text)] == (edges(text) if text else [0, 0])


@pytest.mark.drawn
@given(st.text("a\u0301\U0001f1e9\u200d\r\n", min_size=1), st.data())
def test_any_known_edge_gives_the_same_edges(text: str, data: st.DataObject) -> None:
    every = edges(text)
    known = data.draw(st.sampled_from(every[:-1]))
    found = [at for at in range(known + 1, len(text)) if is_edge(text, at, known)]
    assert found == [at for at in every if known < at < len(text)]
