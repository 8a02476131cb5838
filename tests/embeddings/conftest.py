"""Servers that live as long as the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.embeddings.server import Answer, Server

Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Yield a function that starts a server with the given answers."""
    with ExitStack() as stack:

        def start(*answers: Answer) -> Server:
            return stack.enter_context(Server(answers))

        yield start
