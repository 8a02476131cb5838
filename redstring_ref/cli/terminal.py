"""How text is written to a terminal or a file: emphasis, progress, width. It knows no results."""

import os
import shutil
import sys
import time
from typing import TextIO

PROGRESS_AFTER = 0.5
PROGRESS_EVERY = 0.1
MAX_WIDTH = 100


def emphasis(stream: TextIO) -> tuple[str, str]:
    """Return what opens and closes a matched word: bold on a terminal, `**` elsewhere or under `NO_COLOR`."""
    if stream.isatty() and not os.environ.get("NO_COLOR"):
        return "\x1b[1m", "\x1b[0m"
    return "**", "**"


def width(stream: TextIO) -> int:
    """Return how many columns to fill: the terminal's, at most 100, and 100 where there is none."""
    return min(MAX_WIDTH, shutil.get_terminal_size().columns) if stream.isatty() else MAX_WIDTH


class Progress:
    """One line on a terminal's stderr that is rewritten while work goes on, and wiped at its end.

    Work of less than half a second shows nothing, and neither does a stream that is no terminal.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty()
        self._next = time.monotonic() + PROGRESS_AFTER
        self._written = 0

    def show(self, text: str) -> None:
        """Rewrite the line, at most ten times a second."""
        now = time.monotonic()
        if self._is_shown and now >= self._next:
            self._next = now + PROGRESS_EVERY
            self._stream.write(f"\r{text[:MAX_WIDTH]:<{self._written}}")
            self._stream.flush()
            self._written = len(text[:MAX_WIDTH])

    def clear(self) -> None:
        """Wipe the line."""
        if self._written:
            self._stream.write(f"\r{'':<{self._written}}\r")
            self._stream.flush()
            self._written = 0
