"""Snippets: the best part of a passage, and the words in it that match."""

import time

import pytest

from redstring_ref.cli.snippets import SNIPPET_LENGTH, marked_snippet, matching_spans


def show(text: str, *terms: str) -> str:
    return marked_snippet(text, frozenset(terms), "[", "]")


def snippet(text: str, terms: list[str]) -> str:
    return marked_snippet(text, frozenset(terms), "", "")


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
        ("sho\u00adrt ti\u00ades", ["ties"], "sho\u00adrt [ti\u00ades]"),
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


def test_a_part_of_a_word_at_an_end_is_judged_by_the_whole_word() -> None:
    # Without spaces to cut at, the window begins and ends inside words.
    text = "x" * 100 + "tie" + "-" * 200 + "y" * 3 + "tie" + "z" * 300
    assert "[" not in show(text, "tie")
    text = "_".join(["filler"] * 60 + ["tied"] * 40)
    assert "[tie" not in show(text, "tie")
    assert show("a" * 300, "a" * 255).startswith("[aaa")


def test_a_long_passage_of_many_matches_is_shown_at_once() -> None:
    started = time.process_time()
    assert show("tie " * 100_000, "tie").startswith("[tie] [tie]")
    assert show("検索" * 50_000, "検索").startswith("[検索検索")
    # Quadratic work would take minutes.
    assert time.process_time() - started < 30.0
