"""Emphasis and width, on a terminal and off it."""

import io
import os

import pytest

from redstring_ref.cli.terminal import columns, emphasis, fitted, width


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class SizedScreen(Screen):
    def fileno(self) -> int:
        return 99


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_words_are_bold_on_a_terminal_and_starred_elsewhere() -> None:
    assert emphasis(Screen()) == ("\x1b[1m", "\x1b[0m")
    assert emphasis(io.StringIO()) == ("**", "**")


@pytest.mark.parametrize(
    ("name", "value", "starred"),
    [
        ("NO_COLOR", "1", True),
        ("NO_COLOR", "", False),
        ("TERM", "dumb", True),
        ("TERM", "xterm", False),
    ],
)
def test_a_terminal_that_wants_no_bold_gets_none(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, starred: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert (emphasis(Screen()) == ("**", "**")) is starred


def test_lines_fill_a_terminal_up_to_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert width(Screen()) == 60
    assert width(io.StringIO()) == 100
    monkeypatch.setenv("COLUMNS", "300")
    assert width(Screen()) == 100


@pytest.mark.parametrize("told", ["", "0", "-5", "wide", "9" * 5000], ids=lambda told: told[:5])
def test_a_width_that_is_none_gives_way_to_the_systems(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv("COLUMNS", told)
    sizes = {99: os.terminal_size((42, 7))}
    monkeypatch.setattr(os, "get_terminal_size", sizes.__getitem__)
    assert columns(SizedScreen()) == 42
    assert columns(Screen()) == 80
    sizes[99] = os.terminal_size((0, 0))
    assert columns(SizedScreen()) == 80


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("short", 10, ("short", 5)),
        ("longer than room", 6, ("longer", 6)),
        ("検索エンジン", 7, ("検索エ", 6)),
        ("a…b", 3, ("a…", 3)),
        ("any", 0, ("", 0)),
        ("", 5, ("", 0)),
    ],
)
def test_text_is_cut_to_the_columns_that_it_may_take(text: str, room: int, expected: tuple[str, int]) -> None:
    assert fitted(text, room) == expected
