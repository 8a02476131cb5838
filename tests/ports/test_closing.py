"""Every store closes in the same way."""

import inspect
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import StoreClosedError
from redstring_ref.memory import InMemoryChunkStore, InMemoryGraphStore, InMemoryVectorStore
from redstring_ref.ports import AsyncClosable, ChunkStore, GraphStore, VectorStore
from tests.pg import support

# Nothing listens there, and nothing here needs a server.
NOWHERE = "postgresql://127.0.0.1:1/nowhere"


def no_pool() -> support.Pool:
    return support.new_pool(NOWHERE)


STORES = [
    (ChunkStore, lambda: InMemoryChunkStore(dimension=2)),
    (VectorStore, lambda: InMemoryVectorStore(dimension=2)),
    (GraphStore, InMemoryGraphStore),
    (ChunkStore, lambda: PostgresChunkStore(no_pool(), dimension=2)),
    (VectorStore, lambda: PgVectorStore(no_pool(), dimension=2)),
    (ChunkStore, lambda: PostgresChunkStore.connect(NOWHERE, dimension=2)),
    (VectorStore, lambda: PgVectorStore.connect(NOWHERE, dimension=2)),
]
NEW_STORES = [
    InMemoryChunkStore,
    InMemoryVectorStore,
    partial(PostgresChunkStore, no_pool()),
    partial(PgVectorStore, no_pool()),
]


@pytest.mark.parametrize(("port", "new_store"), STORES)
async def test_a_store_is_what_its_port_says(port: type, new_store: Any) -> None:
    assert isinstance(new_store(), port)
    assert isinstance(new_store(), AsyncClosable)


@pytest.mark.parametrize(("port", "new_store"), STORES)
async def test_closing_twice_is_safe(port: type, new_store: Any) -> None:
    store = new_store()
    await store.close()
    await store.close()


@pytest.mark.parametrize(("port", "new_store"), STORES)
async def test_an_exception_in_the_block_reaches_the_caller(port: type, new_store: Any) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with new_store() as store:
            raise KeyError("mine")
    with pytest.raises(StoreClosedError):
        await store.__aenter__()


@pytest.mark.parametrize(("port", "new_store"), STORES)
async def test_every_method_of_a_closed_store_is_refused(port: type, new_store: Any) -> None:
    store = new_store()
    await store.close()
    methods = [
        getattr(store, name)
        for name, member in inspect.getmembers(port, inspect.iscoroutinefunction)
        if not name.startswith("__") and name != "close"
    ]
    assert len(methods) >= 6
    for method in methods:
        parameters = inspect.signature(method).parameters.values()
        required = [each for each in parameters if each.default is inspect.Parameter.empty]
        # Whatever is wrong with the arguments, that the store is closed comes first.
        for argument in (UUID(int=1), None):
            with pytest.raises(StoreClosedError, match="is closed"):
                await method(*[argument for _ in required])


@pytest.mark.parametrize("new_store", NEW_STORES)
@pytest.mark.parametrize(
    ("dimension", "error"),
    [(0, ValueError), (-1, ValueError), (True, TypeError), (2.0, TypeError), (None, TypeError)],
)
def test_a_dimension_is_an_integer_of_at_least_one(
    new_store: Any, dimension: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="dimension must be"):
        new_store(dimension=dimension)
    assert new_store(dimension=1).dimension == 1
