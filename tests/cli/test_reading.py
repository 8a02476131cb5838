"""Reading files: text of any kind is read once, everything else is reported."""

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from redstring_ref.cli.errors import CommandError
from redstring_ref.cli.reading import SkippedFile, TextFile, printable, read_files, require_paths


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def read(*paths: str) -> list[TextFile | SkippedFile]:
    return list(read_files(paths))


def test_files_are_read_by_name_and_folder_by_folder() -> None:
    for name in ("b.txt", "a.md", "sub/c", "sub/deep/d.py", "z.txt"):
        write(name, name.encode())
    assert [found.path for found in read(".")] == ["a.md", "b.txt", "z.txt", "sub/c", "sub/deep/d.py"]
    assert read("sub/c") == [TextFile("sub/c", "sub/c")]


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
        ("text".encode("utf-32"), "UTF-32, not UTF-8"),
        (b"\x00\x00\xfe\xff\x00\x00\x00a", "UTF-32, not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8 at byte 0"),
    ],
)
def test_what_is_not_utf8_text_is_skipped_with_its_reason(content: bytes, reason: str) -> None:
    write("bad", content)
    write("good", b"text")
    assert read(".") == [SkippedFile("bad", reason), TextFile("good", "text")]


def test_hidden_and_generated_names_are_passed_over_unless_they_are_named() -> None:
    for name in (".git/config", ".hidden", "__pycache__/m.txt", "node_modules/p/x.js", "seen"):
        write(name, b"text")
    assert [found.path for found in read(".")] == ["seen"]
    assert [found.path for found in read(".hidden", ".git")] == [".hidden", ".git/config"]


def test_a_file_is_read_once_however_it_is_reached() -> None:
    write("folder/a", b"text")
    Path("link").symlink_to("folder/a")
    assert [found.path for found in read("folder/a", ".", "folder", "./folder/a")] == ["folder/a"]


def test_links_that_loop_or_lead_nowhere_are_reported() -> None:
    Path("loop").symlink_to("loop")
    Path("gone").symlink_to("nothing")
    write("folder/a", b"text")
    Path("folder/up").symlink_to("..")
    found = read(".")
    assert TextFile("folder/a", "text") in found
    assert SkippedFile("folder/up", "link to a folder") in found
    reasons = {each.path: each.reason for each in found if isinstance(each, SkippedFile)}
    assert set(reasons) == {"folder/up", "loop", "gone"}
    assert "symbolic links" in reasons["loop"]
    assert "No such file" in reasons["gone"]


def test_a_named_link_to_a_folder_is_followed() -> None:
    write("folder/a", b"text")
    Path("link").symlink_to("folder")
    assert read("link") == [TextFile("link/a", "text")]


def test_a_pipe_is_skipped_and_not_waited_for() -> None:
    os.mkfifo("pipe")
    assert read("pipe") == [SkippedFile("pipe", "not a regular file")]


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


def test_an_unreadable_folder_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    write("locked/a", b"text")
    write("open/a", b"text")
    real_scandir = os.scandir

    def refusing_scandir(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    assert read(".") == [SkippedFile("locked", "Permission denied"), TextFile("open/a", "text")]
    assert read("locked") == [SkippedFile("locked", "Permission denied")]


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_read() -> None:
    write("here", b"text")
    require_paths(["here", "."])
    with pytest.raises(CommandError, match="no such file or folder: absent"):
        require_paths(["here", "absent"])


def test_a_path_too_long_for_a_source_id_is_skipped() -> None:
    # A character of three bytes: the limit counts bytes.
    parts = ["€" * 80] * 9
    os.makedirs(os.path.join(*parts))
    write(os.path.join(*parts, "a"), b"text")
    (found,) = read(".")
    assert isinstance(found, SkippedFile)
    assert found.reason == "path of more than 2048 bytes"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./caf\udce9.txt", "caf\\xe9.txt"),
        ("caf\\xe9.txt", "caf\\\\xe9.txt"),
        ("\\\udce9", "\\\\\\xe9"),
        ("back\\slash", "back\\slash"),
        ("./plain", "plain"),
        ("./", "./"),
    ],
)
def test_a_name_of_any_bytes_is_shown_as_no_other_one_is(path: str, expected: str) -> None:
    assert printable(path) == expected


def test_a_folder_of_any_depth_is_searched() -> None:
    depth = 1500
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    write("deepest", b"text")
    for _ in range(depth):
        os.chdir("..")
    (found,) = read(".")
    # Python 3.11 cannot remove a tree that is so deep.
    for _ in range(depth):
        os.chdir("d")
    os.remove("deepest")
    for _ in range(depth):
        os.chdir("..")
        os.rmdir("d")
    assert isinstance(found, SkippedFile)
    assert found.reason == "path of more than 2048 bytes"


def test_a_file_too_large_for_memory_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    write("large", b"text")
    write("small", b"text")
    real_open = builtins.open

    def exhausted(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith("large"):
            raise MemoryError
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(builtins, "open", exhausted)
    assert read(".") == [SkippedFile("large", "too large for memory"), TextFile("small", "text")]


def test_a_file_that_becomes_a_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    write("file", b"text")
    status = os.stat("file")
    os.remove("file")
    os.mkfifo("file")
    monkeypatch.setattr(os, "stat", lambda path: status)
    assert read("file") == [SkippedFile("file", "not a regular file")]


def test_each_file_is_told_before_it_is_opened() -> None:
    write("a", b"text")
    write("b", b"\x00")
    told: list[str] = []
    found = read_files(["."], told.append)
    next(found)
    assert told == ["a"]
    next(found)
    assert told == ["a", "b"]


def test_a_path_that_may_not_be_looked_at_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refused)
    with pytest.raises(CommandError, match=r"^Permission denied: locked/a$"):
        require_paths(["locked/a"])
