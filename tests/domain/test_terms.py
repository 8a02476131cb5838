"""The tokenizer, rule by rule, and its tables against what else is known of Unicode."""

import unicodedata
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import STOPWORDS, tokenize
from redstring_ref.domain.terms import _IGNORABLE, _SPACELESS_CHARACTER, fold, words

EVERY_CODE_POINT = range(0x110000)


def pieces(characters: str) -> list[str]:
    """Return the characters and their overlapping pairs by position: TXT-4, written down the slow way."""
    found = [characters[0]]
    for left, right in pairwise(characters):
        found += [left + right, right]
    return found


# Whatever it is


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        *[
            ("", []),
            ("   ", []),
            ("?!", []),
            ("\n\t\x00\x1f", []),
            ("_", []),
            ("\U0001f9f5", []),
            ("a & ( <->", []),
        ],
        *[("What's up?", ["what", "s", "up"]), ("100% 's", ["100", "s"]), ("C++", ["c"]), ("C#", ["c"])],
        *[
            ("e-mail", ["e", "mail"]),
            ("3.14", ["3", "14"]),
            ("x86_64", ["x86", "64"]),
            ("a.b@c.d", ["b", "c", "d"]),
        ],
        *[
            ("don\u2019t", ["don", "t"]),
            ("'quoted'", ["quoted"]),
            ("\\'; DROP --", ["drop"]),
            ("foo:*", ["foo"]),
        ],
    ],
)
def test_punctuation_separates(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize("around", ["", " ", "\u0301", "\U0001f9f5"])
@pytest.mark.parametrize("code_points", [(0xD800,), (0xDBFF,), (0xDC00,), (0xDFFF,), (0xD83E, 0xDDF5)])
def test_a_surrogate_only_separates(code_points: tuple[int, ...], around: str) -> None:
    text = around + "".join(map(chr, code_points)) + around
    assert tokenize(text) == []
    assert tokenize(f"left {text}right") == ["left", "right"]


@pytest.mark.parametrize("value", [None, b"text", 1, ["text"], ("a", "b")])
def test_what_is_not_a_str_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="text must be a str, got "):
        tokenize(value)


def test_every_code_point_is_accepted() -> None:
    text = " ".join(map(chr, EVERY_CODE_POINT))
    assert all(1 <= len(term) <= 255 for term in tokenize(text))


# TXT-1


def test_the_ignorable_code_points_are_those_of_the_unicode_derivation() -> None:
    # DerivedCoreProperties.txt: Other_Default_Ignorable_Code_Point, and of the format characters
    # all but the annotation, Egyptian hieroglyph and prepended concatenation marks, and the
    # variation selectors.
    other = {
        *[0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0],
        *range(0xFFF0, 0xFFF9),
        *range(0xE0000, 0xE1000),
    }
    prepended = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    kept = {*range(0xFFF9, 0xFFFC), *range(0x13430, 0x13440), *prepended}
    derived = other | {
        code_point
        for code_point in EVERY_CODE_POINT
        if (unicodedata.category(chr(code_point)) == "Cf" and code_point not in kept)
        or "VARIATION SELECTOR" in unicodedata.name(chr(code_point), "")
    }
    assert {code_point for code_point in EVERY_CODE_POINT if _IGNORABLE.match(chr(code_point))} == derived


@pytest.mark.parametrize(
    "invisible",
    [
        *[
            "\u00ad",
            "\u034f",
            "\u061c",
            "\u180b",
            "\u180e",
            "\u180f",
            "\u200b",
            "\u200c",
            "\u200d",
            "\u200e",
            "\u200f",
        ],
        *["\u202a", "\u202e", "\u2060", "\u2065", "\u206f", "\ufe00", "\ufe0f", "\ufeff", "\ufff0", "\ufff8"],
        *["\u115f", "\u1160", "\u17b4", "\u17b5", "\u3164", "\uffa0", "\U0001bca0", "\U0001d17a"],
        *[
            "\U000e0000",
            "\U000e0001",
            "\U000e007f",
            "\U000e0100",
            "\U000e01ef",
            "\U000e0fff",
            "\u200b\ufeff\u00ad",
        ],
    ],
)
def test_an_invisible_character_neither_separates_nor_counts(invisible: str) -> None:
    assert tokenize(f"{invisible}co{invisible}operate{invisible}") == ["cooperate"]
    assert tokenize(invisible) == []


