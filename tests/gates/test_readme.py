"""Every code block of the README runs, and every link in it and in `spec/` leads somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pg.server import Server

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("spec/**/*.md"))]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROGRAMS = [(code, BLOCKS[position + 1]) for position, (kind, code) in enumerate(BLOCKS) if kind == "python"]
COMMANDS = [line for kind, code in BLOCKS if kind == "console" for line in code.splitlines()]


def python(*arguments: str) -> str:
    """Run the interpreter as one with nothing installed, in a fresh clone's root."""
    command = [sys.executable, "-S", "-W", "error", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 (own code)


def test_the_readme_has_the_blocks_that_are_tested() -> None:
    kinds = ["console", "console", "python", "text", "python", "text", "text", "python", "text"]
    assert [kind for kind, _ in BLOCKS] == kinds


LIBRARY, POSTGRES, ADAPTER = PROGRAMS


@pytest.mark.parametrize(("code", "following"), [LIBRARY, ADAPTER], ids=["library", "adapter"])
def test_a_program_prints_what_the_block_after_it_shows(code: str, following: tuple[str, str]) -> None:
    kind, expected = following
    assert kind == "text"
    assert python("-c", code) == expected


def test_the_program_for_postgres_prints_the_same_as_the_one_in_memory(postgres: Server) -> None:
    code, (kind, expected) = POSTGRES
    assert (kind, expected) == LIBRARY[1]
    command = [sys.executable, "-W", "error", "-c", code, postgres.create_database("readme")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 (own code)
    assert result.stdout == expected


def test_the_run_command_needs_nothing_and_finds_the_rule() -> None:
    words = shlex.split(COMMANDS[0])
    assert words[0] == "python3"
    out = python(*words[1:])
    assert re.search(r"^ +1 .* (README\.md|spec/\S+\.md):\d+", out, re.MULTILINE)
    assert "**tie**" in out


def test_the_test_command_is_the_one_that_the_gate_runs() -> None:
    command = (
        "python3 -m venv .venv && .venv/bin/python -m pip install -q '.[dev]' && .venv/bin/python -m pytest"
    )
    assert COMMANDS[1:] == [command]
    found = re.search(r"sed -n '(s/.*?)p' README\.md", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    assert found
    pattern = found.group(1).split("/")[1].replace(r"\(", "(").replace(r"\)", ")")
    assert re.findall(pattern, README, re.MULTILINE) == [command]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target
