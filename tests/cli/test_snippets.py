"""Snippets: the best part of a passage, and the words in it that match."""

import pytest

from redstring_ref.cli.snippets import SNIPPET_LENGTH, marked, matching_spans, snippet


def show(text: str, *terms: str) -> str:
    return marked(text, frozenset(terms), "[", "]")


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("Ties are broken, TIES too.", ["ties"], "[Ties] are broken, [TIES] too."),
        ("tied tie-break untie", ["tie"], "tied [tie]-break untie"),
        ("Straße, STRASSE", ["strasse"], "[Straße], [STRASSE]"),
        ("cafe\u0301 café", ["café"], "[cafe\u0301] [café]"),
        ("the the", ["the"], "the the"),
        ("日本語の検索エンジン", ["検索", "検", "索"], "日本語の[検索]エンジン"),
        ("用iPhone15本", ["iphone15"], "用[iPhone15]本"),
        ("ａＢＣ検索", ["abc"], "[ａＢＣ]検索"),
        ("ﬁ検索", ["fi"], "[ﬁ検索]"),
        ("snake_case", ["case"], "snake_[case]"),
        ("nothing here", ["absent"], "nothing here"),
        ("", ["absent"], ""),
    ],
)
def test_the_words_that_match_are_marked(text: str, terms: list[str], expected: str) -> None:
    assert show(text, *terms) == expected


def test_spans_are_in_order_and_do_not_overlap() -> None:
    spans = matching_spans("検索検索 tie 検 tie", frozenset(["検索", "索検", "検", "tie"]))
    assert spans == [(0, 4), (5, 8), (9, 10), (11, 14)]


def test_a_short_passage_is_shown_whole() -> None:
    assert snippet("short\npassage", ["absent"]) == "short passage"


def test_a_long_passage_without_a_match_is_shown_from_its_start() -> None:
    text = "word " * 100
    shown = snippet(text, ["absent"])
    assert shown.startswith("word word")
    assert shown.endswith("word…")
    assert len(shown) <= SNIPPET_LENGTH + 2


def test_the_part_with_the_most_matches_is_shown_between_whole_words() -> None:
    text = "tie " + "filler " * 60 + "a tie and a tie again " + "filler " * 60
    shown = snippet(text, ["tie"])
    assert shown.startswith("…filler")
    assert shown.endswith("filler…")
    assert shown.count("tie") == 2
    assert len(shown) <= SNIPPET_LENGTH + 2


def test_a_match_at_the_end_is_shown_to_the_end() -> None:
    shown = snippet("filler " * 60 + "the last tie", ["tie"])
    assert shown.startswith("…")
    assert shown.endswith("the last tie")


def test_a_passage_without_spaces_is_cut_at_the_length() -> None:
    shown = snippet("x" * 300 + "検索" + "x" * 300, ["検索"])
    assert "検索" in shown
    assert len(shown) == SNIPPET_LENGTH + 2
