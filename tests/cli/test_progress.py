"""The progress line: late, never wider than the terminal, and gone at the end."""

import io
import time

import pytest

from redstring_ref.cli import progress as module
from redstring_ref.cli.progress import Progress


class Screen(io.StringIO):
    """A terminal that understands the carriage return, and notes every line that it has shown."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.shown: list[str] = []

    @property
    def line(self) -> str:
        return "".join(self.cells)

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for part in text.split("\r")[1:]:
            cells = [cell for each in part for cell in ([each, ""] if ord(each) > 0x3000 else [each])]
            self.cells[: len(cells)] = cells
            self.shown.append(self.line.rstrip())
        return len(text)

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 10.0
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            time.sleep(0.001)


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS_AFTER", 0.001)
    monkeypatch.setattr(module, "PROGRESS_EVERY", 0.001)


@pytest.mark.usefixtures("_at_once")
def test_the_line_says_what_was_last_told_and_is_wiped() -> None:
    screen = Screen()
    with Progress(screen) as progress:
        progress.show("a longer line")
        screen.wait_for("a longer line")
        progress.show("short")
        screen.wait_for("short")
    assert screen.line.strip() == ""
    assert len(screen.line) == len("a longer line")


def test_short_work_shows_nothing() -> None:
    screen = Screen()
    with Progress(screen) as progress:
        progress.show("too early")
    assert screen.shown == []


def test_a_step_that_takes_long_is_shown_although_it_tells_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PROGRESS_AFTER", 0.05)
    screen = Screen()
    with Progress(screen) as progress:
        progress.show("long work")
        screen.wait_for("long work")


@pytest.mark.usefixtures("_at_once")
def test_the_line_is_narrower_than_the_terminal_and_drives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    screen = Screen()
    with Progress(screen) as progress:
        progress.show("reading \x1b[31mred and much more")
        screen.wait_for(r"reading \x1b[31mred")
        progress.show("検索" * 10)
        screen.wait_for("検索検索検索検索検")
    assert screen.line.strip() == ""


class AsciiScreen(Screen):
    @property
    def encoding(self) -> str:  # type: ignore[override]  # a stream's is an attribute of no fixed kind
        return "ascii"


@pytest.mark.usefixtures("_at_once")
def test_what_cannot_be_encoded_takes_the_room_of_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    screen = AsciiScreen()
    with Progress(screen) as progress:
        progress.show("検索")
        screen.wait_for(r"\u691c\u7")


@pytest.mark.usefixtures("_at_once")
def test_a_terminal_that_goes_away_stops_the_line_and_not_the_work() -> None:
    class Gone(Screen):
        def write(self, text: str) -> int:
            self.shown.append("tried")
            raise OSError(5, "Input/output error")

    screen = Gone()
    with Progress(screen) as progress:
        progress.show("work")
        screen.wait_for("tried")
    assert screen.shown == ["tried"]


@pytest.mark.usefixtures("_at_once")
def test_where_there_is_no_terminal_nothing_is_shown() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.show("unseen")
        time.sleep(0.05)
    assert stream.getvalue() == ""
