"""How text is written to a terminal or a file: emphasis, progress, width. It knows no results."""

import os
import re
import shutil
import sys
import time
import unicodedata
from typing import TextIO

PROGRESS_AFTER = 0.5
PROGRESS_EVERY = 0.1
MAX_WIDTH = 100
MIN_WIDTH = 26

# Control characters, and those that turn the direction of what follows.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    """Return `text` with single spaces for white space and nothing that could drive a terminal."""
    return UNPRINTABLE.sub("\ufffd", " ".join(text.split()))


def emphasis(stream: TextIO) -> tuple[str, str]:
    """Return what opens and closes a matched word: bold on a terminal, `**` elsewhere.

    `NO_COLOR`, or a terminal that calls itself dumb, is elsewhere.
    """
    if stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return "\x1b[1m", "\x1b[0m"
    return "**", "**"


def width(stream: TextIO) -> int:
    """Return how many columns to fill: the terminal's, from 26 to 100, and 100 where there is none."""
    if not stream.isatty():
        return MAX_WIDTH
    return max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size().columns))


def columns(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def fitting(text: str, limit: int) -> str:
    """Return the longest beginning of `text` that takes at most `limit` columns."""
    shown = text[: max(0, limit)]
    while columns(shown) > limit:
        shown = shown[:-1]
    return shown


class Progress:
    """One line on a terminal's stderr that is rewritten while work goes on, and wiped at its end.

    Work of less than half a second shows nothing, and neither does a stream that is no terminal.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        # A closed stderr is None.
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._next = time.monotonic() + PROGRESS_AFTER
        self._written = 0

    def show(self, text: str) -> None:
        """Rewrite the line, at most ten times a second."""
        now = time.monotonic()
        if self._is_shown and now >= self._next:
            self._next = now + PROGRESS_EVERY
            # A line that reaches the last column could not be wiped.
            shown = fitting(one_line(text), min(MAX_WIDTH, shutil.get_terminal_size().columns) - 1)
            self.clear()
            self._stream.write(f"\r{shown}")
            self._stream.flush()
            self._written = columns(shown)

    def clear(self) -> None:
        """Wipe the line."""
        if self._written:
            self._stream.write(f"\r{'':<{self._written}}\r")
            self._stream.flush()
            self._written = 0
