"""Runs one command and turns its end into an exit code. What the commands do is elsewhere."""

import argparse
import asyncio
import json
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
from redstring_ref.cli.rendering import explain_json, explain_lines, search_json, search_lines, status_lines
from redstring_ref.cli.searching import run_search
from redstring_ref.composition import explain_chunks
from redstring_ref.domain import RedstringError, tokenize
from redstring_ref.version import __version__

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 for a failure, 2 for a wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character shows its number.
            stream.reconfigure(errors="backslashreplace")
    try:
        _run(build_parser().parse_args(arguments))
        sys.stdout.flush()
    except UsageError as error:
        return _fail(str(error), EXIT_USAGE)
    except (CommandError, RedstringError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            # The reader went away, as `head` does; the interpreter must not try to flush at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_FAILURE
        return _fail(str(error), EXIT_FAILURE)
    except KeyboardInterrupt:
        return _fail("interrupted", EXIT_INTERRUPTED)
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
    if not options.json:
        for line in status_lines(trace, corpus):
            print(line, file=sys.stderr)


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
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        for line in lines:
            print(line)


def _fail(message: str, code: int) -> int:
    print(f"redstring-ref: {message}", file=sys.stderr)
    return code
