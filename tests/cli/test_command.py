"""The command line from end to end: what it prints, where, and its exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from redstring_ref.cli import command, main
from redstring_ref.version import __version__
from tests.embeddings.server import Handler, Server, good, send_json

ROOT = Path(__file__).parents[2]

FILES = {
    "notes/ties.md": "# Ties\n\nA tie is broken by the id.\nNothing else decides.\n",
    "notes/order.txt": "The order is total.\n",
    "other.txt": "Bananas are yellow, and so are lemons.\n",
}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


class Outcome:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Outcome:
        code = main(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


def test_search_prints_rank_scores_place_and_marked_snippet(run: Any) -> None:
    outcome = run("search", "how is a tie broken", ".", "-k", "1")
    assert outcome.code == 0
    assert outcome.err == ""
    header, first, snippet = outcome.out.splitlines()
    assert header.split() == ["rank", "fused", "semantic", "lexical", "source"]
    rank, fused, semantic, lexical, place = first.split()
    assert (rank, fused, place) == ("1", f"{2 / 61:.6f}", "notes/ties.md:1-4")
    assert 0.5 < float(semantic) < 1.0
    assert float(lexical) > 0.0
    assert snippet == "      # Ties A **tie** is **broken** by the id. Nothing else decides."


def test_a_channel_that_did_not_rank_a_passage_shows_a_dash(run: Any) -> None:
    lines = run("search", "tie", ".").out.splitlines()
    rows = [line.split() for line in lines if line.lstrip()[0].isdigit()]
    assert [row[3] == "-" for row in rows] == [False, True, True]
    rows = [line.split() for line in run("search", "tie", ".", "--mode", "lexical").out.splitlines()[1:2]]
    assert [(row[1], row[2]) for row in rows] == [("-", "-")]
    rows = [line.split() for line in run("search", "tie", ".", "--mode", "semantic").out.splitlines()[1:2]]
    assert [(row[1], row[3]) for row in rows] == [("-", "-")]


def test_search_json_tells_everything(run: Any) -> None:
    Path("binary").write_bytes(b"\x00")
    answer = run("search", "tie", ".", "--json", "--mode", "lexical").json
    assert {key: answer[key] for key in answer if key != "results"} == {
        "query": "tie",
        "mode": "lexical",
        "k": 5,
        "files": 3,
        "passages": 3,
        "skipped": [{"path": "binary", "reason": "binary"}],
    }
    (result,) = answer["results"]
    assert result["rank"] == 1
    assert result["source"] == "notes/ties.md"
    assert (result["first_line"], result["last_line"]) == (1, 4)
    assert (result["start_char"], result["end_char"]) == (0, len(FILES["notes/ties.md"]))
    assert result["text"] == FILES["notes/ties.md"]
    assert result["score"] == result["lexical"] > 0.0
    assert result["semantic"] is None


def test_line_numbers_are_those_of_the_text_and_not_of_the_space_around_it(run: Any) -> None:
    paragraphs = ["filler words here.", "", "", "", "needle one.", "needle two.", "", "", "more words.", ""]
    Path("long.txt").write_bytes("\r\n".join(paragraphs).encode())
    answer = run("search", "needle", "long.txt", "--chunk-size", "30", "--overlap", "0", "--json").json
    first = answer["results"][0]
    assert (first["first_line"], first["last_line"]) == (5, 6)


def test_k_of_zero_and_empty_places_are_no_failure(run: Any) -> None:
    Path("empty").mkdir()
    outcome = run("search", "tie", "empty")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no results: 0 files, 0 passages searched\n"
    assert run("search", "tie", ".", "-k", "0").code == 0
    outcome = run("search", "zebra", ".", "--mode", "lexical")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no results: 3 files, 3 passages searched\n")


def test_skipped_files_are_reported_on_stderr_up_to_ten(run: Any) -> None:
    for number in range(12):
        Path(f"bad{number:02}").write_bytes(b"\xff\xfe")
    outcome = run("search", "tie", ".", "-k", "1")
    lines = outcome.err.splitlines()
    assert lines[0] == "skipped bad00: UTF-16, not UTF-8"
    assert lines[10:] == ["skipped 2 more; --json lists them all"]
    assert len(run("search", "tie", ".", "--json").json["skipped"]) == 12


def test_explain_shows_arithmetic_that_adds_up(run: Any) -> None:
    answer = run("explain", "a tie broken tie", ".", "-k", "1", "--json").json
    assert answer["terms"] == ["tie", "broken", "tie"]
    (top,) = answer["results"]
    lexical, semantic = top["lexical_working"], top["semantic_working"]
    assert [term["term"] for term in lexical["terms"]] == ["tie", "broken", "tie"]
    assert sum(term["weight"] for term in lexical["terms"]) == pytest.approx(top["lexical"], rel=1e-15)
    assert lexical["terms"][0]["term_frequency"] == 1
    assert semantic["cosine"] == pytest.approx(
        semantic["dot"] / (semantic["query_squared_norm"] * semantic["chunk_squared_norm"]) ** 0.5
    )
    assert top["semantic"] == (1 + semantic["cosine"]) / 2
    assert lexical["reciprocal_rank"] + semantic["reciprocal_rank"] == pytest.approx(top["score"])
    assert answer["missed"]["rank"] == 2
    assert answer["missed"]["shortfall"] == pytest.approx(top["score"] - answer["missed"]["score"])


def test_explain_prints_each_number_with_its_formula(run: Any) -> None:
    outcome = run("explain", "tie", ".", "-k", "1")
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0].startswith("1. notes/ties.md:1-4 score 0.032787")
    assert lines[1].startswith("lexical rank 1, BM25 ")
    assert lines[2] == "term tf df idf adds"
    assert lines[3].startswith("tie 1 1 0.980829 ")
    assert lines[4].startswith("semantic rank 1, score (1 + cosine) / 2 = ")
    assert lines[5].startswith("cosine = dot / sqrt(|q|² · |v|²) = ")
    assert lines[6] == "fused 1/(60 + 1) [0.016393] + 1/(60 + 1) [0.016393] = 0.032787"
    assert lines[8].startswith("First below the cut: ")
    assert "lexical not ranked" in lines
    assert lines[-1].startswith("missed by 0.0")


def test_explain_says_when_only_the_id_decided(run: Any) -> None:
    for name in ("a", "b"):
        Path(name).write_text("twins of a tie", encoding="utf-8")
    outcome = run("explain", "twins", "a", "b", "-k", "1", "--mode", "lexical")
    assert outcome.out.splitlines()[-1] == "  missed by 0: the scores are equal, and its id is the greater"
    outcome = run("explain", "twins", "a", "--mode", "semantic")
    assert "First below" not in outcome.out
    assert "lexical   not ranked" in outcome.out
    assert "fused" not in outcome.out


def test_tokenize_prints_the_terms(run: Any) -> None:
    assert run("tokenize", "The C++ of 検索").out == "c\n検\n検索\n索\n"
    assert run("tokenize", "Tie, tie", "--json").json == {"text": "Tie, tie", "terms": ["tie", "tie"]}
    assert run("tokenize", "").out == ""


def test_version_prints_the_version(run: Any) -> None:
    assert run("version").out == f"redstring-ref {__version__}\n"
    assert run("version", "--json").json["version"] == __version__


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
        (["search", "tie", ".", "--chunk-size", "10", "--overlap", "10"], "overlap"),
        (["search", "tie", ".", "--chunk-size", "0"], "size"),
        (["search", "tie", ".", "--dimension", "0"], "dimension must be at least 1"),
        (["search", "tie", ".", "--model", "m"], "--model goes with --embeddings openai"),
        (["search", "tie", ".", "--embeddings", "openai"], "--embeddings openai needs --base-url"),
        (["search", "tie", ".", *SERVER], "--embeddings openai needs --dimension"),
        (["search", "tie", ".", *SERVER, "--dimension", "2", "--base-url", "ftp://x"], "base_url"),
        (
            ["search", "tie", ".", *SERVER, "--dimension", "2", "--api-key-env", "NO_SUCH"],
            "there is no environment variable NO_SUCH",
        ),
    ],
)
def test_a_wrong_usage_is_told_on_stderr_with_code_2(run: Any, arguments: list[str], message: str) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def with_server(server: Server) -> list[str]:
    return ["--embeddings", "openai", "--base-url", server.url, "--model", "m", "--dimension", "2"]


def test_an_openai_server_embeds_documents_and_query(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-key")
    with Server([good]) as server:
        outcome = run("search", "tie", ".", *with_server(server), "--api-key-env", "MY_KEY", "--json")
    assert outcome.code == 0
    assert len(outcome.json["results"]) == 3
    assert all(result["semantic"] is not None for result in outcome.json["results"])
    assert server.requests[-1].body == {"model": "m", "input": ["tie"]}
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk-secret-key"}


def test_a_server_that_refuses_is_a_failure_that_shows_no_key(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-key")

    def refuse(handler: Handler) -> None:
        send_json(handler, 401, {"error": {"message": "bad key sk-secret-key"}})

    with Server([refuse]) as server:
        outcome = run("search", "tie", ".", *with_server(server), "--api-key-env", "MY_KEY")
    assert (outcome.code, outcome.out) == (1, "")
    assert "answered 401" in outcome.err
    assert "secret" not in outcome.err


def test_a_path_that_does_not_exist_is_a_failure_with_code_1(run: Any) -> None:
    outcome = run("search", "tie", "other.txt", "absent")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "redstring-ref: no such file or folder: absent\n"


@pytest.mark.parametrize("arguments", [[], ["search"], ["explain"], ["tokenize"], ["version"]])
def test_every_command_has_help(run: Any, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"])
    assert ended.value.code == 0
    assert "usage: redstring-ref" in capsys.readouterr().out


def test_an_interrupt_ends_without_a_traceback(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(request: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_search", interrupted)
    outcome = run("search", "tie", ".")
    assert (outcome.code, outcome.err) == (130, "redstring-ref: interrupted\n")


def start(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.Popen(  # noqa: S603 (own code)
        [sys.executable, "-m", "redstring_ref", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_ctrl_c_in_the_middle_of_work_ends_without_a_traceback() -> None:
    text = " ".join(f"word{number} that takes a while" for number in range(1_000_000))
    Path("big.txt").write_text(text, encoding="utf-8")
    process = start("search", "words", "big.txt")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"redstring-ref: interrupted\n")


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    for number in range(300):
        Path(f"f{number}").write_text("tie " * 200, encoding="utf-8")
    process = start("search", "tie", ".", "-k", "300", "--json")
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert err == b""


def test_a_terminal_without_the_characters_shows_their_numbers() -> None:
    Path("other.txt").write_text("naïve tie", encoding="utf-8")
    process = start("search", "tie", "other.txt", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"na\\xefve" in out


def test_a_file_of_fifty_megabytes_is_searched(run: Any) -> None:
    line = "many words stand on every line of this file, and they are all the same\n"
    with open("big.txt", "w", encoding="utf-8") as file:
        file.writelines(line for _ in range(50_000_000 // len(line)))
        file.write("the needle\n")
    outcome = run("search", "needle", "big.txt", "--mode", "lexical", "--chunk-size", "100000", "--json")
    (result,) = outcome.json["results"]
    assert result["last_line"] == 50_000_000 // len(line) + 1
    assert result["end_char"] > 49_000_000
