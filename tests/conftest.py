"""The PostgreSQL server that the tests of a session share. It starts with the first test that asks for it."""

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from psycopg import sql

from tests.pg.server import Server, running_server

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Yield a running server that flushes nothing to disk."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def dsn(postgres: Server) -> str:
    """Return how to reach the database that most tests share."""
    return postgres.dsn()


@pytest.fixture
def schema(dsn: str) -> Iterator[str]:
    """Yield an empty schema of this test alone; a test that leaves a transaction open fails."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(dsn, autocommit=True, options="-c lock_timeout=10s") as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        yield name
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
