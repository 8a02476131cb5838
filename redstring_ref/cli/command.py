"""Runs one command and turns its end into an exit code. What the commands do is elsewhere."""

import argparse
import asyncio
import json
import platform
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from redstring_ref.cli.answers import explain_json, search_json
from redstring_ref.cli.errors import CommandError, ReaderGoneError, UsageError
from redstring_ref.cli.options import parse
from redstring_ref.cli.rendering import search_lines, skipped_lines, status_lines
from redstring_ref.cli.request import search_request
from redstring_ref.cli.searching import run_search
from redstring_ref.cli.streams import answer, prepare, tell
from redstring_ref.cli.working import explain_lines
from redstring_ref.composition import explain_chunks
from redstring_ref.domain import RedstringError, tokenize
from redstring_ref.version import __version__

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 for a failure, 2 for a wrong usage."""
    try:
        prepare()
        _run(parse(sys.argv[1:] if arguments is None else arguments))
    except UsageError as error:
        return _fail(EXIT_USAGE, str(error), *error.usage.splitlines())
    except ReaderGoneError:
        return EXIT_FAILURE
    except (CommandError, RedstringError, OSError) as error:
        return _fail(EXIT_FAILURE, str(error))
    except MemoryError:
        return _fail(EXIT_FAILURE, "there is not enough memory")
    except KeyboardInterrupt:
        return _fail(EXIT_INTERRUPTED, "interrupted")
    except SystemExit:
        pass  # The help that was asked for has been printed.
    return 0


def _run(options: argparse.Namespace) -> None:
    match options.command:
        case "search" | "explain":
            _search(options)
        case "tokenize":
            terms = tokenize(options.text)
            _answer(options, {"text": options.text, "terms": terms}, terms)
            if not terms:
                tell("no terms")
        case _:
            versions = {
                "version": __version__,
                "python": platform.python_version(),
                "unicode": unicodedata.unidata_version,
            }
            _answer(options, versions, [f"redstring-ref {__version__}"])


def _search(options: argparse.Namespace) -> None:
    request = search_request(options)
    with _interrupted_at_once():
        trace, corpus = asyncio.run(run_search(request))
    if options.command == "explain":
        explanation = explain_chunks(trace)
        _answer(options, explain_json(trace, explanation, corpus), explain_lines(trace, explanation, corpus))
    else:
        _answer(options, search_json(trace, corpus), search_lines(trace, corpus, sys.stdout))
    # JSON lists what was skipped itself.
    for line in [*([] if options.json else skipped_lines(corpus)), *status_lines(trace, corpus)]:
        tell(line)
    if corpus.is_unreadable:
        raise CommandError("nothing could be read")


@contextmanager
def _interrupted_at_once() -> Iterator[None]:
    """Let Ctrl-C end work that never waits; `asyncio.run` alone would let it go on to its end."""
    # A shell may have started the command with the signal ignored, or a program in another thread.
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _answer(options: argparse.Namespace, value: object, lines: Iterable[str]) -> None:
    # All of JSON in ASCII: right in every encoding, and without anything that drives a terminal.
    answer([json.dumps(value, indent=2).replace("\x7f", r"\u007f")] if options.json else lines)


def _fail(code: int, message: str, *usage: str) -> int:
    tell(f"redstring-ref: {message}")
    for line in usage:
        tell(line)
    return code
