"""The command line from end to end: what it prints, where, and its exit code."""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from redstring_ref.cli import command
from redstring_ref.version import __version__
from tests.cli.conftest import FILES, Run
from tests.embeddings.server import Handler, Server, good, send_json


def test_search_prints_rank_scores_place_and_marked_snippet(run: Run) -> None:
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


def test_a_channel_that_did_not_rank_a_passage_shows_a_dash(run: Run) -> None:
    lines = run("search", "tie", ".").out.splitlines()
    rows = [line.split() for line in lines if line.lstrip()[0].isdigit()]
    assert [row[3] == "-" for row in rows] == [False, True, True]
    rows = [line.split() for line in run("search", "tie", ".", "--mode", "lexical").out.splitlines()[1:2]]
    assert [(row[1], row[2]) for row in rows] == [("-", "-")]
    rows = [line.split() for line in run("search", "tie", ".", "--mode", "semantic").out.splitlines()[1:2]]
    assert [(row[1], row[3]) for row in rows] == [("-", "-")]


def test_search_json_tells_everything(run: Run) -> None:
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


def test_line_numbers_are_those_of_the_text_and_not_of_the_space_around_it(run: Run) -> None:
    paragraphs = ["filler words here.", "", "", "", "needle one.", "needle two.", "", "", "more words.", ""]
    Path("long.txt").write_bytes("\r\n".join(paragraphs).encode())
    answer = run("search", "needle", "long.txt", "--chunk-size", "30", "--overlap", "0", "--json").json
    first = answer["results"][0]
    assert (first["first_line"], first["last_line"]) == (5, 6)


def test_k_of_zero_and_empty_places_are_no_failure(run: Run) -> None:
    Path("empty").mkdir()
    outcome = run("search", "tie", "empty")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no results: 0 files, 0 passages searched\n"
    assert run("search", "tie", ".", "-k", "0").code == 0
    outcome = run("search", "zebra", ".", "--mode", "lexical")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no results: 3 files, 3 passages searched\n")
    assert run("search", "tie", "other.txt").err == "1 file, 1 passage searched\n"


def test_reading_nothing_of_what_was_named_is_a_failure(run: Run) -> None:
    Path("binary").write_bytes(b"\x00")
    outcome = run("search", "tie", "binary")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines() == [
        "skipped binary: binary",
        "no results: 0 files, 0 passages searched",
        "redstring-ref: nothing could be read",
    ]
    outcome = run("search", "tie", "binary", "--json")
    assert (outcome.code, outcome.json["results"]) == (1, [])
    assert run("search", "tie", "binary", "other.txt").code == 0


@pytest.mark.parametrize("query", ["the of and", "?!", "The -- THE"])
def test_a_query_without_terms_is_told(run: Run, query: str) -> None:
    assert run("search", query, ".").err.startswith("the query has no terms: ")
    assert run("explain", query, ".", "--json").err.startswith("the query has no terms: ")
    assert "no terms" not in run("search", "tie", ".").err
    outcome = run("tokenize", query)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no terms\n")


def test_two_names_that_print_alike_are_both_searched(run: Run) -> None:
    Path("caf\udce9").write_text("tie", encoding="utf-8")
    Path("caf\\xe9").write_text("tie", encoding="utf-8")
    answer = run("search", "tie", "caf\udce9", "caf\\xe9", "--json").json
    assert sorted(result["source"] for result in answer["results"]) == [r"caf\\xe9", r"caf\xe9"]


def test_nothing_that_is_printed_drives_a_terminal(run: Run) -> None:
    driving = "\x1b[31m\x9b\u202e"
    Path(f"bad{driving}").write_bytes(b"\x00")
    Path(f"good{driving}").write_text(f"tie {driving}\x7f", encoding="utf-8")
    outcomes = [
        run("search", f"tie{driving}", "."),
        run("explain", f"tie{driving}", "."),
        run("search", f"tie{driving}", ".", "--json"),
        run("search", "tie", f"absent{driving}"),
        run("search", "tie", ".", f"--{driving}"),
        run("search", "tie", ".", f"-b{driving}\n"),
        run("search", "tie", ".", "--mode", driving),
    ]
    for outcome in outcomes:
        printed = outcome.out + outcome.err
        assert all(line.isprintable() for line in printed.replace("\ufffd", "").splitlines()), printed
    assert r"bad\x1b[31m\u009b\u202e" in outcomes[0].err
    assert r"good\x1b[31m\u009b\u202e:1" in outcomes[0].out
    assert outcomes[2].json["query"] == f"tie{driving}"
    assert outcomes[2].out.isascii()


