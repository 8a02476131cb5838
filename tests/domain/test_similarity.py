"""Names: how alike two are, and which are compared at all."""

import random
from fractions import Fraction
from typing import Any

import jellyfish
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redstring_ref.domain import blocking_keys, jaro, jaro_winkler, name_similarity
from redstring_ref.domain.similarity import normalized_name

# Each is one code point and one grapheme, so that both libraries count alike.
LETTERS = st.characters(codec="utf-8", categories=("Lu", "Ll"), max_codepoint=0x52F)
STRINGS = st.one_of(
    *(st.text(letters, max_size=14) for letters in ("ab", "abc d", st.characters(codec="ascii"), LETTERS))
)

# Winkler, table 6 of The State of Record Linkage and Current Research Problems (1999), and others.
TEXTBOOK = [
    ("SHACKLEFORD", "SHACKELFORD", 0.970, 0.982),
    ("DUNNINGHAM", "CUNNIGHAM", 0.896, 0.896),
    ("NICHLESON", "NICHULSON", 0.926, 0.956),
    ("JONES", "JOHNSON", 0.790, 0.832),
    ("MASSEY", "MASSIE", 0.889, 0.933),
    ("ABROMS", "ABRAMS", 0.889, 0.922),
    ("JERALDINE", "GERALDINE", 0.926, 0.926),
    ("MARHTA", "MARTHA", 0.944, 0.961),
    ("MICHELLE", "MICHAEL", 0.869, 0.921),
    ("JULIES", "JULIUS", 0.889, 0.933),
    ("TANYA", "TONYA", 0.867, 0.880),
    ("DWAYNE", "DUANE", 0.822, 0.840),
    ("SEAN", "SUSAN", 0.783, 0.805),
    ("JON", "JOHN", 0.917, 0.933),
    ("DIXON", "DICKSONX", 0.767, 0.813),
]


def assert_as_jellyfish(left: str, right: str) -> None:
    plain, raised = jellyfish.jaro_similarity(left, right), jellyfish.jaro_winkler_similarity(left, right)
    assert jaro(left, right) == pytest.approx(plain, abs=1e-12)
    # It adds rounded parts, and so takes a few pairs of exactly 0.7 for more.
    if jaro(left, right) != 0.7:
        assert jaro_winkler(left, right) == pytest.approx(raised, abs=1e-12)


@pytest.mark.parametrize(("left", "right", "plain", "raised"), TEXTBOOK)
def test_textbook_pairs_have_their_textbook_values(
    left: str, right: str, plain: float, raised: float
) -> None:
    assert jaro(left, right) == pytest.approx(plain, abs=0.00051)
    assert jaro_winkler(left, right) == pytest.approx(raised, abs=0.00051)
    assert jaro(left, right) == jaro(right, left)
    assert jaro_winkler(left, right) == jaro_winkler(right, left)


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [("MARTHA", "MARHTA", 0.9611), ("DIXON", "DICKSONX", 0.8133), ("DWAYNE", "DUANE", 0.84)],
)
def test_textbook_pairs_have_four_known_digits(left: str, right: str, value: float) -> None:
    assert round(jaro_winkler(left, right), 4) == value


@pytest.mark.parametrize("text", ["", "a", "aa", "martha", "検索", "\U0001f9f5", " "])
def test_equal_strings_are_wholly_alike(text: str) -> None:
    assert jaro(text, text) == 1.0
    assert jaro_winkler(text, text) == 1.0


@pytest.mark.parametrize(("left", "right"), [("", "a"), ("a", "b"), ("ab", "ba"), ("abc", "xyz"), ("A", "a")])
def test_strings_without_a_match_are_not_alike(left: str, right: str) -> None:
    assert jaro(left, right) == jaro(right, left) == 0.0
    assert jaro_winkler(left, right) == jaro_winkler(right, left) == 0.0


