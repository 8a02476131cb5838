"""Escapes: nothing drives a terminal, and no two names print alike."""

from itertools import combinations

import pytest

from redstring_ref.cli.escapes import MAX_SHOWN, escaped, one_line, printable, shortened

DRIVING = ["\x00", "\x1b", "\x7f", "\x85", "\x9b", "\u200f", "\u202e", "\u2028", "\u2067", "\udc85"]


@pytest.mark.parametrize("character", DRIVING, ids=ascii)
def test_what_could_drive_a_terminal_is_escaped(character: str) -> None:
    for text in (escaped(f"a{character}b"), printable(f"a{character}b")):
        assert text.isascii()
        assert text.isprintable()
        assert text.startswith("a\\")


def test_other_characters_stay() -> None:
    assert escaped("naïve 検索 👩\u200d💻 \\x1b") == "naïve 検索 👩\u200d💻 \\x1b"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./plain", "plain"),
        ("./", "."),
        (".//a//b/", "a/b"),
        ("../up", "../up"),
        ("", "''"),
        (r"back\slash", r"back\slash"),
        (r"caf\xe9", r"caf\\xe9"),
        (r"a\u202e", r"a\\u202e"),
        (r"a\\b", r"a\\\\b"),
        ("caf\udce9\\b", r"caf\xe9\\b"),
        ("two  spaces", "two  spaces"),
    ],
)
def test_a_path_is_printed_as_it_is_unless_that_would_mislead(path: str, expected: str) -> None:
    assert printable(path) == expected


def test_no_two_paths_print_alike() -> None:
    paths = ["\x85", "\udc85", r"\x85", r"\\x85", r"\u0085", r"\\u0085", "\\", r"\\", "\\\x85", "\\\udc85"]
    for left, right in combinations(paths, 2):
        assert printable(left) != printable(right)


def test_a_long_text_is_shown_by_its_ends() -> None:
    assert shortened("x" * MAX_SHOWN) == "x" * MAX_SHOWN
    assert shortened("a" * 1000 + "b" * 1000) == "a" * 150 + "…" + "b" * 150


def test_a_line_is_one_line_without_anything_that_drives_a_terminal() -> None:
    assert (
        one_line("  a\n\n b\t\x1b[31mred\x07 \u202egnp.exe\u2066 ")
        == "a b \ufffd[31mred\ufffd \ufffdgnp.exe\ufffd"
    )
