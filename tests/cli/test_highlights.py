"""Highlights: the words of a text that match a query."""

import time

import pytest

from redstring_ref.cli.highlights import matching_spans


def show(text: str, *terms: str) -> str:
    for start, stop in reversed(matching_spans(text, frozenset(terms))):
        text = f"{text[:start]}[{text[start:stop]}]{text[stop:]}"
    return text


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
        ("ﬁ検索", ["fi"], "[ﬁ]検索"),
        ("か\u3099検索", ["が"], "[か\u3099]検索"),
        ("検\ufe00索引", ["索"], "検\ufe00[索]引"),
        ("検\ufe00索引", ["検"], "[検\ufe00]索引"),
        ("ｶﾞ索引", ["索"], "[ｶﾞ索引]"),
        (
            "co\u00adoperate, zero\u200bwidth",
            ["cooperate", "zerowidth"],
            "[co\u00adoperate], [zero\u200bwidth]",
        ),
        ("a pass\u202eword", ["password"], "a [pass\u202eword]"),
        ("Foo™ 5℃", ["footm", "c"], "[Foo™] 5[℃]"),
        ("\u200b \u0301", ["absent"], "\u200b \u0301"),
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


def test_a_word_that_repeats_a_term_ten_thousand_times_is_no_more_work_than_its_length() -> None:
    started = time.perf_counter()
    assert matching_spans("検索" * 10_000, frozenset(["検", "検索"])) == [(0, 20_000)]
    assert time.perf_counter() - started < 5.0
