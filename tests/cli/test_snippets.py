"""Snippets: the best part of a passage, in lines, with the words in it that match."""

import time

import pytest

from redstring_ref.cli.snippets import SNIPPET_LENGTH, Snippet


def shown(text: str, *terms: str) -> str:
    (line,) = Snippet.of(text, frozenset(terms)).lines(1000, "[", "]")
    return line


def test_a_short_passage_is_shown_whole() -> None:
    assert shown("short\npassage", "absent") == "short passage"
    assert list(Snippet.of("", frozenset()).lines(10, "[", "]")) == []


def test_nothing_in_a_snippet_drives_a_terminal() -> None:
    assert shown("a\tb \x1b[31mred pass\u202eword", "password") == "a b \ufffd[31mred [pass\ufffdword]"


def test_a_long_passage_without_a_match_is_shown_from_its_start() -> None:
    text = shown("word " * 100, "absent")
    assert text.startswith("word word")
    assert text.endswith("word…")
    assert len(text) <= SNIPPET_LENGTH + 2


def test_the_part_with_the_most_matches_is_shown_between_whole_words() -> None:
    text = shown("tie " + "filler " * 60 + "a tie and a tie again " + "filler " * 60, "tie")
    assert text.startswith("…filler")
    assert text.endswith("filler…")
    assert text.count("[tie]") == 2
    assert len(text) <= SNIPPET_LENGTH + 6


def test_a_match_at_the_end_is_shown_to_the_end() -> None:
    text = shown("filler " * 60 + "the last tie", "tie")
    assert text.startswith("…")
    assert text.endswith("the last [tie]")


def test_a_passage_without_spaces_is_cut_at_the_length() -> None:
    text = shown("x" * 300 + "検索" + "x" * 300, "検索", "検", "索")
    assert "[検索]" in text
    assert len(text) == SNIPPET_LENGTH + 4


def test_a_word_that_the_cut_makes_look_like_a_match_is_not_marked() -> None:
    # The cut falls behind the first three letters of one word, and before the last three of another.
    text = Snippet.of("-" * (SNIPPET_LENGTH - 3) + "tiebreak", frozenset(["tie"]))
    assert text.text.endswith("-tie…")
    assert text.spans == []
    text = Snippet.of("x" * 300 + "tie" + "-" * 37 + "hit" + "-" * 300, frozenset(["tie", "hit"]))
    assert text.text.startswith("…tie-")
    assert [text.text[start:stop] for start, stop in text.spans] == ["hit"]


def test_a_matching_word_that_is_cut_is_marked_as_far_as_it_is_shown() -> None:
    text = Snippet.of("hit-hit" + "-" * (SNIPPET_LENGTH - 10) + "tiebreak" + "-" * 300, {"hit", "tiebreak"})
    assert [text.text[start:stop] for start, stop in text.spans] == ["hit", "hit", "tie"]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (100, ["one [two]-three [four] five"]),
        (14, ["one [two]-three", "[four] five"]),
        (13, ["one [two]-three", "[four] five"]),
        (12, ["one", "[two]-three", "[four] five"]),
        (1, ["one", "[two]-three", "[four]", "five"]),
    ],
)
def test_lines_break_between_words_only_and_marks_do_not_count(width: int, lines: list[str]) -> None:
    snippet = Snippet.of("one two-three four five", frozenset(["two", "four"]))
    assert list(snippet.lines(width, "[", "]")) == lines


def test_a_marked_word_longer_than_a_line_keeps_its_marks() -> None:
    snippet = Snippet.of(f"a {'x' * 50} b", frozenset(["x" * 50]))
    assert list(snippet.lines(20, "[", "]")) == ["a", f"[{'x' * 50}]", "b"]


def test_many_matches_are_no_more_work_than_their_number() -> None:
    started = time.perf_counter()
    assert shown("tie " * 50_000, "tie").startswith("[tie] [tie]")
    assert time.perf_counter() - started < 5.0