@pytest.mark.parametrize(
    "visible", ["\u00ac", "\u2010", "\u2011", "\u2028", "\u202f", "\ufff9", "\u0600", "\u180a"]
)
def test_their_neighbours_separate(visible: str) -> None:
    assert tokenize(f"co{visible}operate") == ["co", "operate"]


def test_they_are_dropped_before_normalization() -> None:
    # A joiner between a letter and its accent would keep them apart under NFKC.
    assert tokenize("e\u200d\u0301") == tokenize("e\u034f\u0301") == ["\u00e9"]


# TXT-2


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        *[
            ("Straße STRASSE ẞ", ["strasse", "strasse", "ss"]),
            ("ΣΑΣ σας", ["σασ", "σασ"]),
            ("ﬁ ﬀ", ["fi", "ff"]),
        ],
        *[("ＡＢＣ１２３", ["abc123"]), ("x²", ["x2"]), ("½", ["1", "2"]), ("Ⅳ", ["iv"]), ("№5", ["no5"])],
        *[("İ", ["i\u0307"]), ("ı", ["ı"]), ("K", ["k"]), ("Å", ["å"]), ("ŉ", ["ʼn"]), ("ǆ ǅ Ǆ", ["dž"] * 3)],
        *[("ｱｶﾞ", ["ア", "アガ", "ガ"]), ("㍿", pieces("株式会社")), ("Ꭰ ꭰ", ["Ꭰ", "Ꭰ"]), ("ⓐⓑ", ["ab"])],
        # A compatibility ypogegrammeni is a space and a mark, which case folding makes a letter.
        *[("x\u037a", ["x", "ι"]), ("ᾳ", ["αι"]), ("\u1e9b\u0323", ["ṩ"])],
    ],
)
def test_case_and_compatibility_forms_fold_away(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    "text",
    [
        "Élan naïve Ångström",
        "Việt Nam",
        "한국어 검색",
        "がぎぐ",
        "ஔவை",
        "\u0344\u1e9b\u0323 q\u0307\u0323",
        "Ǆ İ ẛ̣",
    ],
)
def test_composed_and_decomposed_text_gives_the_same_terms(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert tokenize(composed) == tokenize(decomposed) == tokenize(text)
    assert composed != decomposed


def test_folding_a_folded_character_changes_nothing() -> None:
    texts = (chr(code_point) for code_point in EVERY_CODE_POINT)
    assert [text for text in texts if fold(fold(text)) != fold(text)] == []


def test_no_folded_character_is_invisible() -> None:
    assert [code_point for code_point in EVERY_CODE_POINT if _IGNORABLE.search(fold(chr(code_point)))] == []


# TXT-3


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        *[
            ("snake_case __init__", ["snake", "case", "init"]),
            ("हिन्दी में", ["हिन्दी", "में"]),
            ("ไทยดี", ["ไทยดี"]),
        ],
        *[("مُحَمَّد", ["مُحَمَّد"]), ("٣٤ ३४", ["٣٤", "३४"]), ("ab1 1ab 1", ["ab1", "1ab", "1"]), ("x͂1", ["x͂1"])],
        *[
            ("שָׁלוֹם", [unicodedata.normalize("NFKC", "שָׁלוֹם")]),
            ("ᚠᛇ 𐍈 𝔅", ["ᚠᛇ", "𐍈", "b"]),
            ("Ⅷ ↀ", ["viii", "ↀ"]),
        ],
    ],
)
def test_a_run_is_letters_marks_and_numbers(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u20dd", "\u0903", "\u0301" * 1000])
def test_marks_that_lead_a_run_are_dropped(marks: str) -> None:
    assert tokenize(marks) == []
    assert tokenize(f"{marks}x") == tokenize(f"-{marks}x") == ["x"]
    assert tokenize(f"x - {marks} {marks}1y") == ["x", "1y"]


def test_the_categories_of_a_run_are_those_of_this_interpreter() -> None:
    for code_point in EVERY_CODE_POINT:
        character = chr(code_point)
        stable = not _IGNORABLE.match(character) and fold(character) == character
        if stable and character not in STOPWORDS:
            expected = [character] if unicodedata.category(character)[0] in "LN" else []
            assert tokenize(character) == expected, hex(code_point)


# TXT-4


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        *[
            ("検", ["検"]),
            ("検索", ["検", "検索", "索"]),
            ("検索語", pieces("検索語")),
            ("検検検", pieces("検検検")),
        ],
        *[
            ("ひらカタ漢字한글", pieces("ひらカタ漢字한글")),
            ("검색 엔진", [*pieces("검색"), *pieces("엔진")]),
        ],
        *[
            ("ラーメン", pieces("ラーメン")),
            ("時々", pieces("時々")),
            ("〆切", pieces("〆切")),
            ("こゝろ", pieces("こゝろ")),
        ],
        *[
            ("くヽ", pieces("くヽ")),
            ("〱〲〳〴〵", pieces("〱〲〳〴〵")),
            ("〇一", pieces("〇一")),
            ("ー", ["ー"]),
        ],
        *[("\U00020000\U0003134a", pieces("\U00020000\U0003134a")), ("\uf900", ["豈"]), ("ㇰ", ["ㇰ"])],
        *[
            ("iPhone15用ケース", ["iphone15", *pieces("用ケース")]),
            ("用abc検索", ["用", "abc", *pieces("検索")]),
        ],
        *[
            ("第3章", ["第", "3", "章"]),
            ("検索、検索", [*pieces("検索"), *pieces("検索")]),
            ("検_索", ["検", "索"]),
        ],
        *[("検\u200b索", pieces("検索")), ("検ไ索", ["検", "ไ", "索"]), ("ab検", ["ab", "検"])],
    ],
)
def test_scripts_without_spaces_give_characters_and_pairs(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ア\u3099", ["ア\u3099"]),
        ("ア\u3099イ", ["ア\u3099", "ア\u3099イ", "イ"]),
        ("検\u0301\u0323a\u0302b検", ["検\u0323\u0301", "âb", "検"]),
        ("ab\u0302検", ["ab\u0302", "検"]),
        ("\u3099検索", ["検", "検索", "索"]),
        ("中\U00016ff0", ["中\U00016ff0"]),
        ("中\U00016ff1国", ["中\U00016ff1", "中\U00016ff1国", "国"]),
        ("한\u302e글", ["한\u302e", "한\u302e글", "글"]),
    ],
)
def test_a_mark_belongs_to_the_character_before_it(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    "text", ["ไทย", "ພາສາ", "မြန်မာ", "ㄅㄆㄇ", "ꀀꀁ", "\U0001b170\U0001b171", "\U00018b00\U00018b01"]
)
def test_other_scripts_stay_whole(text: str) -> None:
    assert tokenize(text) == [unicodedata.normalize("NFKC", text)]


