"""The commands and their options, as a user writes them. What they mean is elsewhere."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from redstring_ref.cli import manual
from redstring_ref.cli.errors import UsageError
from redstring_ref.cli.streams import answer
from redstring_ref.domain import RetrievalMode
from redstring_ref.domain.errors import shown

DEFAULT_DIMENSION = 256
MAX_DIMENSION = 16_000  # as wide as a vector of pgvector can be
MAX_DEFAULT_OVERLAP = 200

_LIKE_AN_OPTION = re.compile(r"--?[A-Za-z]\S*")


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:  # whatever argparse takes
        raw = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=raw, **options)

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - argparse's signature
        # argparse passes over a failure to write.
        answer(self.format_help().splitlines())

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage())


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the command and its options; `SystemExit` after printing the help that was asked for.

    Options may stand anywhere before `--`. What cannot be understood is a `UsageError`.
    """
    top, commands = _parsers()
    if not arguments or arguments[0] not in commands:
        return top.parse_args(arguments)
    alone, whole = commands[arguments[0]]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, words = alone.parse_known_args(arguments[1:end], argparse.Namespace(command=arguments[0]))
    unknown = [word for word in words if _LIKE_AN_OPTION.fullmatch(word)]
    if {"-h", "--help"} & set(unknown):
        return whole.parse_args(["--help"])
    if unknown:
        whole.error(f"unrecognized arguments: {' '.join(unknown)} (put -- before words that begin with -)")
    words += arguments[end + 1 :]
    dashes = ["--"] if any(word.startswith("-") for word in words) else []
    return whole.parse_args([*dashes, *words], options)


def _parsers() -> tuple[_Parser, dict[str, tuple[_Parser, _Parser]]]:
    """Return the parser of all commands, and for each the parser of its options alone and the whole."""
    top = _Parser(prog="redstring-ref", description=manual.TOP, epilog=manual.TOP_EPILOG)
    adder = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {}
    for name, (words, add_options, add_words) in _COMMANDS.items():
        usage = f"redstring-ref {name} [options] {words}".rstrip()
        alone = _Parser(add_help=False, usage=usage)
        add_options(alone)
        alone.add_argument("--json", action="store_true", help="print JSON, for machines")
        summary = manual.SUMMARIES[name]
        whole = adder.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=manual.EPILOGS[name],
            usage=usage,
            parents=[alone],
        )
        add_words(whole)
        commands[name] = alone, whole
    return top, commands


def _nothing(parser: _Parser) -> None:
    pass


def _tokenize_words(parser: _Parser) -> None:
    parser.add_argument("text", metavar="TEXT", type=_text, help="any text")


def _search_words(parser: _Parser) -> None:
    parser.add_argument(
        "query", metavar="QUERY", type=_text, help="what to look for: words or a question, in one argument"
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file or a folder")


def _search_options(parser: _Parser) -> None:
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in RetrievalMode],
        default=RetrievalMode.HYBRID.value,
        help="which channels answer (default: %(default)s)",
    )
    parser.add_argument(
        "-k", type=_whole(0), default=5, metavar="N", help="how many results to show (default: %(default)s)"
    )
    parser.add_argument(
        "--chunk-size",
        type=_whole(1),
        default=1000,
        metavar="N",
        help="characters in a passage (default: %(default)s)",
    )
    parser.add_argument(
        "--overlap",
        type=_whole(0),
        metavar="N",
        help="characters that neighbouring passages may share, fewer than a passage has "
        f"(default: a fifth of --chunk-size, at most {MAX_DEFAULT_OVERLAP})",
    )
    group = parser.add_argument_group("embeddings")
    group.add_argument(
        "--embeddings",
        choices=["hashing", "openai"],
        default="hashing",
        help="hashed words, which need nothing, or an OpenAI-compatible server (default: %(default)s)",
    )
    group.add_argument(
        "--base-url", type=_text, metavar="URL", help="the server, such as http://localhost:11434/v1"
    )
    group.add_argument("--model", type=_text, metavar="NAME", help="the server's model")
    group.add_argument(
        "--dimension",
        type=_whole(1, MAX_DIMENSION),
        metavar="N",
        help=f"the width of the vectors: with hashing any (default: {DEFAULT_DIMENSION}), with openai the "
        "model's own, which must be given",
    )
    group.add_argument(
        "--api-key-env",
        type=_text,
        metavar="NAME",
        help="the environment variable that holds the server's API key",
    )


_COMMANDS: dict[str, tuple[str, Callable[[_Parser], None], Callable[[_Parser], None]]] = {
    "search": ("QUERY PATH [PATH ...]", _search_options, _search_words),
    "explain": ("QUERY PATH [PATH ...]", _search_options, _search_words),
    "tokenize": ("TEXT", _nothing, _tokenize_words),
    "version": ("", _nothing, _nothing),
}


def _text(argument: str) -> str:
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not valid UTF-8") from None
    return argument


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number in these bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def number(argument: str) -> int:
        try:
            value = int(argument)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}, got {shown(argument)}")
        return value

    return number
