"""Finds and reads the text files among the paths that a user names. It indexes nothing."""

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redstring_ref.cli.errors import CommandError
from redstring_ref.domain.ids import MAX_SOURCE_ID_BYTES

SNIFFED_BYTES = 8192
GENERATED_FOLDERS = frozenset({"__pycache__", "node_modules"})


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
        if not os.path.lexists(path):
            raise CommandError(f"no such file or folder: {printable(path)}")


def read_files(paths: Sequence[str]) -> Iterator[TextFile | SkippedFile]:
    """Yield each file at or below `paths` once, the files of a folder by name.

    Below a folder, hidden names and generated folders are passed over, and links to folders are
    not followed.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for found in _walk(path) if os.path.isdir(path) else [path]:
            yield from [found] if isinstance(found, SkippedFile) else _read_once(found, seen)


def printable(path: str) -> str:
    """Return `path` as text that can be stored and printed, whatever bytes it is made of."""
    shortened = path.removeprefix(f".{os.sep}")
    return os.fsencode(shortened).decode("utf-8", "backslashreplace")


def _walk(top: str) -> Iterator[str | SkippedFile]:
    failures: list[OSError] = []
    for folder, subfolders, files in os.walk(top, onerror=failures.append):
        yield from (_skipped(failure.filename, failure) for failure in failures)
        failures.clear()
        subfolders[:] = sorted(name for name in subfolders if _is_searched(name))
        for name in subfolders:
            if os.path.islink(os.path.join(folder, name)):
                yield SkippedFile(printable(os.path.join(folder, name)), "link to a folder")
        yield from (os.path.join(folder, name) for name in sorted(files) if _is_searched(name))
    yield from (_skipped(failure.filename, failure) for failure in failures)


def _is_searched(name: str) -> bool:
    return not name.startswith(".") and name not in GENERATED_FOLDERS


def _read_once(path: str, seen: set[tuple[int, int]]) -> Iterator[TextFile | SkippedFile]:
    try:
        status = os.stat(path)
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        # Opening a pipe would wait for a writer.
        if not stat.S_ISREG(status.st_mode):
            yield SkippedFile(printable(path), "not a regular file")
            return
        yield _read(path)
    except OSError as error:
        yield _skipped(path, error)


def _read(path: str) -> TextFile | SkippedFile:
    name = printable(path)
    if len(name.encode()) > MAX_SOURCE_ID_BYTES:
        return SkippedFile(name, f"path of more than {MAX_SOURCE_ID_BYTES} bytes")
    with open(path, "rb") as file:
        head = file.read(SNIFFED_BYTES)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return SkippedFile(name, "UTF-16, not UTF-8")
        if b"\x00" in head:
            return SkippedFile(name, "binary")
        data = head + file.read()
    if b"\x00" in data:
        return SkippedFile(name, "binary")
    try:
        return TextFile(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return SkippedFile(name, f"not UTF-8 at byte {error.start}")


def _skipped(path: str, error: OSError) -> SkippedFile:
    return SkippedFile(printable(path), error.strerror or type(error).__name__)
