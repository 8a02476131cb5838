"""The command line as a process: streams that are closed or full, signals, a real terminal."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "redstring_ref"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

pytestmark = pytest.mark.usefixtures("corpus")


def start(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    environment = {**ENVIRONMENT, **options.pop("env", {})}
    return subprocess.Popen(  # noqa: S603 (own code)
        [*COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def shell(arguments: str) -> tuple[int, str, str]:
    """Run the command line with the redirections of a shell; return its exit code, stdout and stderr."""
    line = f"{shlex.join(COMMAND)} {arguments}"
    done = subprocess.run(["sh", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, check=False)  # noqa: S603, S607 (own code)
    return done.returncode, done.stdout, done.stderr


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
    assert (process.returncode, err) == (0, b"1 file, 1 passage searched\n")
    assert b"na\\xefve" in out


def test_json_is_json_in_every_encoding() -> None:
    Path("other.txt").write_text("naïve tie 👩", encoding="utf-8")
    process = start("search", "tie", "other.txt", "--json", env={"PYTHONIOENCODING": "ascii"})
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["results"][0]["text"] == "naïve tie 👩"


@pytest.mark.parametrize(
    "arguments", ["search tie .", "tokenize tie", "version --json", "--help", "search --help"]
)
def test_a_closed_or_full_stdout_is_told_in_one_line(arguments: str) -> None:
    told = "redstring-ref: standard output is closed\n"
    assert shell(f"{arguments} >&-") == (1, "", told)
    told = f"redstring-ref: cannot write to standard output: {os.strerror(28)}\n"
    assert shell(f"{arguments} >/dev/full") == (1, "", told)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_without_a_stderr_the_answer_comes_and_no_error_is_in_it(redirection: str) -> None:
    code, out, _ = shell(f"search tie . {redirection}")
    assert (code, out.splitlines()[1].split()[-1]) == (0, "notes/ties.md:1-4")
    assert shell(f"search tie absent {redirection}") == (1, "", "")
    assert shell(f"search {redirection}") == (2, "", "")


def test_an_interrupt_that_a_shell_ignores_is_ignored() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    Path("big.txt").write_text("many words " * 300_000, encoding="utf-8")
    process = start("search", "words", "big.txt", preexec_fn=ignore)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"big.txt" in out


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Run the command line on a terminal of its own and return all that it wrote there."""
    main_end, other_end = pty.openpty()
    with subprocess.Popen(  # noqa: S603 (own code)
        [*COMMAND, *arguments], env={**ENVIRONMENT, **environment}, stdout=other_end, stderr=other_end
    ) as process:
        os.close(other_end)
        written = b""
        while True:
            try:
                data = os.read(main_end, 4096)
            except OSError:  # how Linux tells the end
                data = b""
            if not data:
                break
            written += data
    os.close(main_end)
    assert process.returncode == 0
    return written.decode()


def test_a_terminal_sees_bold_words_and_the_progress_of_long_work() -> None:
    text = " ".join(f"word{number} and a tie" for number in range(150_000))
    Path("big.txt").write_text(text, encoding="utf-8")
    seen = on_a_terminal("search", "tie", "big.txt", "-k", "1", TERM="xterm", NO_COLOR="", COLUMNS="40")
    assert "\x1b[1mtie\x1b[0m" in seen
    progress, answer = seen[: seen.index("rank")], seen[seen.index("rank") :]
    assert "\rfile 1: " in progress
    assert max(map(len, progress.split("\r"))) == 39
    *_, wiped, end = progress.split("\r")
    assert (wiped.strip(), end) == ("", "")
    plain = answer.replace("\x1b[1m", "").replace("\x1b[0m", "").split("\r\n")
    snippet = [line for line in plain if line.startswith("      ")]
    assert len(snippet) > 5
    assert max(map(len, snippet)) <= 40
