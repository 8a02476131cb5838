"""Finds the files at and below the paths that a user names. It opens none."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redstring_ref.cli.errors import CommandError
from redstring_ref.cli.escapes import printable

GENERATED_FOLDERS = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that was found and not read: its printable path, and why."""

    path: str
    reason: str


def require_paths(paths: Sequence[str]) -> None:
    """Raise `CommandError` for a path that leads to nothing, before anything is read."""
    for path in paths:
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise CommandError(f"no such file or folder: {printable(path)}") from None
        except OSError as error:
            raise CommandError(f"cannot reach {printable(path)}: {reason(error)}") from None


def find_files(paths: Sequence[str]) -> Iterator[str | SkippedFile]:
    """Yield the files at or below `paths`: those of a folder by name, then its folders by name.

    Below a folder, hidden names and generated folders are passed over, and links to folders are
    not followed. A file that is reached twice is yielded twice.
    """
    for path in paths:
        if os.path.isdir(path):
            yield from _walk(path)
        else:
            yield path


def reason(error: OSError) -> str:
    """Return why the system refused, without the path."""
    return error.strerror or type(error).__name__


def _walk(top: str) -> Iterator[str | SkippedFile]:
    # A stack of its own: folders may lie deeper than Python's.
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                searched = sorted(filter(_is_searched, entries), key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedFile(printable(folder), reason(error))
            continue
        folders = {entry.path: entry.is_symlink() for entry in searched if _is_folder(entry)}
        links = (path for path, is_link in folders.items() if is_link)
        yield from (SkippedFile(printable(path), "link to a folder") for path in links)
        yield from (entry.path for entry in searched if entry.path not in folders)
        pending += reversed([path for path, is_link in folders.items() if not is_link])


def _is_searched(entry: "os.DirEntry[str]") -> bool:
    return not entry.name.startswith(".") and entry.name not in GENERATED_FOLDERS


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # Reading it will tell why.
