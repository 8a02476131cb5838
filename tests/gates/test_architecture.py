"""Layers import only what stands above them, and `redstring_ref` imports the standard library only."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ["domain", "ports", "memory", "embeddings", "chunking", "composition", "conformance", "cli"]
# What a layer may import beside itself: those above it, but siblings do not know each other.
ADAPTERS = {"memory", "embeddings", "chunking"}
ALLOWED = {
    "domain": set(),
    "ports": {"domain"},
    "memory": {"domain", "ports"},
    "embeddings": {"domain", "ports"},
    "chunking": {"domain", "ports"},
    "composition": {"domain", "ports", *ADAPTERS},
    "conformance": {"domain", "ports"},
    "cli": {"domain", "ports", *ADAPTERS, "composition", "conformance", "version"},
}
MODULES = sorted(ROOT.glob("redstring_ref/**/*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the absolute name of every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def layer_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_the_walk_finds_the_modules_and_their_imports() -> None:
    found = {path.relative_to(ROOT).as_posix(): set(imports(path)) for path in MODULES}
    assert len(found) > 40
    assert "redstring_ref.domain.terms" in found["redstring_ref/memory/lexical_index.py"]
    assert "hashlib" in found["redstring_ref/domain/ids.py"]


def test_every_folder_is_a_known_layer() -> None:
    folders = {path.name for path in (ROOT / "redstring_ref").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= set(LAYERS)
    assert set(ALLOWED) == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_layer_imports_only_those_above_it(path: Path) -> None:
    parts = path.relative_to(ROOT / "redstring_ref").parts
    if len(parts) == 1:
        return  # __init__, __main__ and version stand beside the layers.
    own = parts[0]
    used = {layer_of(name) for name in imports(path) if name.split(".")[0] == "redstring_ref"}
    assert used <= ALLOWED[own] | {own}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_the_standard_library_is_imported(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"redstring_ref"}
    assert outside == set()


def test_no_module_is_named_after_one_of_the_standard_library() -> None:
    names = {path.stem for path in MODULES if not path.stem.startswith("__")}
    assert names & sys.stdlib_module_names == set()


def test_the_postgres_adapter_imports_domain_and_ports_only() -> None:
    paths = sorted(ROOT.glob("redstring_pg/**/*.py"))
    assert paths
    used = {layer_of(name) for path in paths for name in imports(path) if name.startswith("redstring_ref")}
    assert used <= {"domain", "ports"}


def test_modules_named_by_a_string_are_optional_ones() -> None:
    calls = {
        (path.name, call.args[0].value)
        for path in MODULES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"import_module", "__import__"}
        and isinstance(call.args[0], ast.Constant)
    }
    assert calls == {("proposal.py", "numpy")}


def run_isolated(code: str) -> str:
    """Run code in an interpreter that sees the standard library and the checkout, nothing else."""
    command = [sys.executable, "-S", "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 (own code)


def test_it_imports_without_site_packages() -> None:
    names = ", ".join(
        f"redstring_ref.{layer}" for layer in LAYERS if (ROOT / "redstring_ref" / layer).is_dir()
    )
    assert run_isolated(f"import redstring_ref, {names}; print(redstring_ref.__version__)").strip()


def test_the_import_is_cheap() -> None:
    loaded = run_isolated("from redstring_ref import *; print(*sys.modules)").split()
    heavy = {"asyncio", "argparse", "http.client", "urllib.request", "ssl", "socket", "numpy"}
    assert "redstring_ref.memory.chunk_store" in loaded
    assert heavy & set(loaded) == set()
