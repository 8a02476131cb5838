"""Reads the text files among those that were found. It indexes nothing."""

import codecs
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from redstring_ref.cli.escapes import printable
from redstring_ref.cli.walking import SkippedFile, find_files, reason
from redstring_ref.domain.chunks import MAX_POSITION
from redstring_ref.domain.ids import MAX_SOURCE_ID_BYTES

SNIFFED_BYTES = 8192

# UTF-32 comes first: its little-endian mark starts with that of UTF-16.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was read: its printable path, and its text without a byte order mark."""

    path: str
    text: str


def read_files(
    paths: Sequence[str], before: Callable[[str], None] | None = None
) -> Iterator[TextFile | SkippedFile]:
    """Yield each file at or below `paths` once; `before` is told the name of each that is opened."""
    seen: set[object] = set()
    for found in find_files(paths):
        name = found.path if isinstance(found, SkippedFile) else printable(found)
        # One name stands for one source, even if its file is replaced while others are read.
        if name in seen:
            continue
        seen.add(name)
        answer = found if isinstance(found, SkippedFile) else _read_once(found, name, seen, before)
        if answer is not None:
            yield answer


def _read_once(
    path: str, name: str, seen: set[object], before: Callable[[str], None] | None
) -> TextFile | SkippedFile | None:
    try:
        status = os.stat(path)
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return None
        seen.add(identity)
        # Opening a device may be an act, such as rewinding a tape.
        if not stat.S_ISREG(status.st_mode):
            return SkippedFile(name, "not a regular file")
        if len(name.encode()) > MAX_SOURCE_ID_BYTES:
            return SkippedFile(name, f"path of more than {MAX_SOURCE_ID_BYTES} bytes")
        if before is not None:
            before(name)
        return _read(path, name)
    except OSError as error:
        return SkippedFile(name, reason(error))
    except MemoryError:
        return SkippedFile(name, "too large for memory")


def _read(path: str, name: str) -> TextFile | SkippedFile:
    with open(path, "rb", opener=_open_at_once) as file:
        # What the path leads to may have changed since it was looked up.
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return SkippedFile(name, "not a regular file")
        # Some files of /proc would wait for more, and answer None instead.
        data = file.read(SNIFFED_BYTES) or b""
        if _why_no_text(data) is None:
            data += file.read() or b""
    return _decoded(name, data)


def _why_no_text(data: bytes) -> str | None:
    for mark, encoding in _OTHER_MARKS.items():
        if data.startswith(mark):
            return f"{encoding}, not UTF-8"
    return "binary" if b"\x00" in data else None


def _decoded(name: str, data: bytes) -> TextFile | SkippedFile:
    why = _why_no_text(data)
    if why is not None:
        return SkippedFile(name, why)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return SkippedFile(name, f"not UTF-8 at byte {error.start}")
    if len(text) > MAX_POSITION:
        return SkippedFile(name, f"more than {MAX_POSITION} characters")
    return TextFile(name, text)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
