"""Whatever the contract refuses is refused as the reference refuses it, before a connection is asked for.

The pool of these stores counts who asks it for a connection, and has none.
"""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import StoreClosedError, VectorRecord
from redstring_ref.memory import InMemoryChunkStore, InMemoryVectorStore
from tests.pg.answers import Call, Once, call
from tests.pg.hurts import (
    BAD_ENTITIES,
    BAD_IDS,
    BAD_LIMITS,
    BAD_MIN_SCORES,
    BAD_SOURCES,
    BAD_TENANTS,
    BAD_TERMS,
    ENTITIES,
    bad_vectors,
    made_invalid,
)
from tests.pg.strategies import bad_records
from tests.support import OTHER_TENANT, TENANT, make_chunk


class NoConnections(AsyncConnectionPool[AsyncConnection[TupleRow]]):
    """A pool that counts how often it is asked for a connection, and refuses."""

    def __init__(self) -> None:
        super().__init__("", open=False)
        self.asked = 0

    def connection(self, timeout: float | None = None) -> Any:
        """Refuse, as `getconn` and `open` do."""
        self.asked += 1
        raise AssertionError("a connection was asked for")

    async def getconn(self, timeout: float | None = None) -> Any:
        self.connection()

    async def open(self, wait: bool = False, timeout: float = 30) -> None:
        self.connection()


