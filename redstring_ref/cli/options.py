"""The options of every subcommand, and what they mean as values. It runs nothing."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NoReturn

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.cli.errors import UsageError
from redstring_ref.cli.searching import SearchRequest
from redstring_ref.domain import RetrievalMode
from redstring_ref.domain.errors import shown
from redstring_ref.domain.retrieval import require_query
from redstring_ref.embeddings import HashingEmbeddingProvider, OpenAIEmbeddingProvider
from redstring_ref.ports import EmbeddingProvider

DEFAULT_DIMENSION = 256
DEFAULT_OVERLAP = 200
# Wider vectors than any model's or any database's would only fill the memory.
MAX_DIMENSION = 16_000
# How much of an argument an error repeats.
MAX_ECHO = 200

WHAT_IS_READ = """\
Files are read as UTF-8 text, whatever their extension; a byte order mark is dropped. Binary and
undecodable files are reported and skipped. Below a folder, hidden names, __pycache__ and
node_modules are passed over unless they are named, and links to folders are not followed."""

WHAT_IS_PRINTED = """\
output:
  rank      the place in the answer, from 1
  fused     the reciprocal rank fusion of both channels, in hybrid mode
  semantic  (1 + cosine) / 2, from 0 to 1
  lexical   BM25, comparable within one answer only
  source    the file and the lines of the passage
  A channel that did not rank a passage shows -. Words of the query are bold on a terminal, and
  between ** elsewhere, or where NO_COLOR is set or TERM is dumb. What was read is told on stderr.
"""

EXIT_CODES = """\
exit codes:
  0 done, with results or without; 1 failed; 2 wrong usage; 130 interrupted"""

EXAMPLE = 'redstring-ref {name} "how does a tie get broken" README.md spec/ -k 3'


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are a `UsageError`, and whose help fails loudly where it cannot be written."""

    def __init__(self, **options: Any) -> None:  # Any: argparse's own
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[: 2 * MAX_ECHO]}\n{self.format_usage().strip()}")

    def _print_message(self, message: str, file: Any = None) -> None:  # Any: argparse's own
        stream = sys.stderr if file is None else file
        stream.write(message)
        stream.flush()


