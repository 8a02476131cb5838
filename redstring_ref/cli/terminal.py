"""What a terminal can do: emphasis, and how wide it is. Nothing is written from here."""

import os
from typing import TextIO
from unicodedata import east_asian_width

MAX_WIDTH = 100
DEFAULT_COLUMNS = 80


def emphasis(stream: TextIO) -> tuple[str, str]:
    """Return what opens and closes a matched word: bold on a terminal, `**` elsewhere.

    A terminal under `NO_COLOR`, and one that calls itself dumb, gets `**` too.
    """
    if stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return "\x1b[1m", "\x1b[0m"
    return "**", "**"


def width(stream: TextIO) -> int:
    """Return how many columns to fill: the terminal's, at most 100, and 100 where there is none."""
    return min(MAX_WIDTH, columns(stream)) if stream.isatty() else MAX_WIDTH


def columns(stream: TextIO) -> int:
    """Return how many columns the terminal of `stream` has: what `COLUMNS` says, else the system, else 80."""
    try:
        told = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        told = 0
    if told > 0:
        return told
    try:
        # A terminal that does not know its size says 0.
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS


def fitted(text: str, room: int) -> tuple[str, int]:
    """Return as much of `text` as surely fits `room` columns, and the columns that it may take."""
    taken = 0
    for at, character in enumerate(text):
        # Ambiguous characters are wide on some terminals.
        needed = 2 if east_asian_width(character) in "WFA" else 1
        if taken + needed > room:
            return text[:at], taken
        taken += needed
    return text, taken
