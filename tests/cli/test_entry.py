"""The ways in: `python -m`, the console script, and what they import."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import redstring_ref
from redstring_ref.cli import main
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]

INTERRUPTED_IMPORT = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "redstring_ref.domain":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
{way_in}
"""


@pytest.mark.parametrize(
    "way_in",
    [
        "import runpy; sys.argv = ['x', 'version']; runpy.run_module('redstring_ref', run_name='__main__')",
        "from redstring_ref.cli import main; sys.exit(main(['version']))",
        "import os; sys.stderr = None; from redstring_ref.cli import main; os._exit(main(['version']))",
    ],
    ids=["python -m", "console script", "no stderr"],
)
def test_ctrl_c_among_the_imports_ends_without_a_traceback(way_in: str) -> None:
    code = INTERRUPTED_IMPORT.format(way_in=way_in)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 (own code)
    told = "" if "None" in way_in else "redstring-ref: interrupted\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", told)


def test_ctrl_c_among_the_imports_is_told_where_there_is_a_stderr(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        @property
        def run(self) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "redstring_ref.cli.command", Interrupting())
    outcome = run("version")
    assert (outcome.code, outcome.err) == (130, "redstring-ref: interrupted\n")
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["version"]) == 130


def test_without_arguments_it_takes_those_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["redstring-ref", "tokenize", "Tie"])
    assert main() == 0
    assert capsys.readouterr().out == "tie\n"


def test_the_package_imports_a_layer_when_one_of_its_names_is_used() -> None:
    code = (
        "import sys, redstring_ref as ref\n"
        "loaded = lambda: sorted(name for name in sys.modules if name[:14] == 'redstring_ref.'"
        " and name.count('.') == 1)\n"
        "print(loaded())\n"
        "ref.TextSpan, ref.tokenize\n"
        "print(loaded())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 (own code)
    assert done.stdout.splitlines() == [
        "['redstring_ref.version']",
        "['redstring_ref.domain', 'redstring_ref.version']",
    ]


def test_every_name_of_the_package_is_that_of_its_layer() -> None:
    layers = [
        import_module(f"redstring_ref.{name}")
        for name in ("domain", "ports", "memory", "embeddings", "chunking", "composition")
    ]
    for name in redstring_ref.__all__:
        value = getattr(redstring_ref, name)
        assert name == "__version__" or any(value is getattr(layer, name, None) for layer in layers)
    assert set(redstring_ref.__all__) <= set(dir(redstring_ref))
    namespace: dict[str, object] = {}
    exec("from redstring_ref import *", namespace)  # noqa: S102 (own code)
    assert set(redstring_ref.__all__) - {"__version__"} <= set(namespace)


def test_a_layer_is_an_attribute_and_an_unknown_name_is_none() -> None:
    code = "import redstring_ref as ref; print(ref.domain.terms.tokenize('Tie'), hasattr(ref, 'nothing'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 (own code)
    assert done.stdout == "['tie'] False\n"
    with pytest.raises(AttributeError, match="module 'redstring_ref' has no attribute 'nothing'"):
        redstring_ref.nothing  # type: ignore[attr-defined]  # noqa: B018 - its absence is the point