GOOD = make_chunk("tie", embedding=[1.0, 0.0])
CHUNK_CALLS: dict[str, list[Call]] = {
    "get": [
        *[call("get", bad, TENANT) for bad in BAD_IDS],
        *[call("get", GOOD.id, bad) for bad in BAD_TENANTS],
        call("get", None, None),
    ],
    "get_by_source": [
        *[call("get_by_source", bad, TENANT) for bad in BAD_SOURCES],
        *[call("get_by_source", "doc-1", bad) for bad in BAD_TENANTS],
        call("get_by_source", None, None),
    ],
    "get_by_entity": [
        *[call("get_by_entity", bad, TENANT) for bad in BAD_ENTITIES],
        *[call("get_by_entity", ENTITIES[0], bad) for bad in BAD_TENANTS],
        call("get_by_entity", None, None),
    ],
    "lexical_candidates": [
        *[call("lexical_candidates", bad, TENANT, 1) for bad in BAD_TERMS],
        *[call("lexical_candidates", ["tie"], bad, 1) for bad in BAD_TENANTS],
        *[call("lexical_candidates", ["tie"], TENANT, bad) for bad in BAD_LIMITS],
        *[call("lexical_candidates", [], TENANT, bad) for bad in BAD_LIMITS],
        call("lexical_candidates", None, None, None),
        call("lexical_candidates", "tie", TENANT, -1),
        call("lexical_candidates", [], None, 1),
    ],
    "semantic_candidates": [
        *[call("semantic_candidates", bad, TENANT, 1) for bad in bad_vectors(2)],
        *[call("semantic_candidates", bad, TENANT, 0) for bad in bad_vectors(2)],
        *[call("semantic_candidates", [1.0, 0.0], bad, 1) for bad in BAD_TENANTS],
        *[call("semantic_candidates", [1.0, 0.0], TENANT, bad) for bad in BAD_LIMITS],
        *[
            call("semantic_candidates", [1.0, 0.0], TENANT, n, min_score=bad)
            for bad in BAD_MIN_SCORES
            for n in (0, 1)
        ],
        call("semantic_candidates", None, None, None, min_score="x"),
        call("semantic_candidates", [0.0, 0.0], TENANT, -1, min_score="x"),
        call("semantic_candidates", [1.0], TENANT, -1, min_score="x"),
        call("semantic_candidates", [1.0, 0.0], TENANT, -1, min_score="x"),
    ],
    "upsert_many": [
        *[call("upsert_many", [GOOD, bad]) for bad in made_invalid(2)],
        *[call("upsert_many", [bad, None]) for bad in made_invalid(2)],
        *[call("upsert_many", bad) for bad in (None, 1, GOOD, "chunks", Once((GOOD,), fails=True))],
    ],
    "replace_source": [
        *[call("replace_source", "doc-1", TENANT, [GOOD, bad]) for bad in made_invalid(2)],
        *[call("replace_source", bad, TENANT, []) for bad in BAD_SOURCES],
        *[call("replace_source", "doc-1", bad, []) for bad in BAD_TENANTS],
        *[call("replace_source", "doc-1", TENANT, bad) for bad in (None, 1, GOOD, Once((GOOD,), fails=True))],
        call("replace_source", "doc-1", TENANT, [GOOD, make_chunk("tie", source_id="doc-2")]),
        call("replace_source", "doc-1", TENANT, [make_chunk("tie", tenant_id=OTHER_TENANT)]),
        call("replace_source", None, None, None),
    ],
    "delete_by_source": [
        *[call("delete_by_source", bad, TENANT) for bad in BAD_SOURCES],
        *[call("delete_by_source", "doc-1", bad) for bad in BAD_TENANTS],
        call("delete_by_source", None, None),
    ],
    "delete_by_tenant": [call("delete_by_tenant", bad) for bad in BAD_TENANTS],
}
RECORD = VectorRecord(TENANT, ENTITIES[0], [1.0, 0.0])
VECTOR_CALLS: dict[str, list[Call]] = {
    "upsert": [call("upsert", bad) for bad in bad_records(2)],
    "upsert_many": [
        *[call("upsert_many", [RECORD, bad]) for bad in bad_records(2)],
        *[call("upsert_many", bad) for bad in (None, 1, RECORD, Once((RECORD,), fails=True))],
    ],
    "get": [
        *[call("get", bad, TENANT) for bad in BAD_ENTITIES],
        *[call("get", ENTITIES[0], bad) for bad in BAD_TENANTS],
        call("get", None, None),
    ],
    "search": [
        *[call("search", bad, TENANT) for bad in bad_vectors(2)],
        *[call("search", [1.0, 0.0], bad) for bad in BAD_TENANTS],
        *[call("search", [1.0, 0.0], TENANT, k=bad) for bad in BAD_LIMITS],
        *[
            call("search", [1.0, 0.0], TENANT, entity_types=bad)
            for bad in ("person", 1, [1], [None], ["\x00"])
        ],
        *[call("search", [1.0, 0.0], TENANT, k=n, min_score=bad) for bad in BAD_MIN_SCORES for n in (0, 1)],
        call("search", [1.0, 0.0], TENANT, entity_types=[], min_score="x"),
        call("search", None, None, k=-1, entity_types=1, min_score="x"),
        call("search", [1.0], TENANT, k=-1, entity_types=1, min_score="x"),
        call("search", [1.0, 0.0], TENANT, k=-1, entity_types=1, min_score="x"),
        call("search", [1.0, 0.0], TENANT, k=1, entity_types=1, min_score="x"),
    ],
    "delete": [
        *[call("delete", bad, TENANT) for bad in BAD_ENTITIES],
        *[call("delete", ENTITIES[0], bad) for bad in BAD_TENANTS],
        call("delete", None, None),
    ],
    "delete_by_tenant": [call("delete_by_tenant", bad) for bad in BAD_TENANTS],
}


async def assert_refused_alike(
    reference: object, adapter: object, pool: NoConnections, calls: list[Call]
) -> None:
    for each in calls:
        expected = await each.on(reference)
        assert isinstance(expected, dict), each
        assert "raises" in expected, f"the reference takes {each}"
        assert await each.on(adapter) == expected, each
        assert pool.asked == 0, f"asked for a connection: {each}"


@pytest.mark.parametrize("name", CHUNK_CALLS)
async def test_a_chunk_store_refuses_as_the_reference_before_any_statement(name: str) -> None:
    pool = NoConnections()
    adapter = PostgresChunkStore(pool, dimension=2)
    await assert_refused_alike(InMemoryChunkStore(dimension=2), adapter, pool, CHUNK_CALLS[name])
    await adapter.close()


