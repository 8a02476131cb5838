"""Boundaries: the ends of paragraphs, sentences and words, and the starts of words."""

import pytest

from redstring_ref.chunking.boundaries import first_word, last_end


def ends_after(text: str) -> str | None:
    """Return what of `text` stands before its last end; more text follows it."""
    end = last_end(text + "x", 0, 0, len(text))
    return None if end is None else text[:end]


@pytest.mark.parametrize(
    "gap", ["\n\n", "\n\n\n", "\n \t\n", "\r\n\r\n", "\r\n \r\n", " \n\n  ", "\n\u3000\n", "\n\x0c\n\n"]
)
def test_a_paragraph_ends_after_a_blank_line_and_its_white_space(gap: str) -> None:
    assert ends_after(f"one{gap}Two. Three four") == f"one{gap}"


@pytest.mark.parametrize("gap", ["\n", "\r\n", "  ", "\r", "\u2028", "\r\r"])
def test_a_single_line_end_is_no_paragraph_end(gap: str) -> None:
    assert ends_after(f"one{gap}Two. Three four") == f"one{gap}Two. "


@pytest.mark.parametrize(
    "stop",
    [". ", "! ", "? ", "… ", "?! ", "... ", '." ', ".”\n", "!’)  ", "?»\t", ".]\r\n", ".'\u3000", "!」 "],
)
def test_a_sentence_ends_with_a_stop_closing_marks_and_white_space(stop: str) -> None:
    assert ends_after(f"One two{stop}three four") == f"One two{stop}"


@pytest.mark.parametrize(
    "stop", ["。", "！", "？", "！？", "。」", "。』」", "！）", "？”", "。 ", "。」\u3000", "。】"]
)
def test_a_cjk_sentence_ends_without_white_space(stop: str) -> None:
    assert ends_after(f"検索{stop}文 書") == f"検索{stop}"


@pytest.mark.parametrize("stop", [".", ".5", ",", ":", ".“", ".(", ";", "·"])
def test_other_marks_end_no_sentence(stop: str) -> None:
    assert ends_after(f"One{stop}two three") == f"One{stop}two "


def test_an_opening_quote_belongs_to_the_next_cjk_sentence() -> None:
    assert ends_after("检索。“文 书") == "检索。"


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\u3000", "\xa0", "\u2028", "  ", "\r\n", "\x85"])
def test_a_word_ends_after_its_white_space(space: str) -> None:
    assert ends_after(f"one two{space}three") == f"one two{space}"


def test_a_text_of_one_word_has_no_end() -> None:
    assert ends_after("検索") is None
    assert ends_after("") is None


def test_the_last_end_of_the_best_kind_wins() -> None:
    assert ends_after("a\n\nb\n\nC. D. e f") == "a\n\nb\n\n"
    assert ends_after("a b. c d! e f g") == "a b. c d! "
    assert ends_after("a b c d") == "a b c "


def test_an_end_lies_whole_within_its_range() -> None:
    text = "One.\n\n Two"
    assert last_end(text, 0, 4, 9) == 7  # the blank line is inside
    assert last_end(text, 0, 3, 5) == 5  # only one newline is
    assert last_end(text, 0, 5, 9) == 7  # only white space is: a word end
    assert last_end(text, 0, 7, 9) is None
    assert last_end("One. Two", 0, 4, 8) == 5
    assert last_end("One. ", 0, 0, 4) is None


def test_the_range_cuts_white_space_where_it_ends() -> None:
    text = "One.\n\n\n\nTwo"
    assert [last_end(text, 0, 0, high) for high in range(4, 9)] == [None, 5, 6, 7, 8]


def test_white_space_that_carries_a_mark_ends_nothing() -> None:
    assert last_end("one two \u0301x", 0, 0, 9) == 4
    assert last_end("one  \u0301x", 0, 0, 6) == 4
    assert last_end("。\u0301x", 0, 0, 2) is None


def test_an_end_never_falls_between_carriage_return_and_line_feed() -> None:
    assert last_end("one\r\n\u0301x", 0, 0, 6) is None
    assert last_end("one \r\n\u0301x", 0, 0, 7) == 4


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        pytest.param("One two three", 1, 9, 4, id="the first of several"),
        pytest.param("One two three", 4, 9, 4, id="at the low end"),
        pytest.param("One two three", 5, 9, 8, id="the next one"),
        pytest.param("One two three", 5, 8, 8, id="at the high end"),
        pytest.param("One two three", 5, 7, None, id="beyond the high end"),
        pytest.param("One  two", 4, 4, None, id="white space at the high end"),
        pytest.param("One  two", 4, 5, 5, id="after all white space"),
        pytest.param("One “two”", 1, 8, 4, id="with its opening quote"),
        pytest.param('One "two"', 1, 8, 4, id="with a straight quote"),
        pytest.param("検索。文書", 1, 4, 3, id="after a CJK stop"),
        pytest.param("検索。」文書", 1, 4, 4, id="after a CJK stop and a closing quote"),
        pytest.param("検索。」文書", 1, 3, None, id="not at a closing quote"),
        pytest.param("検索！？文書", 1, 3, None, id="not between stops"),
        pytest.param("検索。」！」文", 1, 6, 6, id="after stops and closing marks in turn"),
        pytest.param("検索。 文書", 1, 4, 4, id="after a CJK stop and white space"),
        pytest.param("検索。文書", 3, 4, 3, id="after a CJK stop just before the range"),
        pytest.param("検索。」文書", 4, 5, None, id="not after a CJK stop further off"),
        pytest.param("検索文書", 1, 3, None, id="no word at all"),
        pytest.param("One.two", 1, 5, None, id="no white space after a stop"),
        pytest.param("a \u0301b c", 1, 6, 5, id="not at a mark on white space"),
    ],
)
def test_a_word_starts_after_white_space_or_a_cjk_sentence(
    text: str, low: int, high: int, expected: int | None
) -> None:
    assert first_word(text, 0, low, high) == expected
