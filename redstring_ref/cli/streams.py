"""What reaches stdout and stderr: answers on the one, everything else on the other. It knows no results."""

import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from redstring_ref.cli.errors import CommandError, ReaderGoneError
from redstring_ref.cli.escapes import escaped, shortened


def prepare() -> None:
    """Make both streams take any character, and stderr exist; `CommandError` without a stdout."""
    if sys.stderr is None:
        # What is printed to no stream goes to stdout.
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character shows its number.
            stream.reconfigure(errors="backslashreplace")


def answer(lines: Iterable[str]) -> None:
    """Print lines on stdout, all of them now; `CommandError` if they cannot be written."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except OSError as error:
        _silence_stdout()
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from None
        raise CommandError(f"cannot write to standard output: {error.strerror or error}") from None


def tell(message: str) -> None:
    """Print a message on stderr, as one line that is not too long and drives no terminal."""
    try:
        print(shortened(escaped(message)), file=sys.stderr, flush=True)
    except OSError:
        # Nobody can be told, and the interpreter must not try again at exit.
        sys.stderr = io.StringIO()


def _silence_stdout() -> None:
    # What could not be written is still in the buffer, and the interpreter tries again at exit.
    with suppress(OSError), open(os.devnull, "w") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())
