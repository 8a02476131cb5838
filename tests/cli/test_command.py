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
    assert outcome.err == "3 files, 3 passages searched\n"
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
    assert lines[10:] == ["skipped 2 more; --json lists them all", "3 files, 3 passages searched"]
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
    assert lines[2] == "adds = idf · tf / (tf + k1 · (1 - b + b · 7 / 4.33)), k1 = 1.2, b = 0.75"
    assert lines[3] == "term tf df idf adds"
    assert lines[4].startswith("tie 1 1 0.980829 ")
    assert lines[5] == f"total {lines[4].split()[-1]}"
    assert lines[6].startswith("semantic rank 1, score (1 + cosine) / 2 = ")
    assert lines[7].startswith("cosine = dot / sqrt(|q|² · |v|²) = ")
    assert lines[8] == "fused 1/(60 + 1) [0.016393443] + 1/(60 + 1) [0.016393443] = 0.032786885"
    assert lines[10].startswith("First below the cut: ")
    assert "lexical not ranked" in lines
    assert lines[-1].startswith("missed by 0.0")


def test_explain_says_when_only_the_id_decided(run: Any) -> None:
    for name in ("a", "b"):
        Path(name).write_text("twins of a tie", encoding="utf-8")
    outcome = run("explain", "twins", "a", "b", "-k", "1", "--mode", "lexical")
    assert outcome.out.splitlines()[-1] == "  missed by 0: the scores are equal, and its id is the greater"
    outcome = run("explain", "twins", "a", "--mode", "semantic")
    assert "First below" not in outcome.out
    assert outcome.out.endswith("\nNothing missed the cut.\n")
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
        (
            ["search", "tie", ".", "--chunk-size", "10", "--overlap", "10"],
            "--overlap must be less than --chunk-size 10, got 10",
        ),
        (["search", "tie", ".", "--chunk-size", "0"], "--chunk-size must be at least 1, got 0"),
        (["search", "tie", ".", "--dimension", "0"], "--dimension must be from 1 to 16000, got 0"),
        (["search", "tie", ".", "--dimension", "16001"], "--dimension must be from 1 to 16000, got 16001"),
        (["search", "tie", ".", "--dimension", "9" * 400], "--dimension must be from 1 to 16000"),
        (["search", "caf\udce9", "."], "argument QUERY: is not valid UTF-8"),
        (["tokenize", "caf\udce9"], "argument TEXT: is not valid UTF-8"),
        (["search", "-tie", "."], "what starts with - and is no option stands after --"),
        (["explain", "tie", ".", "--frob"], "unrecognized arguments: --frob"),
        (["search", "tie", ".", "--dim", "2"], "unrecognized arguments: --dim"),
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
    assert (process.returncode, err) == (1, b"")


def test_a_terminal_without_the_characters_shows_their_numbers() -> None:
    Path("other.txt").write_text("naïve tie", encoding="utf-8")
    process = start("search", "tie", "other.txt", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"1 file, 1 passage searched\n")
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


def test_a_wrong_usage_shows_the_usage_of_its_command_and_no_more_of_an_argument_than_fits(run: Any) -> None:
    outcome = run("search", "tie", ".", "--mode", "x" * 100_000)
    assert "\nusage: redstring-ref search [-h]" in outcome.err
    assert len(outcome.err) < 2000


def test_options_may_stand_anywhere_among_the_paths(run: Any) -> None:
    expected = run("search", "tie", "notes", "other.txt", "-k", "2", "--json").json
    assert run("search", "tie", "notes", "-k", "2", "other.txt", "--json").json == expected
    assert run("search", "--json", "tie", "-k", "2", "notes", "other.txt").json == expected
    assert run("search", "--json", "-k", "1", "--", "-tie", "notes").json["query"] == "-tie"


def test_overlap_is_a_fifth_of_a_passage_unless_it_is_given(run: Any) -> None:
    Path("long.txt").write_text(" ".join(f"abcd {number}" for number in range(100)), encoding="utf-8")
    chunks = ["--chunk-size", "100", "-k", "99", "--mode", "lexical", "--json"]

    def starts(*overlap: str) -> list[int]:
        results = run("search", "abcd", "long.txt", *chunks, *overlap).json["results"]
        return sorted(each["start_char"] for each in results)

    assert starts() == starts("--overlap", "20") != starts("--overlap", "0")


