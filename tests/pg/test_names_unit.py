"""Names without a server: which are refused, how names are derived, quoted and put into statements."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_pg.names import MAX_NAME_BYTES, Table, derived_name, quoted, require_name, require_table

SUFFIXES = ["postings", "blocks", "block_seq", "terms", "source_idx", "p0", "p1023"]


def digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    "name",
    ["t", "t" * 63, "\u00e9" * 31, "\u00e9" * 31 + "x", "\U0001f600" * 15, " ", '"', "%", "\u691c" * 21],
)
def test_a_name_of_1_to_63_bytes_stays_as_it_is(name: str) -> None:
    assert 1 <= len(name.encode()) <= 63
    assert require_name("table", name) == name
    assert require_table(name, name) == Table(name, name)


@pytest.mark.parametrize(
    ("name", "size"),
    [("", 0), ("t" * 64, 64), ("\u00e9" * 32, 64), ("\U0001f600" * 16, 64), ("\u691c" * 22, 66)],
)
def test_a_name_of_another_length_is_refused_with_its_bytes(name: str, size: int) -> None:
    expected = rf"^schema must have 1 to 63 UTF-8 bytes, got {size}: "
    with pytest.raises(ValueError, match=expected):
        require_name("schema", name)
    with pytest.raises(ValueError, match=expected):
        require_table("t", name)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("a\x00b", ValueError),
        ("\ud800", ValueError),
        (None, TypeError),
        (True, TypeError),
        (b"t", TypeError),
        (["t"], TypeError),
    ],
    ids=ascii,
)
def test_what_is_no_text_is_refused_by_field(name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^table "):
        require_table(name, None)


def test_a_table_needs_no_schema() -> None:
    assert require_table("t", None) == Table("t", None)


@pytest.mark.parametrize(
    ("name", "suffix", "expected"),
    [
        ("kg_chunks", "postings", "kg_chunks_postings"),
        ("t" * 56, "blocks", "t" * 56 + "_blocks"),
        ("t" * 57, "blocks", "t" * 47 + "_" + digest("t" * 57) + "_blocks"),
        ("t" * 63, "blocks", "t" * 47 + "_fe60147e_blocks"),
        ("\u00e9" * 28, "blocks", "\u00e9" * 28 + "_blocks"),
        # 47 bytes are left, and a letter has two.
        ("\u00e9" * 29, "blocks", "\u00e9" * 23 + "_" + digest("\u00e9" * 29) + "_blocks"),
        ("x" + "\u00e9" * 31, "blocks", "x" + "\u00e9" * 23 + "_" + digest("x" + "\u00e9" * 31) + "_blocks"),
        ("\U0001f600" * 15, "blocks", "\U0001f600" * 11 + "_" + digest("\U0001f600" * 15) + "_blocks"),
    ],
)
def test_a_derived_name_is_whole_or_a_head_and_a_digest(name: str, suffix: str, expected: str) -> None:
    assert derived_name(name, suffix) == expected
    assert len(expected.encode()) <= MAX_NAME_BYTES


def test_long_names_with_one_head_get_different_derived_names() -> None:
    names = ["t" * 62 + "a", "t" * 62 + "b", "t" * 62, "t" * 61, "t" * 58]
    for suffix in SUFFIXES:
        derived = {derived_name(name, suffix) for name in names}
        assert len(derived) == len(names)


def test_different_suffixes_get_different_derived_names() -> None:
    for name in ("t", "t" * 63, "\U0001f600" * 15):
        assert len({derived_name(name, suffix) for suffix in SUFFIXES}) == len(SUFFIXES)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["t"], '"t"'),
        (["s", "t"], '"s"."t"'),
        (['we"ird'], '"we""ird"'),
        (["a.b"], '"a.b"'),
        (["100%"], '"100%%"'),
        (["%s", "%(x)s"], '"%%s"."%%(x)s"'),
        (["{}"], '"{}"'),
    ],
)
def test_a_quoted_name_is_for_a_statement_in_which_percent_signs_are_doubled(
    parts: list[str], text: str
) -> None:
    assert quoted(*parts).as_string() == text


def test_a_tables_text_is_for_a_parameter_in_which_nothing_is_doubled() -> None:
    assert Table("100%").text == '"100%"'
    assert Table('we"ird', "my-schema").text == '"my-schema"."we""ird"'
    assert Table('we"ird', "100%").identifier.as_string() == '"100%%"."we""ird"'
    assert Table("t").identifier.as_string() == '"t"'


def test_what_is_derived_stays_in_the_schema() -> None:
    assert Table("t", "s").derived("blocks") == Table("t_blocks", "s")
    assert Table("t").derived("blocks") == Table("t_blocks", None)


# Drawn

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=70)
fitting = names.filter(lambda name: len(name.encode()) <= MAX_NAME_BYTES)


@pytest.mark.drawn
@given(names)
def test_any_name_is_taken_exactly_if_it_fits(name: str) -> None:
    if len(name.encode()) <= MAX_NAME_BYTES:
        assert require_name("table", name) == name
    else:
        with pytest.raises(ValueError, match=r"^table must have 1 to 63"):
            require_name("table", name)


@pytest.mark.drawn
@given(fitting, st.sampled_from(SUFFIXES))
def test_any_derived_name_fits_ends_with_its_suffix_and_starts_like_the_name(name: str, suffix: str) -> None:
    derived = derived_name(name, suffix)
    assert require_name("table", derived) == derived
    head = derived.removesuffix(f"_{suffix}")
    assert head == name or name.startswith(head.removesuffix(f"_{digest(name)}"))


@pytest.mark.drawn
@given(st.lists(fitting, min_size=2, max_size=2, unique=True), st.sampled_from(SUFFIXES))
def test_any_two_names_get_two_derived_names(pair: list[str], suffix: str) -> None:
    assert derived_name(pair[0], suffix) != derived_name(pair[1], suffix)
