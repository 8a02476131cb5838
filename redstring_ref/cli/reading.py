"""Finds and reads the text files among the paths that a user names. It indexes nothing."""

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from redstring_ref.cli.errors import CommandError
from redstring_ref.domain.ids import MAX_SOURCE_ID_BYTES

SNIFFED_BYTES = 8192
GENERATED_FOLDERS = frozenset({"__pycache__", "node_modules"})

# The longer mark first: that of UTF-32 begins with that of UTF-16.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_ESCAPED_BYTE = re.compile(r"\\x[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was read: its printable path, and its text without a byte order mark."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that was found and not read, and why."""

    path: str
    reason: str


def require_paths(paths: Sequence[str]) -> None:
    """Raise `CommandError` for a path that leads to nothing, before anything is read."""
    for path in paths:
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise CommandError(f"no such file or folder: {printable(path)}") from None
        except OSError as error:
            raise CommandError(f"{error.strerror}: {printable(path)}") from None


def read_files(
    paths: Sequence[str], on_file: Callable[[str], None] | None = None
) -> Iterator[TextFile | SkippedFile]:
    """Yield each file at or below `paths` once, the files of a folder by name.

    Below a folder, hidden names and generated folders are passed over, and links to folders are
    not followed. `on_file` is told the printable path of each file before it is opened.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for found in _walk(path) if os.path.isdir(path) else [path]:
            if isinstance(found, SkippedFile):
                yield found
                continue
            if on_file is not None:
                on_file(printable(found))
            yield from _read_once(found, seen)


def printable(path: str) -> str:
    """Return `path` as text that can be stored, whatever bytes it is made of; no two paths give one text.

    A byte that is not UTF-8 is shown by its number, and then, or where the path looks as if it
    were, a backslash of the path itself is doubled.
    """
    raw = os.fsencode(path.removeprefix(f".{os.sep}") or path)
    text = raw.decode("utf-8", "backslashreplace")
    if _ESCAPED_BYTE.search(text):
        return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return text


def _walk(top: str) -> Iterator[str | SkippedFile]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(
                    (each for each in entries if _is_searched(each.name)), key=lambda each: each.name
                )
        except OSError as error:
            yield _skipped(folder, error)
            continue
        subfolders = []
        for entry in found:
            if not _is_searched(entry.name):
                continue
            if not _is_folder(entry):
                yield entry.path
            elif entry.is_symlink():
                yield SkippedFile(printable(entry.path), "link to a folder")
            else:
                subfolders.append(entry.path)
        waiting += reversed(subfolders)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that loops: opening it says so.
        return False


def _is_searched(name: str) -> bool:
    return not name.startswith(".") and name not in GENERATED_FOLDERS


def _read_once(path: str, seen: set[tuple[int, int]]) -> Iterator[TextFile | SkippedFile]:
    try:
        status = os.stat(path)
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        if not stat.S_ISREG(status.st_mode):
            yield SkippedFile(printable(path), "not a regular file")
            return
        yield _read(path)
    except OSError as error:
        yield _skipped(path, error)
    except MemoryError:
        yield SkippedFile(printable(path), "too large for memory")


def _read(path: str) -> TextFile | SkippedFile:
    name = printable(path)
    if len(name.encode()) > MAX_SOURCE_ID_BYTES:
        return SkippedFile(name, f"path of more than {MAX_SOURCE_ID_BYTES} bytes")
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return SkippedFile(name, "not a regular file")
        data = file.read(SNIFFED_BYTES)
        reason = _other_than_utf8(data)
        if reason is None:
            data += file.read()
            reason = _other_than_utf8(data)
    if reason is not None:
        return SkippedFile(name, reason)
    try:
        return TextFile(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return SkippedFile(name, f"not UTF-8 at byte {error.start}")


def _other_than_utf8(data: bytes) -> str | None:
    """Return what data is that begins with another encoding's mark, or holds a NUL; else `None`."""
    for mark, encoding in _OTHER_MARKS.items():
        if data.startswith(mark):
            return f"{encoding}, not UTF-8"
    return "binary" if b"\x00" in data else None


def _without_waiting(path: str, flags: int) -> int:
    # A file may have become a pipe since it was looked at, and opening that would wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _skipped(path: str, error: OSError) -> SkippedFile:
    return SkippedFile(printable(path), error.strerror or type(error).__name__)