def exact_jaro(left: str, right: str, matches: int, transpositions: int) -> float:
    """Return the nearest double to what the definition gives for these counts."""
    parts = [
        Fraction(matches, len(left)),
        Fraction(matches, len(right)),
        1 - Fraction(transpositions, matches),
    ]
    return float(sum(parts) / 3)


@pytest.mark.parametrize(
    ("left", "right", "matches", "transpositions"),
    [
        ("abcdefgh", "abcdefgx", 7, 0),
        ("abcdefgh", "bacdefgh", 8, 1),
        ("abcdefgh", "bcadefgh", 8, 1),
        ("abcdefgh", "badcefgh", 8, 2),
        ("abcdefghij", "bcdeafghij", 10, 2),
        ("abcdefgh", "bcaxefg", 6, 1),
    ],
)
def test_an_odd_number_of_characters_out_of_place_is_halved_downwards(
    left: str, right: str, matches: int, transpositions: int
) -> None:
    assert jaro(left, right) == jaro(right, left) == exact_jaro(left, right, matches, transpositions)
    assert_as_jellyfish(left, right)


def test_a_match_lies_within_half_the_longer_length() -> None:
    # Of eight characters the window is three to either side.
    assert jaro("a0000000", "111a1111") == exact_jaro("a0000000", "111a1111", 1, 0)
    assert jaro("a0000000", "1111a111") == 0.0


def test_each_character_matches_once() -> None:
    assert jaro("aaaa", "a") == jaro("a", "aaaa") == exact_jaro("aaaa", "a", 1, 0)


def test_up_to_four_shared_first_characters_raise_the_similarity() -> None:
    for shared in range(7):
        left, right = "abcdef"[:shared] + "x" + "ghijkl", "abcdef"[:shared] + "y" + "ghijkl"
        plain = jaro(left, right)
        assert jaro_winkler(left, right) == plain + min(shared, 4) * 0.1 * (1.0 - plain)


def test_only_what_lies_above_the_threshold_is_raised() -> None:
    assert jaro("ab123", "abxyz") == pytest.approx(0.6)
    assert jaro_winkler("ab123", "abxyz") == jaro("ab123", "abxyz")
    # One match in one, one in ten: exactly 0.7, which a sum of rounded parts exceeds.
    assert jaro("a", "abcdefghij") == 0.7
    assert jaro_winkler("a", "abcdefghij") == 0.7
    assert jellyfish.jaro_winkler_similarity("a", "abcdefghij") == pytest.approx(0.73)
    assert jaro_winkler("a", "abcdefghi") > jaro("a", "abcdefghi") > 0.7


def test_an_independent_implementation_agrees_on_pinned_pairs() -> None:
    for left, right, _, _ in TEXTBOOK:
        assert_as_jellyfish(left, right)
    dice = random.Random(20)  # noqa: S311 (no secret)
    for alphabet in ("ab", "abc d", "абвгдé"):
        for _ in range(500):
            left, right = ("".join(dice.choices(alphabet, k=dice.randint(1, 12))) for _ in range(2))
            assert_as_jellyfish(left, right)


def test_two_empty_strings_are_equal_where_the_other_implementation_finds_no_match() -> None:
    assert (jaro("", ""), jellyfish.jaro_similarity("", "")) == (1.0, 0.0)


@pytest.mark.drawn
@given(STRINGS, STRINGS)
def test_an_independent_implementation_agrees(left: str, right: str) -> None:
    assume(left or right)
    assert_as_jellyfish(left, right)