def test_the_characters_without_spaces_are_those_that_their_names_tell() -> None:
    named = (
        *("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "HENTAIGANA", "HANGZHOU", "IDEOGRAPHIC"),
        *("VERTICAL KANA", "VERTICAL IDEOGRAPHIC", "MASU MARK", "OLD CHINESE ITERATION MARK"),
        *("CHINESE SMALL", "YANGQIN"),  # of Unicode 17
    )
    for code_point in EVERY_CODE_POINT:
        character = chr(code_point)
        name = unicodedata.name(character, "")
        tally = name.startswith("IDEOGRAPHIC TALLY")  # of the common script
        if unicodedata.category(character)[0] in "LN" and fold(character) == character:
            expected = name.startswith(named) and not tally
            assert bool(_SPACELESS_CHARACTER.match(character)) == expected, name


def test_no_mark_is_a_character_without_spaces() -> None:
    marks = [chr(each) for each in EVERY_CODE_POINT if unicodedata.category(chr(each))[0] == "M"]
    assert [mark for mark in marks if _SPACELESS_CHARACTER.match(mark)] == []


# TXT-5


@pytest.mark.parametrize(
    ("length", "lengths"),
    [(254, [254]), (255, [255]), (256, [255, 1]), (510, [255, 255]), (511, [255, 255, 1])],
)
@pytest.mark.parametrize("letter", ["x", "é", "ß", "\U00010348"])
def test_a_long_term_is_cut_every_255_characters(letter: str, length: int, lengths: list[int]) -> None:
    folded = fold(letter * length)[:length]
    found = tokenize(folded)
    assert [len(term) for term in found] == lengths
    assert "".join(found) == folded


def test_the_cut_counts_characters_after_folding() -> None:
    assert [len(term) for term in tokenize("ß" * 128)] == [255, 1]


def test_a_piece_that_is_a_stopword_is_dropped() -> None:
    assert tokenize("x" * 255 + "the") == ["x" * 255]
    assert words("x" * 255 + "the") == ["x" * 255, "the"]


def test_a_character_with_300_marks_is_cut_too() -> None:
    found = tokenize("検" + "\u0301" * 300 + "索")
    assert [len(term) for term in found] == [255, 46, 255, 47, 1]


@pytest.mark.parametrize(
    ("text", "count"),
    [("x" * 2**20, 4113), ("\u0301" * 2**20, 0), ("x" + "\u0301" * 2**20, 4113), ("検" * 2**18, 2**19 - 1)],
)
def test_a_mebibyte_of_one_character_takes_no_time_to_speak_of(text: str, count: int) -> None:
    started = perf_counter()
    assert len(tokenize(text)) == count  # 2**20 is 4,112 times 255 and 16
    assert perf_counter() - started < 5


# TXT-6


def test_the_stopwords_are_these_32() -> None:
    # fmt: off
    assert sorted(STOPWORDS) == [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "he", "in",
        "is", "it", "its", "of", "on", "or", "she", "that", "the", "their", "they", "this", "to", "was",
        "were", "will", "with",
    ]
    # fmt: on
    assert len(STOPWORDS) == 32


@pytest.mark.parametrize("word", sorted(STOPWORDS))
def test_a_stopword_is_dropped_in_every_form(word: str) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in word)
    assert tokenize(f"{word} {word.upper()} {wide} x {word}") == ["x"]
    assert words(f"{word} x") == [word, "x"]
    assert tokenize(f"{word}x {word}1 x{word}") == [f"{word}x", f"{word}1", f"x{word}"]