@pytest.mark.parametrize("name", VECTOR_CALLS)
async def test_a_vector_store_refuses_as_the_reference_before_any_statement(name: str) -> None:
    pool = NoConnections()
    adapter = PgVectorStore(pool, dimension=2)
    await assert_refused_alike(InMemoryVectorStore(dimension=2), adapter, pool, VECTOR_CALLS[name])
    await adapter.close()


@pytest.mark.parametrize("new_store", [PostgresChunkStore, PgVectorStore])
@pytest.mark.parametrize(
    ("dimension", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (16_001, ValueError),
        (True, TypeError),
        (2.0, TypeError),
        ("2", TypeError),
    ],
)
def test_a_dimension_is_an_integer_from_1_to_16000(
    new_store: Any, dimension: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"^dimension must be"):
        new_store(NoConnections(), dimension=dimension)
    with pytest.raises(error, match=r"^dimension must be"):
        new_store.connect("", dimension=dimension)
    assert new_store(NoConnections(), dimension=16_000).dimension == 16_000
    assert new_store(NoConnections(), dimension=1).dimension == 1


BACKFILLS: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"tenant_id": "0000000a-0000-4000-8000-000000000001"}, TypeError),
    ({"tenant_id": 1}, TypeError),
    ({"batch_size": 0}, ValueError),
    ({"batch_size": -1}, ValueError),
    ({"batch_size": True}, TypeError),
    ({"batch_size": 1.0}, TypeError),
    ({"batch_size": None}, TypeError),
]
SCHEMAS: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"partitions": 0}, ValueError),
    ({"partitions": -1}, ValueError),
    ({"partitions": True}, TypeError),
    ({"partitions": 2.0}, TypeError),
]


@pytest.mark.parametrize(("options", "error"), BACKFILLS, ids=str)
async def test_a_bad_argument_of_the_backfill_is_refused_by_its_name(
    options: dict[str, Any], error: type[Exception]
) -> None:
    pool = NoConnections()
    with pytest.raises(error, match=f"^{next(iter(options))} must be"):
        await PostgresChunkStore(pool, dimension=2).backfill_lexical_index(**options)
    assert pool.asked == 0


@pytest.mark.parametrize("new_store", [PostgresChunkStore, PgVectorStore])
@pytest.mark.parametrize(("options", "error"), SCHEMAS, ids=str)
async def test_a_bad_number_of_partitions_is_refused(
    new_store: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    pool = NoConnections()
    with pytest.raises(error, match=r"^partitions must be"):
        await new_store(pool, dimension=2).ensure_schema(**options)
    assert pool.asked == 0


OTHERS: dict[str, Callable[[PostgresChunkStore], Any]] = {
    "ensure_schema": lambda store: store.ensure_schema(),
    "backfill_lexical_index": lambda store: store.backfill_lexical_index(),
    "upsert_many of nothing": lambda store: store.upsert_many([]),
    "get of nothing that could be": lambda store: store.get(None, None),  # type: ignore[arg-type]  # closed comes first
}


@pytest.mark.parametrize("name", OTHERS)
async def test_a_closed_store_asks_for_no_connection(name: str) -> None:
    pool = NoConnections()
    store = PostgresChunkStore(pool, dimension=2)
    await store.close()
    with pytest.raises(StoreClosedError, match="PostgresChunkStore is closed"):
        await OTHERS[name](store)
    assert pool.asked == 0


async def test_what_reads_and_writes_nothing_asks_for_no_connection() -> None:
    pool = NoConnections()
    store, vectors = PostgresChunkStore(pool, dimension=2), PgVectorStore(pool, dimension=2)
    await store.upsert_many([])
    await vectors.upsert_many([])
    found = await store.lexical_candidates([], TENANT, 5)
    assert (found.candidates, found.stats.n_docs, found.stats.doc_frequencies) == ([], 0, {})
    assert pool.asked == 0