@pytest.mark.drawn
@given(st.text(max_size=14), st.text(max_size=14))
def test_similarities_are_symmetric_and_lie_between_zero_and_one(left: str, right: str) -> None:
    assert jaro(left, right) == jaro(right, left)
    assert 0.0 <= jaro(left, right) <= jaro_winkler(left, right) <= 1.0
    assert (jaro_winkler(left, right) == 1.0) == (left == right)


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        ([], set()),
        ([""], set()),
        (["?!"], set()),
        (["Acme"], {"acme"}),
        (["Acme Corporation"], {"acme", "corp"}),
        (["ACME corp.", "acme-CORPORATE"], {"acme", "corp"}),
        (["Io"], {"io"}),
        (["Bank of America"], {"bank", "amer"}),
        (["The The"], {"the"}),
        (["The Who"], {"who"}),
        (["The", "Acme"], {"the", "acme"}),
        (["Ｅｌａｎ vital", "E\u0301lan"], {"elan", "vita", "élan"}),
        (["検索"], {"検", "検索", "索"}),
        (["x" * 300], {"xxxx"}),
    ],
)
def test_blocking_keys_are_the_first_four_characters_of_each_term(names: list[str], keys: set[str]) -> None:
    assert blocking_keys(names) == keys
    assert blocking_keys(iter(names)) == keys


@pytest.mark.parametrize("bad", [[None], ["Acme", 1], [b"Acme"]])
def test_a_name_that_is_not_a_string_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"names\[[01]\] must be a str"):
        blocking_keys(bad)


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("Ada Lovelace", "ada lovelace"),
        ("  ADA\t lovelace! ", "ada lovelace"),
        ("The Bank of America", "the bank of america"),
        ("snake_case", "snake case"),
        ("E\u0301lan", "élan"),
        ("ﬁrst", "first"),
        ("?!", "?!"),
        (" ", " "),
        ("", ""),
    ],
)
def test_a_name_is_normalized_to_its_folded_words(name: str, normalized: str) -> None:
    assert normalized_name(name) == normalized
    assert normalized_name(normalized) == normalized


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Acme", "Acme"),
        ("who founded Acme Corp?", "ACME corp"),
        ("Acme Corp was founded by whom", "acme corp"),
        ("by whom was Acme Corp", "acme corp"),
        ("is it The Who", "the who"),
        ("全文検索エンジン", "検索"),
        ("?!", "?!"),
    ],
)
def test_a_name_inside_a_query_is_wholly_alike(query: str, name: str) -> None:
    assert name_similarity(query, name) == 1.0


def test_the_best_stretch_of_as_many_words_as_the_name_counts() -> None:
    assert name_similarity("about dickson or dixon here", "Dicksonx") == jaro_winkler("dickson", "dicksonx")
    assert name_similarity("one marhta jones two", "Martha Jones") == jaro_winkler(
        "marhta jones", "martha jones"
    )


def test_a_query_shorter_than_the_name_is_compared_whole() -> None:
    assert name_similarity("Martha", "martha jones") == jaro_winkler("martha", "martha jones")
    assert name_similarity("jones", "martha jones") == jaro_winkler("jones", "martha jones")


def test_a_stretch_is_never_shorter_than_the_name_where_the_query_has_the_words() -> None:
    assert name_similarity("xx martha", "martha jo") == jaro_winkler("xx martha", "martha jo")
    assert name_similarity("xx martha", "martha jo") < jaro_winkler("martha", "martha jo")


@pytest.mark.parametrize(("query", "name"), [("", "Acme"), ("?!", "Acme"), ("xyz", "Acme"), ("Acme", "?!")])
def test_a_query_that_shares_nothing_with_the_name_scores_zero(query: str, name: str) -> None:
    assert name_similarity(query, name) == 0.0


@pytest.mark.drawn
@given(st.text(max_size=30), st.text(max_size=12))
def test_the_similarity_to_a_name_lies_between_zero_and_one(query: str, name: str) -> None:
    assert 0.0 <= name_similarity(query, name) <= 1.0


@pytest.mark.drawn
@given(
    *(st.lists(st.sampled_from(["ada", "the", "Élan", "検索", "x1"]), min_size=1, max_size=3) for _ in "123")
)
def test_a_name_between_other_words_is_found_whole(
    before: list[str], name: list[str], after: list[str]
) -> None:
    assert name_similarity(" ".join([*before, *name, *after]), " ".join(name)) == 1.0


def test_a_lone_string_is_no_list_of_names() -> None:
    names: Any = "Bank of America"
    with pytest.raises(TypeError, match="names must be an iterable of str"):
        blocking_keys(names)