class _CommandParser(_Parser):
    """A parser of one command, whose options may stand anywhere before `--`."""

    _given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        options = (each for each in self._given if each.startswith("-") and each != "--")
        if any(each.partition("=")[0] not in self._option_string_actions for each in options):
            message = f"{message[:MAX_ECHO]} (what starts with - and is no option stands after --)"
        super().error(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # Any: argparse's own
        self._given = args or ()
        parsed, unknown = super().parse_known_args(self._options_first(self._given), namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def _options_first(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments with the options, and their values, before all others."""
        options: list[str] = []
        others: list[str] = []
        rest = iter(arguments)
        for argument in rest:
            if argument == "--":
                others += rest
            elif argument.startswith("-") and argument != "-":
                options.append(argument)
                action = self._option_string_actions.get(argument)
                options += islice(rest, 1 if action is not None and action.nargs is None else 0)
            else:
                others.append(argument)
        return [*options, "--", *others] if others else options


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="redstring-ref",
        description="Exact hybrid retrieval over text files: BM25, exact cosine, reciprocal rank fusion.",
        epilog=EXIT_CODES,
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=_CommandParser
    )
    _add_search(commands.add_parser, "search", "find the passages in files that answer a query")
    _add_search(commands.add_parser, "explain", "search, and show the arithmetic behind each result")
    summary = "show the terms of a text"
    tokenize = commands.add_parser("tokenize", help=summary, description=f"{summary.capitalize()}.")
    tokenize.add_argument("text", metavar="TEXT", type=_text, help="the text; after --, it may start with -")
    _add_json(tokenize)
    version = commands.add_parser("version", help="show the version", description="Show the version.")
    _add_json(version)
    return parser


def search_request(options: argparse.Namespace) -> SearchRequest:
    """Return what `search` and `explain` were asked; contradictions are a `UsageError`."""
    try:
        return SearchRequest(
            query=require_query(options.query),
            paths=options.paths,
            mode=RetrievalMode(options.mode),
            k=options.k,
            chunker=_chunker(options),
            embeddings=_embeddings(options),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _chunker(options: argparse.Namespace) -> SlidingWindowChunker:
    size = options.chunk_size
    overlap = min(DEFAULT_OVERLAP, size // 5) if options.overlap is None else options.overlap
    if size < 1:
        raise UsageError(f"--chunk-size must be at least 1, got {size}")
    if overlap >= size:
        raise UsageError(f"--overlap must be less than --chunk-size {size}, got {overlap}")
    return SlidingWindowChunker(size, overlap)


def _add_search(add_parser: Callable[..., argparse.ArgumentParser], name: str, summary: str) -> None:
    parser = add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{WHAT_IS_READ}",
        epilog=f"{WHAT_IS_PRINTED}\n{EXIT_CODES}\n\nexample:\n  {EXAMPLE.format(name=name)}",
    )
    parser.add_argument(
        "query", metavar="QUERY", type=_text, help="the words to look for; after --, it may start with -"
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file or a folder")
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in RetrievalMode],
        default=RetrievalMode.HYBRID.value,
        help="which channels answer (default: %(default)s)",
    )
    parser.add_argument(
        "-k", type=_count, default=5, metavar="N", help="how many results to show (default: %(default)s)"
    )
    parser.add_argument(
        "--chunk-size",
        type=_count,
        default=1000,
        metavar="N",
        help="characters in a passage (default: %(default)s)",
    )
    parser.add_argument(
        "--overlap",
        type=_count,
        metavar="N",
        help=f"characters that neighbouring passages may share (default: a fifth, at most {DEFAULT_OVERLAP})",
    )
    _add_embeddings(parser)
    _add_json(parser)


def _add_embeddings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("embeddings")
    group.add_argument(
        "--embeddings",
        choices=["hashing", "openai"],
        default="hashing",
        help="hashed words, which need nothing, or an OpenAI-compatible server (default: %(default)s)",
    )
    group.add_argument("--base-url", metavar="URL", help="the server, such as http://localhost:11434/v1")
    group.add_argument("--model", metavar="NAME", help="the server's model")
    group.add_argument(
        "--dimension",
        type=_count,
        metavar="N",
        help=f"the width of the vectors: openai needs it, hashing takes {DEFAULT_DIMENSION}",
    )
    group.add_argument(
        "--api-key-env", metavar="NAME", help="the environment variable that holds the server's API key"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {text[:MAX_ECHO]!r}")
    return number


def _text(text: str) -> str:
    """Return an argument that is text; bytes that are not UTF-8 reach Python as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not valid UTF-8") from None
    return text


def _embeddings(options: argparse.Namespace) -> EmbeddingProvider:
    if options.dimension is not None and not 1 <= options.dimension <= MAX_DIMENSION:
        raise UsageError(f"--dimension must be from 1 to {MAX_DIMENSION}, got {shown(options.dimension)}")
    if options.embeddings == "hashing":
        for name in ("base_url", "model", "api_key_env"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --embeddings openai")
        return HashingEmbeddingProvider(DEFAULT_DIMENSION if options.dimension is None else options.dimension)
    for name in ("base_url", "model", "dimension"):
        if getattr(options, name) is None:
            raise UsageError(f"--embeddings openai needs --{name.replace('_', '-')}")
    api_key = None
    if options.api_key_env is not None:
        api_key = os.environ.get(options.api_key_env)
        if api_key is None:
            raise UsageError(f"--api-key-env: there is no environment variable {options.api_key_env}")
    return OpenAIEmbeddingProvider(options.base_url, options.model, options.dimension, api_key=api_key)
