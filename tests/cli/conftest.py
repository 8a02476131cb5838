"""A folder with three files, and the command line run in it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from redstring_ref.cli import main

FILES = {
    "notes/ties.md": "# Ties\n\nA tie is broken by the id.\nNothing else decides.\n",
    "notes/order.txt": "The order is total.\n",
    "other.txt": "Bananas are yellow, and so are lemons.\n",
}


class Outcome:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Work in a folder that holds these files; return their texts."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    return FILES


@pytest.fixture
def run(corpus: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Outcome:
        code = main(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
