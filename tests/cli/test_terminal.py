"""Emphasis, width and progress, on a terminal and off it."""

import io

import pytest

from redstring_ref.cli import terminal
from redstring_ref.cli.terminal import Progress, emphasis, one_line, width


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_words_are_bold_on_a_terminal_and_starred_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert emphasis(Screen()) == ("\x1b[1m", "\x1b[0m")
    assert emphasis(io.StringIO()) == ("**", "**")


@pytest.mark.parametrize(("value", "starred"), [("1", True), ("", False)])
def test_no_color_is_respected_when_it_is_not_empty(
    monkeypatch: pytest.MonkeyPatch, value: str, starred: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    assert (emphasis(Screen()) == ("**", "**")) is starred


def test_lines_fill_a_terminal_up_to_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert width(Screen()) == 60
    assert width(io.StringIO()) == 100
    monkeypatch.setenv("COLUMNS", "300")
    assert width(Screen()) == 100
    monkeypatch.setenv("COLUMNS", "3")
    assert width(Screen()) == 26


def test_a_line_holds_nothing_that_drives_a_terminal() -> None:
    assert (
        one_line("  a\n\n b\t\x1b[31mred\x07 \u202egnp.exe\u2066 ")
        == "a b \ufffd[31mred\ufffd \ufffdgnp.exe\ufffd"
    )


def test_a_dumb_terminal_shows_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert emphasis(Screen()) == ("**", "**")


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(terminal, "time", clock)
    return clock


def test_progress_shows_late_seldom_and_is_wiped(clock: Clock) -> None:
    screen = Screen()
    progress = Progress(screen)
    progress.clear()
    clock.now = 0.4
    progress.show("too early")
    assert screen.getvalue() == ""
    clock.now = 0.6
    progress.show("a long line")
    progress.show("too soon")
    clock.now = 0.8
    progress.show("short")
    progress.clear()
    progress.clear()
    assert screen.getvalue() == "\ra long line\r           \r\rshort\r     \r"


def test_progress_fits_the_terminal_and_drives_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    screen = Screen()
    progress = Progress(screen)
    clock.now = 1.0
    progress.show("reading \x1b[2J" + "x" * 100)
    assert screen.getvalue() == "\rreading \ufffd[2"
    clock.now = 2.0
    progress.show("検索検索検索検索")
    progress.clear()
    assert screen.getvalue().endswith("\r           \r\r検索検索検\r          \r")


def test_progress_is_silent_where_there_is_no_terminal(clock: Clock) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    clock.now = 9.0
    progress.show("unseen")
    progress.clear()
    assert stream.getvalue() == ""