@pytest.mark.parametrize(
    "word", ["i", "not", "no", "we", "you", "his", "her", "these", "had", "been", "s", "t"]
)
def test_no_other_word_is_dropped(word: str) -> None:
    assert tokenize(word) == [word]


def test_order_and_repeats_are_kept_and_nothing_is_stemmed() -> None:
    assert tokenize("ties, tie, ties and tied") == ["ties", "tie", "ties", "tied"]


# Drawn


def not_spaceless(character: str) -> bool:
    return not _SPACELESS_CHARACTER.search(fold(character))


spaced_text = st.text(
    st.characters(categories=["L", "M", "N", "P", "Zs", "Cf", "Sm"]).filter(not_spaceless)
    | st.sampled_from("aeiou\u0301\u0308\u0345\u034f\u200d 1_-İßΣςﬁ½\u037aͅ"),
    max_size=40,
)


@pytest.mark.drawn
@given(spaced_text)
def test_tokenizing_the_joined_terms_again_keeps_the_set_of_terms(text: str) -> None:
    terms = tokenize(text)
    assert set(tokenize(" ".join(terms))) == set(terms)


@pytest.mark.drawn
@given(st.text(max_size=40))
def test_every_normal_form_that_is_canonical_gives_the_same_terms(text: str) -> None:
    terms = tokenize(text)
    assert tokenize(unicodedata.normalize("NFC", text)) == terms
    assert tokenize(unicodedata.normalize("NFD", text)) == terms


@pytest.mark.drawn
@given(st.text(max_size=40), st.text(max_size=40))
def test_a_space_between_two_texts_keeps_their_terms_apart(left: str, right: str) -> None:
    assert tokenize(f"{left} . {right}") == tokenize(left) + tokenize(right)


@pytest.mark.drawn
@given(st.text(st.sampled_from("検索語ひカ한"), min_size=1, max_size=30))
def test_a_stretch_of_n_characters_gives_them_and_n_minus_1_pairs(text: str) -> None:
    assert tokenize(text) == pieces(text)


@pytest.mark.drawn
@given(st.text(max_size=60))
def test_a_term_is_not_empty_not_a_stopword_and_starts_with_a_letter_or_number(text: str) -> None:
    for term in tokenize(text):
        assert 1 <= len(term) <= 255
        assert term not in STOPWORDS
        assert unicodedata.category(term[0])[0] in "LN"
        assert {unicodedata.category(character)[0] for character in term} <= set("LMN")
