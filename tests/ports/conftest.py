"""The stores that every test of this folder runs against."""

from collections.abc import AsyncIterator

import pytest

from redstring_ref.memory import InMemoryChunkStore, InMemoryVectorStore
from redstring_ref.ports import ChunkStore, VectorStore
from tests.pg import support


@pytest.fixture(params=["memory", "postgres"])
def home(request: pytest.FixtureRequest) -> tuple[str, str] | None:
    """Return the database and the schema of this test, or `None` where nothing but memory is needed."""
    if request.param == "memory":
        return None
    return request.getfixturevalue("dsn"), request.getfixturevalue("schema")


@pytest.fixture
async def store(home: tuple[str, str] | None) -> AsyncIterator[ChunkStore]:
    """Yield an empty chunk store of dimension 2."""
    async with InMemoryChunkStore(dimension=2) if home is None else support.chunk_store(*home) as store:
        yield store


@pytest.fixture
async def vector_store(home: tuple[str, str] | None) -> AsyncIterator[VectorStore]:
    """Yield an empty entity vector store of dimension 2."""
    async with InMemoryVectorStore(dimension=2) if home is None else support.vector_store(*home) as store:
        yield store
