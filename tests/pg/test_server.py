"""The servers of these tests start, or tell why not; they come back after `kill -9`, and leave nothing."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests.pg.server import DURABLE, FAST, FOLDER_PREFIX, Server, child_processes, running_server

ROOT = Path(__file__).parents[2]


def leftovers() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"))


def setting(dsn: str, name: str) -> str:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


def test_the_shared_server_has_pgvector_and_orders_by_code_point(postgres: Server) -> None:
    with psycopg.connect(postgres.dsn()) as connection:
        vectors = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchall()
        letters = connection.execute(
            "SELECT x FROM (VALUES ('a'), ('B'), ('é')) AS v (x) ORDER BY x"
        ).fetchall()
    assert vectors == [(1,)]
    assert letters == [("B",), ("a",), ("é",)]
    assert setting(postgres.dsn(), "fsync") == "off"


def test_a_killed_server_comes_back_with_what_was_committed() -> None:
    before = leftovers()
    with running_server(DURABLE) as server:
        assert setting(server.dsn(), "fsync") == "on"
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (x) AS VALUES (1)")
            server.kill()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        server.start()
        with psycopg.connect(server.dsn()) as connection:
            assert connection.execute("SELECT x FROM kept").fetchall() == [(1,)]
        assert len(child_processes(os.getpid())) >= 1
    assert leftovers() == before


def test_a_server_that_does_not_start_shows_its_log_and_leaves_nothing() -> None:
    before = leftovers()
    with (
        pytest.raises(RuntimeError, match=r"did not start:\n(?s:.*)no_such_setting"),
        running_server({**FAST, "no_such_setting": "1"}),
    ):
        raise AssertionError("a server with a bad setting must not start")
    assert leftovers() == before


PROGRAM = """
import sys
from tests.pg.server import running_server
with running_server() as server:
    print(server.dsn(), flush=True)
    sys.stdin.read()
"""


def test_a_process_that_is_killed_leaves_no_server_behind() -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(  # noqa: S603 (own program)
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        dsn = program.stdout.readline().strip()
        psycopg.connect(dsn).close()
        program.kill()
        program.wait()
    folders = Path(tempfile.gettempdir())
    deadline = time.monotonic() + 30.0
    while any(folders.glob(f"redstring-pg-{program.pid}-*")):
        assert time.monotonic() < deadline, "the folder is still there"
        time.sleep(0.02)  # nobody is told when the guard is done
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn)
