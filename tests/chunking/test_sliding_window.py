"""The sliding window: spans that cover the text, cut where it reads well, in clusters kept whole."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.domain import TextSpan
from redstring_ref.ports import Chunker
from tests.chunking.definition import edges, slow_spans

FLAG = "\U0001f1e9\U0001f1ea"
ACUTE = "\u0301"


def cut(text: str, size: int, overlap: int = 0) -> list[str]:
    return [text[span.start : span.end] for span in SlidingWindowChunker(size, overlap).chunk(text)]


def bounds(text: str, size: int, overlap: int = 0) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in SlidingWindowChunker(size, overlap).chunk(text)]


def test_it_is_a_chunker() -> None:
    assert isinstance(SlidingWindowChunker(), Chunker)
    assert SlidingWindowChunker().chunk("abc") == [TextSpan(0, 3)]


def test_an_empty_text_has_no_span() -> None:
    assert cut("", 1) == cut("", 1000, 200) == []


@pytest.mark.parametrize(
    "text", ["a", "abcd", "a\n\nb", "a. b", "    ", "\n\n\n\n", ACUTE * 4, "\ud83d\ude00"]
)
def test_a_text_that_fits_is_one_span(text: str) -> None:
    assert bounds(text, 4, 3) == [(0, len(text))]


def test_the_rest_that_fits_is_one_span() -> None:
    assert cut("aaaaaaa bb\n\ncc. d", 9) == ["aaaaaaa ", "bb\n\ncc. d"]
    assert cut("aaaaaaa b\n\ncc. def", 9) == ["aaaaaaa ", "b\n\ncc. ", "def"]


def test_a_text_one_longer_than_size_is_two_spans() -> None:
    assert cut("abcde", 4) == ["abcd", "e"]
    assert bounds("x" * 1001, 1000, 200) == [(0, 1000), (800, 1001)]


def test_the_default_is_a_thousand_with_two_hundred_shared() -> None:
    chunker = SlidingWindowChunker()
    assert (chunker.size, chunker.overlap) == (1000, 200)
    assert chunker.chunk("x" * 2000) == [TextSpan(0, 1000), TextSpan(800, 1800), TextSpan(1600, 2000)]


def test_a_paragraph_end_beats_a_later_sentence_end() -> None:
    assert cut("aa bb cc\n\ndd. ee ff gg", 16) == ["aa bb cc\n\n", "dd. ee ff gg"]


def test_a_sentence_end_beats_a_later_word_end() -> None:
    assert cut("aa bb ccc. dd ee ff gg", 16) == ["aa bb ccc. ", "dd ee ff gg"]


def test_a_word_end_beats_a_longer_span() -> None:
    assert cut("aaaa bbbb cccccccc", 12) == ["aaaa bbbb ", "cccccccc"]


def test_without_an_end_the_span_is_as_long_as_it_may_be() -> None:
    assert cut("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert bounds("abcdefghij", 4, 2) == [(0, 4), (2, 6), (4, 8), (6, 10)]


def test_only_ends_in_the_last_half_count() -> None:
    assert cut("abcd efghijk", 10) == ["abcd efghi", "jk"]  # the space is the last of the first half
    assert cut("abcde fghijk", 10) == ["abcde ", "fghijk"]
    assert cut("aaaa\n\nb ccc. dddd", 12) == ["aaaa\n\nb ", "ccc. dddd"]


def test_the_last_half_of_an_odd_size_is_the_longer_one() -> None:
    assert cut("ab cdefg", 5) == ["ab ", "cdefg"]
    assert cut("a bcdefg", 5) == ["a bcd", "efg"]


def test_an_end_counts_up_to_the_size_itself() -> None:
    assert cut("aaaa bbb cccc", 9) == ["aaaa bbb ", "cccc"]
    assert cut("aaaa bbbb cccc", 9) == ["aaaa ", "bbbb cccc"]
    assert cut("aaa. bb\n\ncc dd ee", 9) == ["aaa. bb\n\n", "cc dd ee"]


def test_white_space_belongs_to_the_span_before_as_far_as_it_fits() -> None:
    assert cut("aaaa\n\n\n\nbbbb", 7) == ["aaaa\n\n\n", "\nbbbb"]
    assert cut("aaaa \t  bbbb", 8) == ["aaaa \t  ", "bbbb"]


def test_trailing_white_space_is_covered() -> None:
    assert cut("aaaa   ", 5) == ["aaaa ", "  "]
    assert cut("aaaa\n\n", 6) == ["aaaa\n\n"]
    assert cut("aaaa" + " " * 8, 5) == ["aaaa ", " " * 5, "  "]


def test_leading_white_space_is_covered() -> None:
    assert cut("   aaaa bbbb", 8) == ["   aaaa ", "bbbb"]


def test_carriage_returns_and_line_feeds_stay_together() -> None:
    assert cut("aaa\r\n\r\nbbb. cc", 11) == ["aaa\r\n\r\n", "bbb. cc"]
    assert cut("abcd\r\nefgh", 5) == ["abcd", "\r\nefg", "h"]
    assert cut("\r\n\r\n\r\n", 1) == ["\r\n"] * 3
    assert cut("\r\n\r\n\r\n", 3) == ["\r\n"] * 3
    assert cut("aa\r\n\r\nbb", 5) == ["aa\r\n", "\r\nbb"]


def test_cjk_sentences_are_cut_without_spaces() -> None:
    assert cut("検索は楽しい。本を読む。終わり", 10) == ["検索は楽しい。", "本を読む。終わり"]
    assert cut("「検索は楽しい。」本を読む", 10) == ["「検索は楽しい。」", "本を読む"]
    assert cut("検索は楽しい！？本を読む", 10) == ["検索は楽しい！？", "本を読む"]


def test_the_next_span_starts_at_the_first_word_of_the_overlap() -> None:
    text = "aa bb cc dd ee ff gg"
    assert cut(text, 12, 6) == ["aa bb cc dd ", "cc dd ee ff ", "ee ff gg"]
    assert cut(text, 12, 7) == ["aa bb cc dd ", "cc dd ee ff ", "ee ff gg"]
    assert cut(text, 12, 5) == ["aa bb cc dd ", "dd ee ff gg"]


def test_the_next_span_starts_at_the_first_cjk_sentence_of_the_overlap() -> None:
    assert cut("検索する。本だ。読む。眠る。起きる。", 11, 7) == [
        "検索する。本だ。読む。",
        "本だ。読む。眠る。",
        "読む。眠る。起きる。",
    ]


def test_a_word_longer_than_the_overlap_is_not_shared() -> None:
    assert cut("aaaa bbbb cccc dddd", 10, 3) == ["aaaa bbbb ", "cccc dddd"]
    assert cut("検索する。本を読む。", 6, 3) == ["検索する。", "本を読む。"]


def test_the_overlap_is_taken_whole_where_no_word_starts() -> None:
    assert bounds("abcdefghijkl", 6, 2) == [(0, 6), (4, 10), (8, 12)]
    assert cut("aaaa     " + "b" * 8, 8, 2) == ["aaaa    ", "   bbbbb", "bbbbb"]


def test_the_overlap_starts_at_an_edge() -> None:
    assert cut("abcde" + ACUTE + "fgh", 7, 2) == ["abcde" + ACUTE + "f", "fgh"]
    assert cut("abcde" + ACUTE + "fgh", 7, 3) == ["abcde" + ACUTE + "f", "e" + ACUTE + "fgh"]


def test_without_overlap_each_span_starts_where_the_one_before_ends() -> None:
    text = "One two. Three four five.\n\nSix seven eight. 検索は楽しい。本を読む。" * 5
    for size in (1, 2, 3, 7, 20, 50):
        assert "".join(cut(text, size)) == text


def test_size_one_gives_every_cluster_alone() -> None:
    assert cut("a b\nc", 1) == ["a", " ", "b", "\n", "c"]
    assert cut("e" + ACUTE + "a\r\n" + FLAG * 2, 1) == ["e" + ACUTE, "a", "\r\n", FLAG, FLAG]


def test_the_greatest_overlap_moves_by_one_cluster() -> None:
    assert cut("abcdef", 4, 3) == ["abcd", "bcde", "cdef"]
    assert cut("ab" + ACUTE + "cdef", 4, 3) == ["ab" + ACUTE + "c", "b" + ACUTE + "cd", "cdef"]
    assert cut("a b c d e", 4, 3) == ["a b ", "b c ", "c d ", "d e"]


def test_a_mark_stays_with_its_base() -> None:
    assert cut("abc" + ACUTE + "d", 3) == ["ab", "c" + ACUTE + "d"]
    assert cut("ab" + ACUTE * 3 + "c", 3) == ["a", "b" + ACUTE * 3, "c"]


def test_a_pair_of_surrogates_stays_together() -> None:
    assert cut("ab\ud83d\ude00cd", 3) == ["ab", "\ud83d\ude00c", "d"]
    assert cut("\ud83d\ud83d\ud83d", 1) == ["\ud83d"] * 3


def test_flags_pair_up_from_the_start_of_their_run() -> None:
    assert cut("a" + FLAG * 3, 4) == ["a" + FLAG, FLAG * 2]
    assert cut("a" + FLAG * 4, 4, 3) == ["a" + FLAG, FLAG * 2, FLAG * 2, FLAG * 2]


def test_only_a_cluster_longer_than_size_makes_a_longer_span() -> None:
    family = "\u200d".join("\U0001f468\U0001f469\U0001f467")
    assert cut("ab" + family + "cd", 3, 2) == ["ab", family, "cd"]
    assert cut(family * 2, 3, 2) == [family, family]
    assert cut("ab" + family, 3, 2) == ["ab", family]


def test_a_span_reaches_beyond_the_one_before_it() -> None:
    text = "abcdefghij" + ACUTE * 4 + "klm"  # the cluster at 9 ends at 14
    assert bounds(text, 9, 8) == [(0, 9), (5, 14), (6, 15), (7, 16), (8, 17)]


def test_an_end_within_the_span_before_is_not_found_again() -> None:
    assert cut("aaaa bbb\n\ncccc dddd", 12, 6) == ["aaaa bbb\n\n", "bbb\n\ncccc ", "cccc dddd"]
    assert bounds(" a . ", 3, 2) == [(0, 3), (1, 4), (3, 5)]


def test_a_span_starts_after_the_start_of_the_one_before_it() -> None:
    # The overlap of "ab " reaches back to its own first word.
    assert cut("x ab cdef", 4, 3) == ["x ab", "ab ", "cdef"]


def test_a_span_starts_no_earlier_than_the_overlap_allows() -> None:
    assert bounds(" x。」", 2, 1) == [(0, 2), (1, 3), (2, 4)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 10**6, id="one token"),
        pytest.param(" " * 10**6, id="spaces"),
        pytest.param("\n" * 10**6, id="newlines"),
        pytest.param(FLAG * (5 * 10**5), id="flags"),
        pytest.param("." * 10**6, id="stops"),
    ],
)
def test_a_million_characters_alike_are_cut_evenly(text: str) -> None:
    assert bounds(text, 1000, 200) == [
        (start, min(start + 1000, 10**6)) for start in range(0, 10**6 - 200, 800)
    ]


@pytest.mark.parametrize("character", [ACUTE, "\u200d", "\ufe0f", "\u0903"])
def test_a_million_marks_are_one_span(character: str) -> None:
    assert bounds(character * 10**6, 1000, 200) == [(0, 10**6)]


def test_any_sizes_beyond_the_text_are_accepted() -> None:
    assert cut("One two.", 10**400, 10**399) == ["One two."]


@pytest.mark.parametrize("size", [0, -1, -(10**30)])
def test_a_size_below_one_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=rf"^size must be at least 1, got {size}$"):
        SlidingWindowChunker(size, 0)


def test_a_negative_overlap_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^overlap must be at least 0, got -1$"):
        SlidingWindowChunker(10, -1)


@pytest.mark.parametrize(("size", "overlap"), [(1, 1), (10, 10), (10, 11), (100, 200)])
def test_an_overlap_that_is_not_less_than_size_is_refused(size: int, overlap: int) -> None:
    message = rf"^overlap must be less than size {size}, got {overlap}$"
    with pytest.raises(ValueError, match=message):
        SlidingWindowChunker(size, overlap)


def test_the_default_overlap_needs_a_greater_size() -> None:
    with pytest.raises(ValueError, match=r"^overlap must be less than size 100, got 200$"):
        SlidingWindowChunker(100)


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, [1]])
def test_a_length_that_is_no_integer_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"^size must be an integer, got "):
        SlidingWindowChunker(value, 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^overlap must be an integer, got "):
        SlidingWindowChunker(10, value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, b"text", 1, ["text"], bytearray(b"")])
def test_a_text_that_is_no_str_is_refused(text: object) -> None:
    with pytest.raises(TypeError, match=r"^text must be a str, got .+ \(\w+\)$"):
        SlidingWindowChunker().chunk(text)  # type: ignore[arg-type]


def test_it_shows_its_lengths() -> None:
    assert repr(SlidingWindowChunker(100, 20)) == "SlidingWindowChunker(size=100, overlap=20)"


# Few characters of every kind, so that what has a rule meets often.
TEXTS = st.lists(
    st.sampled_from(
        [
            *'ab检. \n\r"。」”！?',
            "\n\n",
            ". ",
            "word ",
            ACUTE,
            "\u200d",
            "\U0001f1e9",
            "\ud83d",
            "\ude00",
            "\u1161",
        ]
    ),
    max_size=60,
).map("".join)
LENGTHS = st.integers(1, 25).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@pytest.mark.drawn
@given(TEXTS, LENGTHS)
@example("aa bb cc dd", (4, 3))
def test_the_spans_are_those_of_the_definition(text: str, lengths: tuple[int, int]) -> None:
    assert bounds(text, *lengths) == slow_spans(text, *lengths)


@pytest.mark.drawn
@given(st.text(max_size=80), LENGTHS)
def test_the_spans_of_any_text_are_those_of_the_definition(text: str, lengths: tuple[int, int]) -> None:
    assert bounds(text, *lengths) == slow_spans(text, *lengths)


@pytest.mark.drawn
@given(TEXTS, LENGTHS)
def test_spans_cover_the_text_in_order_and_none_lies_within_another(
    text: str, lengths: tuple[int, int]
) -> None:
    spans = bounds(text, *lengths)
    assert [start for start, _ in spans[:1]] == [0][: len(text)]
    assert [end for _, end in spans[-1:]] == [len(text)][: len(text)]
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end < next_end


@pytest.mark.drawn
@given(TEXTS, LENGTHS)
def test_what_each_span_adds_makes_up_the_text(text: str, lengths: tuple[int, int]) -> None:
    ends = [0, *(end for _, end in bounds(text, *lengths))]
    assert "".join(text[start:end] for start, end in pairwise(ends)) == text


@pytest.mark.drawn
@given(TEXTS, LENGTHS)
def test_no_span_is_longer_than_size_but_one_cluster_and_none_shares_more_than_overlap(
    text: str, lengths: tuple[int, int]
) -> None:
    size, overlap = lengths
    spans, every = bounds(text, size, overlap), edges(text)
    for start, end in spans:
        assert end - start <= size or every.index(end) == every.index(start) + 1
    assert all(end - start <= overlap for (_, end), (start, _) in pairwise(spans))


@pytest.mark.drawn
@given(TEXTS, LENGTHS)
def test_every_cut_falls_on_an_edge(text: str, lengths: tuple[int, int]) -> None:
    cuts = {at for span in bounds(text, *lengths) for at in span}
    assert cuts <= set(edges(text))
    assert not any(re.match(r"[\u0301\u200d\u1161]", text[at:]) for at in cuts - {0})
