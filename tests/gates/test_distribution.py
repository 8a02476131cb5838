"""The wheel holds both packages and nothing else, and runs with nothing installed."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 (own code)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_both_packages_and_nothing_of_the_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"redstring_ref", "redstring_pg"}
    assert {"redstring_ref/py.typed", "redstring_pg/py.typed"} <= set(names)
    source = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("redstring_*/**/*.py")}
    assert {name for name in names if name.endswith(".py")} == source


def test_the_wheel_requires_nothing(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist:")]
    assert all("extra ==" in line for line in required)
    assert {"numpy", "pg", "dev"} == {
        line.split(": ")[1] for line in lines if line.startswith("Provides-Extra:")
    }
    assert "License-Expression: MIT" in lines


def test_the_wheel_runs_with_nothing_installed(wheel: Path) -> None:
    run = "from redstring_ref.cli import main; main(['version'])"
    command = [sys.executable, "-S", "-I", "-c", f"import sys; sys.path.insert(0, {str(wheel)!r}); {run}"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (own code)
    assert out.startswith("redstring-ref ")
