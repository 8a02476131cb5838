"""Runs one command and turns its end into an exit code. What the commands do is elsewhere."""

import argparse
import asyncio
import os
import platform
import signal
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import NoReturn

from redstring_ref.cli.errors import CommandError, UsageError
from redstring_ref.cli.options import build_parser, search_request
from redstring_ref.cli.rendering import (
    explain_json,
    explain_lines,
    json_text,
    search_json,
    search_lines,
    status_lines,
)
from redstring_ref.cli.searching import run_search
from redstring_ref.cli.terminal import UNPRINTABLE, one_line
from redstring_ref.composition import explain_chunks
from redstring_ref.domain import RedstringError, tokenize
from redstring_ref.version import __version__

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 for a failure, 2 for a wrong usage."""
    # A closed stream is None, and printing to it does nothing, silently.
    if sys.stdout is None:
        return _fail("standard output is closed", EXIT_FAILURE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character shows its number.
            stream.reconfigure(errors="backslashreplace")
    try:
        _run(build_parser().parse_args(arguments))
        sys.stdout.flush()
    except UsageError as error:
        return _fail(str(error), EXIT_USAGE)
    except KeyboardInterrupt:
        return _fail("interrupted", EXIT_INTERRUPTED)
    except (CommandError, RedstringError, OSError, MemoryError) as error:
        _give_up_output()
        # The reader of a pipe may go away, as `head` does.
        reason = "" if isinstance(error, BrokenPipeError) else one_line(str(error)) or "out of memory"
        return _fail(reason, EXIT_FAILURE)
    return 0


def _run(options: argparse.Namespace) -> None:
    match options.command:
        case "search" | "explain":
            _search(options)
        case "tokenize":
            terms = tokenize(options.text)
            _print(options, {"text": options.text, "terms": terms}, terms)
        case "version":
            versions = {
                "version": __version__,
                "python": platform.python_version(),
                "unicode": unicodedata.unidata_version,
            }
            _print(options, versions, [f"redstring-ref {__version__}"])


def _search(options: argparse.Namespace) -> None:
    request = search_request(options)
    with _interrupted_at_once():
        trace, corpus = asyncio.run(run_search(request))
    if options.command == "explain":
        explanation = explain_chunks(trace)
        answer = explain_json(trace, explanation, corpus)
        lines = explain_lines(trace, explanation, corpus)
    else:
        answer = search_json(trace, corpus)
        lines = search_lines(trace, corpus, sys.stdout)
    _print(options, answer, lines)
    if not options.json and sys.stderr is not None:
        for line in status_lines(trace, corpus):
            print(line, file=sys.stderr)
    if corpus.skipped and not corpus.report.documents:
        raise CommandError("nothing could be read")


@contextmanager
def _interrupted_at_once() -> Iterator[None]:
    """Let Ctrl-C end work that never waits; `asyncio.run` alone would let it go on to its end."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _print(options: argparse.Namespace, answer: object, lines: Iterable[str]) -> None:
    if options.json:
        print(json_text(answer))
    else:
        for line in lines:
            print(line)


def _give_up_output() -> None:
    """Let the interpreter, which flushes at its exit, find nothing that cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    if message and sys.stderr is not None:
        for line in f"redstring-ref: {message}".split("\n"):
            print(UNPRINTABLE.sub("\ufffd", line), file=sys.stderr)
    return code
