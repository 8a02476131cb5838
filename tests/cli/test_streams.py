"""Both streams: what is written arrives or is told, and nothing is said on the wrong one."""

import io
import os
import sys
from pathlib import Path

import pytest

from redstring_ref.cli import main
from redstring_ref.cli.errors import CommandError, ReaderGoneError
from redstring_ref.cli.streams import answer, prepare, tell


class Failing(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


def test_streams_show_the_number_of_what_they_cannot_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    prepare()
    answer(["naïve"])
    assert raw.getvalue() == b"na\\xefve\n"


def test_without_a_stdout_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["version"]) == 1
    assert capsys.readouterr().err == "redstring-ref: standard output is closed\n"


def test_without_a_stderr_no_error_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["search"]) == 2
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("redstring-ref ")


def test_a_stderr_that_takes_nothing_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Failing(OSError(28, "No space left on device"))
    monkeypatch.setattr(sys, "stderr", full)
    tell("unheard")
    assert sys.stderr is not full
    tell("unheard")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            OSError(28, "No space left on device"),
            CommandError,
            "cannot write to standard output: No space left on device",
        ),
        (OSError("strange"), CommandError, "cannot write to standard output: strange"),
        (BrokenPipeError(32, "Broken pipe"), ReaderGoneError, ""),
    ],
    ids=["full", "strange", "gone"],
)
def test_an_answer_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, error: OSError, kind: type[CommandError], message: str
) -> None:
    monkeypatch.setattr(sys, "stdout", Failing(error))
    with pytest.raises(CommandError) as raised:
        answer(["lost"])
    monkeypatch.undo()
    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_what_could_not_be_written_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Full(io.StringIO):
        def fileno(self) -> int:
            return file.fileno()

        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    with open(tmp_path / "out", "wb") as file:
        monkeypatch.setattr(sys, "stdout", Full())
        with pytest.raises(CommandError):
            answer(["lost"])
        monkeypatch.undo()
        assert os.fstat(file.fileno()).st_rdev == os.stat(os.devnull).st_rdev


def test_a_reader_that_has_gone_is_a_failure_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Failing(BrokenPipeError(32, "Broken pipe")))
        assert main(["version"]) == 1
    assert capsys.readouterr().err == ""


def test_a_message_is_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    tell("two\nlines \x1b[31m " + "x" * 1000)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(r"two\x0alines \x1b[31m xxx")
    assert len(line) == 301
