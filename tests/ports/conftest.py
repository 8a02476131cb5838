"""The chunk stores that every test of this folder runs against."""

from collections.abc import AsyncIterator

import pytest

from redstring_ref.memory import InMemoryChunkStore
from redstring_ref.ports import ChunkStore


@pytest.fixture(params=["memory"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[ChunkStore]:
    """Yield an empty store of dimension 2."""
    async with InMemoryChunkStore(dimension=2) as store:
        yield store