def test_a_query_without_terms_is_told(run: Any) -> None:
    outcome = run("search", "?! the", ".", "--mode", "lexical")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        "the query has no terms: stopwords and punctuation are not searched by their words",
        "no results: 3 files, 3 passages searched",
    ]


def test_a_search_that_could_read_nothing_is_a_failure(run: Any) -> None:
    Path("binary").write_bytes(b"\x00")
    outcome = run("search", "tie", "binary")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines() == [
        "skipped binary: binary",
        "no results: 0 files, 0 passages searched",
        "redstring-ref: nothing could be read",
    ]


def test_names_that_could_drive_a_terminal_are_made_harmless(run: Any) -> None:
    Path("a\x1b[31m\u202eb.txt").write_text("a tie", encoding="utf-8")
    Path("c\x9b.bin").write_bytes(b"\x00")
    outcome = run("search", "tie", ".")
    assert "a\ufffd[31m\ufffdb.txt" in outcome.out
    assert "skipped c\ufffd.bin: binary" in outcome.err
    outcome = run("search", "tie", "x\x1b[2Jy")
    assert outcome.err == "redstring-ref: no such file or folder: x\ufffd[2Jy\n"
    outcome = run("search", "tie", ".", "--json")
    assert "\\u009b" in outcome.out
    assert "\\u202e" in outcome.out
    assert outcome.json["skipped"] == [{"path": "c\x9b.bin", "reason": "binary"}]


def test_two_names_that_print_alike_are_two_sources(run: Any) -> None:
    os.close(os.open(b"caf\xe9", os.O_CREAT | os.O_WRONLY))
    Path("caf\\xe9").write_text("a tie", encoding="utf-8")
    answer = run("search", "tie", ".", "--json", "--mode", "lexical").json
    assert answer["files"] == 5
    assert {result["source"] for result in answer["results"]} >= {"caf\\\\xe9"}


@pytest.mark.parametrize("columns", ["1", "20", "40"])
def test_a_narrow_terminal_is_no_failure(run: Any, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run("search", "tie", ".").code == 0


def shell(line: str) -> "subprocess.CompletedProcess[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable}
    command = ["/bin/sh", "-c", line]
    return subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)  # noqa: S603 (own code)


def test_a_closed_output_is_told_and_a_closed_stderr_costs_no_answer() -> None:
    closed = shell('"$PYTHON" -m redstring_ref search tie . >&-')
    assert (closed.returncode, closed.stderr) == (1, b"redstring-ref: standard output is closed\n")
    silent = shell("\"$PYTHON\" -m redstring_ref tokenize 'a tie' 2>&-")
    assert (silent.returncode, silent.stdout) == (0, b"tie\n")
    silent = shell('"$PYTHON" -m redstring_ref search tie . -k 1 2>&-')
    assert (silent.returncode, silent.stdout.count(b"\n")) == (0, 3)
    failed = shell('"$PYTHON" -m redstring_ref search tie absent 2>&-')
    assert (failed.returncode, failed.stdout) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", ["--help", "search --help", "search tie .", "version"])
def test_an_output_that_cannot_be_written_is_a_failure(arguments: str) -> None:
    failed = shell(f'"$PYTHON" -m redstring_ref {arguments} > /dev/full')
    assert failed.returncode == 1
    assert failed.stderr.endswith(b"redstring-ref: [Errno 28] No space left on device\n")
    assert b"Traceback" not in failed.stderr


def test_memory_that_does_not_suffice_is_a_failure(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(request: object) -> None:
        raise MemoryError

    monkeypatch.setattr(command, "run_search", exhausted)
    outcome = run("search", "tie", ".")
    assert (outcome.code, outcome.err) == (1, "redstring-ref: out of memory\n")


def test_an_interrupt_while_modules_are_loaded_ends_without_a_traceback() -> None:
    Path("asyncio.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    program = 'import runpy; runpy.run_module("redstring_ref", run_name="__main__")'
    failed = shell(f"\"$PYTHON\" -c '{program}' version")
    assert (failed.returncode, failed.stdout, failed.stderr) == (130, b"", b"")
