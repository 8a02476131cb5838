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
        pytest.param("\u0644\u200d", id="joiner at the end"),
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
    assert inner_edges(f"a{cluster}b") == ([1, 1 + len(cluster)] if cluster[-1] != "\u200d" else [1])
    assert edge_after(f"a{cluster}", 1) == 1 + len(cluster)


@pytest.mark.parametrize(
    "text",
    [
        "ab",
        "検索",
        "\n\r",
        "\n\n",
        "\r\r",
        "\ude00\ud83d",
        "\ud83d\ud83d",
        "\ude00\ude00",
        "\ud83da",
        "a\ude00",
    ],
)
def test_characters_of_their_own_are_cut_apart(text: str) -> None:
    assert inner_edges(text) == [1]


@pytest.mark.parametrize(
    ("before", "after"),
    [("a", "\u200b"), ("a", "\u200e"), ("\u200c", "a"), ("\U0001f469", "\U0001f680"), ("\u0e01", "\u0e32")],
)
def test_neighbours_of_the_ranges_do_not_continue_a_cluster(before: str, after: str) -> None:
    assert inner_edges(before + after) == [1]


def test_regional_indicators_pair_up_from_the_start_of_their_run() -> None:
    assert inner_edges("a" + FLAG * 2 + FLAG[0] + "b") == [1, 3, 5, 6]
    assert inner_edges(FLAG + "a" + FLAG) == [2, 3]


def test_regional_indicators_pair_up_from_a_known_edge() -> None:
    text = "a" + FLAG * 2
    assert [at for at in range(4, 6 - 1) if is_edge(text, at, 3)] == []
    assert edge_after(text, 3) == 5


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [(1, 3, 1, 3), (2, 4, 3, 3), (3, 3, 3, 3), (4, 5, 5, 4), (4, 6, 6, 6), (4, 7, 6, 7)],
)
def test_the_first_and_last_edge_of_a_range_fall_back_to_its_far_end(
    low: int, high: int, first: int, last: int
) -> None:
    text = "abce\u0301\u0301ghi"  # edges at 1, 2, 3, 6, 7, 8
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
