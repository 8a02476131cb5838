"""Reading files: text of any kind is read once, everything else is reported."""

import builtins
import io
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

from redstring_ref.cli import reading
from redstring_ref.cli.reading import TextFile, read_files
from redstring_ref.cli.walking import SkippedFile


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def read(*paths: str) -> list[TextFile | SkippedFile]:
    return list(read_files(paths))


def test_a_file_is_read_whole() -> None:
    write("sub/c", b"one\ntwo\n" * 10_000)
    assert read(".") == read("sub/c") == [TextFile("sub/c", "one\ntwo\n" * 10_000)]


def test_a_byte_order_mark_is_dropped_and_line_ends_are_kept() -> None:
    write("bom.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read("bom.txt") == [TextFile("bom.txt", "one\r\ntwo\r\n")]


def test_an_empty_file_is_text_and_an_empty_folder_nothing() -> None:
    write("empty", b"")
    Path("folder").mkdir()
    assert read("empty", "folder") == [TextFile("empty", "")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF\x00", "binary"),
        (b"text " * 4000 + b"\x00", "binary"),
        (b"caf\xe9", "not UTF-8 at byte 3"),
        ("é".encode() + b"\xff", "not UTF-8 at byte 2"),
        ("text".encode("utf-16"), "UTF-16, not UTF-8"),
        (b"\xfe\xff" + "text".encode("utf-16-be"), "UTF-16, not UTF-8"),
        ("text".encode("utf-32"), "UTF-32, not UTF-8"),
        (b"\x00\x00\xfe\xff" + "text".encode("utf-32-be"), "UTF-32, not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8 at byte 0"),
    ],
)
def test_what_is_not_utf8_text_is_skipped_with_its_reason(content: bytes, reason: str) -> None:
    write("bad", content)
    write("good", b"text")
    assert read(".") == [SkippedFile("bad", reason), TextFile("good", "text")]


def test_a_file_is_read_once_however_it_is_reached() -> None:
    write("folder/a", b"text")
    Path("link").symlink_to("folder/a")
    assert [found.path for found in read("folder/a", ".", "folder", "./folder/a")] == ["folder/a"]


def test_a_pipe_is_skipped_and_not_waited_for() -> None:
    os.mkfifo("pipe")
    assert read("pipe") == [SkippedFile("pipe", "not a regular file")]


def test_a_file_that_has_become_a_pipe_is_skipped_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    write("file", b"text")
    os.mkfifo("pipe")
    status = os.stat("file")
    monkeypatch.setattr(os, "stat", lambda path: status)
    assert read("pipe") == [SkippedFile("pipe", "not a regular file")]


def test_two_names_that_print_alike_are_told_apart() -> None:
    write("caf\udce9", b"bytes")
    write("caf\\xe9", b"a backslash")
    assert read(".") == [TextFile(r"caf\\xe9", "a backslash"), TextFile(r"caf\xe9", "bytes")]


def test_a_name_is_read_once_even_if_its_file_is_replaced() -> None:
    write("file", b"old")
    files = read_files(["file", "./file"])
    assert next(files) == TextFile("file", "old")
    write("new", b"new")
    os.replace("new", "file")
    assert list(files) == []


def test_what_is_skipped_is_reported_once() -> None:
    Path("gone").symlink_to("nothing")
    assert len(read("gone", "./gone", ".")) == 1


def test_each_name_is_told_before_its_file_is_read() -> None:
    write("a", b"text")
    write("b", b"\x00")
    events: list[object] = []
    for found in read_files(["."], events.append):
        events.append(found)
    assert events == ["a", TextFile("a", "text"), "b", SkippedFile("b", "binary")]


class Unwilling(io.FileIO):
    """A file with nothing to read yet, as some of /proc are, or with more than memory holds."""

    answer: ClassVar[type[MemoryError] | None] = None

    def read(self, size: int | None = -1) -> Any:
        if self.answer is not None and size == -1:
            raise self.answer
        return None


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, TextFile("file", "")),
        (MemoryError, SkippedFile("file", "too large for memory")),
    ],
    ids=["nothing yet", "too much"],
)
def test_a_file_that_cannot_give_its_bytes_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, answer: type[MemoryError] | None, found: TextFile | SkippedFile
) -> None:
    write("file", b"text")
    monkeypatch.setattr(Unwilling, "answer", answer)
    monkeypatch.setattr(builtins, "open", lambda path, mode, opener: Unwilling(path, mode, opener=opener))
    assert read("file") == [found]


def test_an_unreadable_file_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    write("locked", b"text")
    write("open", b"text")
    real_open = builtins.open

    def refusing_open(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(builtins, "open", refusing_open)
    assert read(".") == [SkippedFile("locked", "Permission denied"), TextFile("open", "text")]


def test_a_text_too_long_for_its_positions_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    write("fits", "tiés".encode())
    write("longer", b"longer")
    monkeypatch.setattr(reading, "MAX_POSITION", 4)
    assert read(".") == [TextFile("fits", "tiés"), SkippedFile("longer", "more than 4 characters")]


def test_a_path_too_long_for_a_source_id_is_skipped() -> None:
    # A character of three bytes: the limit counts bytes.
    parts = ["€" * 80] * 9
    os.makedirs(os.path.join(*parts))
    write(os.path.join(*parts, "a"), b"text")
    (found,) = read(".")
    assert isinstance(found, SkippedFile)
    assert found.reason == "path of more than 2048 bytes"
