"""Finding files: in a definite order, at any depth, and whatever cannot be entered is reported."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from redstring_ref.cli.errors import CommandError
from redstring_ref.cli.walking import SkippedFile, find_files, require_paths


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def touch(name: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def find(*paths: str) -> list[str | SkippedFile]:
    return list(find_files(paths))


def test_files_come_by_name_and_folder_by_folder() -> None:
    for name in ("b.txt", "a.md", "sub/c", "sub/deep/d.py", "sub/Z/e", "tail/f", "z.txt"):
        touch(name)
    names = ["a.md", "b.txt", "z.txt", "sub/c", "sub/Z/e", "sub/deep/d.py", "tail/f"]
    assert find(".") == [f"./{name}" for name in names]
    assert find("sub/c", "tail") == ["sub/c", "tail/f"]


def test_hidden_and_generated_names_are_passed_over_unless_they_are_named() -> None:
    for name in (".git/config", ".hidden", "__pycache__/m.txt", "node_modules/p/x.js", "seen"):
        touch(name)
    assert find(".") == ["./seen"]
    assert find(".hidden", ".git") == [".hidden", ".git/config"]


def test_a_link_to_a_folder_is_reported_and_not_followed() -> None:
    touch("folder/a")
    Path("folder/up").symlink_to("..")
    assert find(".") == [SkippedFile("folder/up", "link to a folder"), "./folder/a"]


def test_links_that_loop_or_lead_nowhere_are_left_to_the_reader() -> None:
    Path("loop").symlink_to("loop")
    Path("gone").symlink_to("nothing")
    assert find(".") == ["./gone", "./loop"]


def test_a_named_link_to_a_folder_is_followed() -> None:
    touch("folder/a")
    Path("link").symlink_to("folder")
    assert find("link") == ["link/a"]


def test_an_unreadable_folder_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    touch("locked/a")
    touch("open/a")
    real_scandir = os.scandir

    def refusing_scandir(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    assert find(".") == [SkippedFile("locked", "Permission denied"), "./open/a"]
    assert find("locked") == [SkippedFile("locked", "Permission denied")]


def test_an_unreadable_working_folder_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing_scandir(path: Any) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    assert find("./") == [SkippedFile(".", "Permission denied")]


@pytest.fixture
def deep() -> Iterator[int]:
    """Make folders so deep that the path of the last is longer than the system takes; return how many."""
    name, depth, top = "d", 2100, os.getcwd()
    for _ in range(depth):
        os.mkdir(name)
        os.chdir(name)
    os.chdir(top)
    yield depth
    for _ in range(depth):
        os.chdir(name)
    for _ in range(depth):
        os.chdir("..")
        os.rmdir(name)


def test_folders_may_lie_deeper_than_any_stack_and_too_deep_a_one_is_reported(deep: int) -> None:
    middle = "/".join(["d"] * 1500)
    touch(f"{middle}/file")
    file, unreachable = find("d")
    os.unlink(f"{middle}/file")
    assert file == f"{middle}/file"
    assert isinstance(unreachable, SkippedFile)
    assert 2000 < unreachable.path.count("/") < deep
    assert unreachable.reason == os.strerror(errno.ENAMETOOLONG)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("absent", "absent"),
        ("here/below", "here/below"),
        ("a\x00b", r"a\x00b"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("", "''"),
    ],
)
def test_a_path_that_does_not_exist_is_an_error_before_anything_is_read(path: str, shown: str) -> None:
    touch("here")
    require_paths(["here", "."])
    with pytest.raises(CommandError) as error:
        require_paths(["here", path])
    assert str(error.value) == f"no such file or folder: {shown}"


def test_a_path_that_may_not_be_looked_up_is_not_called_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing_lstat(path: Any) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refusing_lstat)
    with pytest.raises(CommandError) as error:
        require_paths(["locked/file"])
    monkeypatch.undo()
    assert str(error.value) == "cannot reach locked/file: Permission denied"