def test_skipped_files_are_reported_on_stderr_up_to_ten(run: Run) -> None:
    for number in range(12):
        Path(f"bad{number:02}").write_bytes(b"\xff\xfe")
    outcome = run("search", "tie", ".", "-k", "1")
    lines = outcome.err.splitlines()
    assert lines[0] == "skipped bad00: UTF-16, not UTF-8"
    assert lines[10:] == ["skipped 2 more; --json lists them all", "3 files, 3 passages searched"]
    outcome = run("search", "tie", ".", "--json")
    assert len(outcome.json["skipped"]) == 12
    assert outcome.err == "3 files, 3 passages searched\n"


def test_tokenize_prints_the_terms(run: Run) -> None:
    assert run("tokenize", "The C++ of 検索").out == "c\n検\n検索\n索\n"
    assert run("tokenize", "Tie, tie", "--json").json == {"text": "Tie, tie", "terms": ["tie", "tie"]}
    assert run("tokenize", "").out == ""


def test_version_prints_the_version(run: Run) -> None:
    assert run("version").out == f"redstring-ref {__version__}\n"
    assert run("version", "--json").json["version"] == __version__


def with_server(server: Server) -> list[str]:
    return ["--embeddings", "openai", "--base-url", server.url, "--model", "m", "--dimension", "2"]


def test_an_openai_server_embeds_documents_and_query(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-key")
    with Server([good]) as server:
        outcome = run("search", "tie", ".", *with_server(server), "--api-key-env", "MY_KEY", "--json")
    assert outcome.code == 0
    assert len(outcome.json["results"]) == 3
    assert all(result["semantic"] is not None for result in outcome.json["results"])
    assert server.requests[-1].body == {"model": "m", "input": ["tie"]}
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk-secret-key"}


def test_a_server_that_refuses_is_a_failure_that_shows_no_key(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-key")

    def refuse(handler: Handler) -> None:
        send_json(handler, 401, {"error": {"message": "bad key sk-secret-key"}})

    with Server([refuse]) as server:
        outcome = run("search", "tie", ".", *with_server(server), "--api-key-env", "MY_KEY")
    assert (outcome.code, outcome.out) == (1, "")
    assert "answered 401" in outcome.err
    assert "secret" not in outcome.err


def test_a_narrow_terminal_is_no_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for columns in ("1", "5", "20"):
        monkeypatch.setenv("COLUMNS", columns)
        assert run("search", "tie", ".").code == 0
        assert run("search", "--help").code == 0


def test_a_path_that_does_not_exist_is_a_failure_with_code_1(run: Run) -> None:
    outcome = run("search", "tie", "other.txt", "absent")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "redstring-ref: no such file or folder: absent\n"


def test_an_interrupt_ends_without_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(request: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_search", interrupted)
    outcome = run("search", "tie", ".")
    assert (outcome.code, outcome.err) == (130, "redstring-ref: interrupted\n")


def test_an_interrupt_ends_work_that_never_waits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(request: object) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the work went on")

    monkeypatch.setattr(command, "run_search", busy)
    before = signal.getsignal(signal.SIGINT)
    assert run("search", "tie", ".").code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_too_little_memory_is_told_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(request: object) -> None:
        raise MemoryError

    monkeypatch.setattr(command, "run_search", exhausted)
    outcome = run("search", "tie", ".")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "redstring-ref: there is not enough memory\n")


def test_it_runs_in_a_thread_that_no_signal_reaches(run: Run) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, "search", "tie", ".").result().code == 0


def test_a_file_of_fifty_megabytes_is_searched(run: Run) -> None:
    line = "many words stand on every line of this file, and they are all the same\n"
    with open("big.txt", "w", encoding="utf-8") as file:
        file.writelines(line for _ in range(50_000_000 // len(line)))
        file.write("the needle\n")
    outcome = run("search", "needle", "big.txt", "--mode", "lexical", "--chunk-size", "100000", "--json")
    (result,) = outcome.json["results"]
    assert result["last_line"] == 50_000_000 // len(line) + 1
    assert result["end_char"] > 49_000_000
