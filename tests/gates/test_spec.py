"""Rules have ids that exist, are unique and are cited; the examples of every page run."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "spec").glob("[0-9]*.md"))
RULE = re.compile(r"^## ([A-Z]{2,3}-\d+) .+\n\n((?:.+\n)+)", re.MULTILINE)
CITED = re.compile(
    r"\b(CHK|TXT|VEC|LEX|ORD|FUS|PRT|VST|TEN|RET|ENT|IDX|SPL|EMB|GRF|PG)-(\d+)(?: to \1-(\d+))?"
)


def defined() -> list[str]:
    return [rule for page in PAGES for rule, _ in RULE.findall(page.read_text(encoding="utf-8"))]


def cited_by(path: Path) -> set[str]:
    """Return the rules that a file names, `TXT-1 to TXT-6` for all six."""
    found = set()
    for prefix, first, last in CITED.findall(path.read_text(encoding="utf-8")):
        found |= {f"{prefix}-{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def test_rule_ids_are_unique() -> None:
    rules = defined()
    assert len(rules) > 50
    assert sorted(set(rules)) == sorted(rules)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_rule_says_what_must_hold(page: Path) -> None:
    rules = RULE.findall(page.read_text(encoding="utf-8"))
    assert [rule for rule, sentence in rules if "MUST" not in sentence] == []
    assert len(rules) == page.read_text(encoding="utf-8").count("\n## ")


def test_every_id_that_the_code_names_exists() -> None:
    paths = [*ROOT.glob("redstring_ref/**/*.py"), *ROOT.glob("redstring_pg/**/*.py"), ROOT / "README.md"]
    assert {rule for path in paths for rule in cited_by(path)} - set(defined()) == set()


def test_every_rule_is_cited_by_the_code_that_keeps_it() -> None:
    paths = [*ROOT.glob("redstring_ref/**/*.py"), *ROOT.glob("redstring_pg/**/*.py")]
    code = {rule for path in paths for rule in cited_by(path)}
    assert set(defined()) - code == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path) -> None:
    failures, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failures == 0


def test_the_pages_have_examples() -> None:
    parser = doctest.DocTestParser()
    counts = {page.name: len(parser.get_examples(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert sum(counts.values()) > 15
