"""The options: where they may stand, what they mean, and how a wrong usage is told."""

import pytest

from redstring_ref.cli.options import parse
from redstring_ref.cli.request import search_request
from redstring_ref.embeddings import HashingEmbeddingProvider
from tests.cli.conftest import Run

SERVER = ["--embeddings", "openai", "--base-url", "http://x", "--model", "m"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["frobnicate"], "frobnicate"),
        (["search", "tie"], "PATH"),
        (["search", "  ", "."], "query must not be blank"),
        (["search", "tie", ".", "-k", "-1"], "must be a whole number of at least 0, got '-1'"),
        (["search", "tie", ".", "-k", "many"], "must be a whole number of at least 0, got 'many'"),
        (["search", "tie", ".", "--mode", "fuzzy"], "fuzzy"),
        (
            ["search", "tie", ".", "--chunk-size", "10", "--overlap", "10"],
            "--overlap must be less than --chunk-size 10, got 10",
        ),
        (
            ["search", "tie", ".", "--chunk-size", "0"],
            "--chunk-size: must be a whole number of at least 1, got '0'",
        ),
        (
            ["search", "tie", ".", "--dimension", "0"],
            "--dimension: must be a whole number from 1 to 16000, got '0'",
        ),
        (["search", "tie", ".", "--dimension", "16001"], "from 1 to 16000, got '16001'"),
        (["search", "tie", ".", "--dimension", "9" * 30], "from 1 to 16000, got '999"),
        (["explain", "tie", ".", *SERVER, "--dimension", "16001"], "from 1 to 16000, got '16001'"),
        (["search", "tie", ".", "--mod", "lexical"], "unrecognized arguments: --mod"),
        (["search", "t\udce9", "."], "argument QUERY: is not valid UTF-8"),
        (["tokenize", "t\udce9"], "argument TEXT: is not valid UTF-8"),
        (["search", "tie", ".", "--model", "t\udce9"], "argument --model: is not valid UTF-8"),
        (["version", "now"], "unrecognized arguments: now"),
        (["search", "-tie", "."], "unrecognized arguments: -tie (put -- before words that begin with -)"),
        (["search", "tie", ".", "--model", "m"], "--model goes with --embeddings openai"),
        (["search", "tie", ".", "--embeddings", "openai"], "--embeddings openai needs --base-url"),
        (["search", "tie", ".", *SERVER], "--embeddings openai needs --dimension"),
        (["search", "tie", ".", *SERVER, "--dimension", "2", "--base-url", "ftp://x"], "--base-url must be"),
        (["search", "tie", ".", *SERVER, "--dimension", "2", "--base-url", "http://a@b"], "--api-key-env"),
        (["search", "tie", ".", *SERVER, "--dimension", "2", "--model", ""], "--model must not be empty"),
        (
            ["search", "tie", ".", *SERVER, "--dimension", "2", "--api-key-env", "NO_SUCH"],
            "there is no environment variable NO_SUCH",
        ),
    ],
)
def test_a_wrong_usage_is_told_on_stderr_with_code_2(run: Run, arguments: list[str], message: str) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("command", ["search", "explain", "tokenize"])
def test_a_wrong_usage_shows_how_its_own_command_is_put(run: Run, command: str) -> None:
    for wrong in ("--bogus", "-x"):
        message, usage = run(command, "a", wrong, "b").err.splitlines()
        assert message.startswith("redstring-ref: ")
        assert usage.startswith(f"usage: redstring-ref {command} [options] ")


def test_a_huge_argument_is_not_echoed_whole(run: Run) -> None:
    huge = "x" * 100_000
    for arguments in (
        [huge],
        ["search", "tie", huge],
        ["search", "tie", ".", "-k", huge],
        ["search", "tie", ".", "--mode", huge],
        ["search", "tie", ".", f"--{huge}"],
        [
            "search",
            "tie",
            ".",
            "--embeddings",
            "openai",
            "--model",
            "m",
            "--base-url",
            huge,
            "--dimension",
            "2",
        ],
    ):
        outcome = run(*arguments)
        assert outcome.code in (1, 2)
        assert len(outcome.err) < 600


@pytest.mark.parametrize(
    "arguments",
    [
        ["tie", "a", "b", "--mode", "lexical", "-k", "3"],
        ["--mode", "lexical", "-k", "3", "tie", "a", "b"],
        ["tie", "--mode=lexical", "a", "-k3", "b"],
        ["tie", "a", "--mode", "lexical", "b", "-k", "3"],
        ["tie", "-k", "3", "--mode", "lexical", "--", "a", "b"],
        ["-k", "3", "--mode", "lexical", "--", "tie", "a", "b"],
    ],
)
def test_options_stand_before_between_and_after_the_words(arguments: list[str]) -> None:
    options = parse(["search", *arguments])
    assert (options.query, options.paths, options.mode, options.k) == ("tie", ["a", "b"], "lexical", 3)


@pytest.mark.parametrize(
    ("arguments", "query", "paths"),
    [
        (["--", "-tie", "-a", "--json"], "-tie", ["-a", "--json"]),
        (["tie", "--", "-a"], "tie", ["-a"]),
        (["-5 degrees", "a"], "-5 degrees", ["a"]),
        (["-5", "-", "--json"], "-5", ["-"]),
        (["--mode", "lexical", "--", "-5", "--", "a"], "-5", ["a"]),
    ],
)
def test_words_may_begin_with_a_dash(arguments: list[str], query: str, paths: list[str]) -> None:
    options = parse(["search", *arguments])
    assert (options.query, options.paths) == (query, paths)


@pytest.mark.parametrize(
    ("arguments", "size", "overlap"),
    [
        ([], 1000, 200),
        (["--chunk-size", "100"], 100, 20),
        (["--chunk-size", "1"], 1, 0),
        (["--chunk-size", "5000"], 5000, 200),
        (["--chunk-size", "100", "--overlap", "99"], 100, 99),
        (["--overlap", "0"], 1000, 0),
    ],
)
def test_passages_share_a_fifth_of_their_size_unless_it_is_told(
    arguments: list[str], size: int, overlap: int
) -> None:
    chunker = search_request(parse(["search", "tie", ".", *arguments])).chunker
    assert (chunker.size, chunker.overlap) == (size, overlap)


def test_the_widest_vectors_are_those_of_the_bound() -> None:
    embeddings = search_request(parse(["search", "tie", ".", "--dimension", "16000"])).embeddings
    assert isinstance(embeddings, HashingEmbeddingProvider)
    assert embeddings.dimension == 16_000


def test_more_results_than_anything_could_have_may_be_asked_for(run: Run) -> None:
    assert run("explain", "tie", ".", "-k", str(10**30), "--chunk-size", str(10**30)).code == 0


@pytest.mark.parametrize("asked", ["-h", "--help"])
@pytest.mark.parametrize("command", [[], ["search"], ["explain"], ["tokenize"], ["version"]])
def test_every_command_has_help(run: Run, command: list[str], asked: str) -> None:
    outcome = run(*command, asked)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(" ".join(["usage: redstring-ref", *command]))


@pytest.mark.parametrize("command", ["search", "explain"])
def test_help_tells_what_a_newcomer_asks(run: Run, command: str) -> None:
    shown = run(command, "tie", ".", "--help").out
    for told in ("QUERY", "--", "fused", "semantic", "lexical", "130", "example", "skipped", "must be given"):
        assert told in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(told in run("search", "--help").out for told in ("NO_COLOR", "rank", "source"))
