"""The options of every subcommand, and what they mean as values. It runs nothing."""

import argparse
import os
from collections.abc import Callable
from typing import NoReturn

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.cli.errors import UsageError
from redstring_ref.cli.searching import SearchRequest
from redstring_ref.domain import RetrievalMode
from redstring_ref.domain.retrieval import require_query
from redstring_ref.embeddings import HashingEmbeddingProvider, OpenAIEmbeddingProvider
from redstring_ref.ports import EmbeddingProvider

DEFAULT_DIMENSION = 256


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="redstring-ref",
        description="Exact hybrid retrieval over text files: BM25, exact cosine, reciprocal rank fusion.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_search(commands.add_parser, "search", "find the passages in files that answer a query")
    _add_search(commands.add_parser, "explain", "search, and show the arithmetic behind each result")
    summary = "show the terms of a text"
    tokenize = commands.add_parser("tokenize", help=summary, description=f"{summary.capitalize()}.")
    tokenize.add_argument("text", metavar="TEXT")
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
            chunker=SlidingWindowChunker(options.chunk_size, options.overlap),
            embeddings=_embeddings(options),
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _add_search(add_parser: Callable[..., argparse.ArgumentParser], name: str, summary: str) -> None:
    parser = add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. Files are read as UTF-8, whatever their extension; "
        "binary and undecodable ones are reported and skipped. Below a folder, hidden names, __pycache__ "
        "and node_modules are passed over, and links to folders are not followed.",
    )
    parser.add_argument("query", metavar="QUERY")
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
        default=200,
        metavar="N",
        help="characters that neighbouring passages may share (default: %(default)s)",
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
        help=f"the width of the vectors (hashing: {DEFAULT_DIMENSION})",
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
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return number


def _embeddings(options: argparse.Namespace) -> EmbeddingProvider:
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
