"""Without its drivers, `redstring_pg` says what to install; `redstring_ref` needs none."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
sys.modules[{missing!r}] = None
import redstring_ref
try:
    import redstring_pg
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool"])
def test_a_missing_driver_is_an_import_error_that_names_the_extra(missing: str) -> None:
    program = PROGRAM.format(root=str(ROOT), missing=missing)
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (own code)
    assert result.stdout.startswith("redstring_pg needs psycopg and psycopg_pool: ")
    assert "pip install 'redstring-ref[pg]'" in result.stdout
    assert missing in result.stdout
