"""Calls made at once over several pools end as if they had been made one after the other.

Readers see the rows before a write or after it, never a mixture, never a moment without any.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import EntityId, SourceId, StoredChunk, VectorRecord
from redstring_ref.memory import InMemoryChunkStore
from redstring_ref.ports import ChunkStore
from tests.pg import support
from tests.pg.answers import Call, answers, call, strict
from tests.pg.hurts import ENTITIES
from tests.pg.serial import serial_outcomes
from tests.pg.server import Server
from tests.support import OTHER_TENANT, TENANT, make_chunk

ROUNDS = 500
DOC = SourceId("doc-1")
TERMS = ["tie", "order", "red", "blue"]


def chunking(name: str, count: int, **fields: Any) -> list[StoredChunk]:
    """Return passages of one chunking; the first two are in every chunking, under other metadata."""
    texts = ["tie", "tie order", *[f"tie {name} {n}" for n in range(count)]]
    embedding = [1.0, 0.0] if name == "red" else [0.0, 1.0]
    return [
        make_chunk(text, chunk_index=n, metadata={"of": name}, embedding=embedding, **fields)
        for n, text in enumerate(texts)
    ]


async def reading(store: ChunkStore) -> dict[str, object]:
    """Return what each read shows, each of one moment of its own."""
    return {
        "source": strict(await store.get_by_source(DOC, TENANT)),
        "lexical": strict(await store.lexical_candidates(TERMS, TENANT, 5)),
        "every": strict(await store.lexical_candidates(TERMS, TENANT, 99)),
        "semantic": strict(await store.semantic_candidates([1.0, 0.0], TENANT, 99)),
        "entity": strict(await store.get_by_entity(ENTITIES[0], TENANT)),
        "get": strict(await store.get(make_chunk("tie").id, TENANT)),
    }


async def expected_reading(chunks: Sequence[StoredChunk]) -> dict[str, object]:
    async with InMemoryChunkStore(dimension=2) as reference:
        await reference.upsert_many(chunks)
        return await reading(reference)


class Crowd:
    """Stores over pools of their own, on one table."""

    def __init__(self, stores: list[PostgresChunkStore]) -> None:
        self.stores = stores

    async def at_once(self, calls: Sequence[Call]) -> list[object]:
        """Make each call on another store, all at the same time."""
        return await asyncio.gather(
            *[each.on(store) for each, store in zip(calls, self.stores, strict=False)]
        )

    async def assert_serialisable(self, before: list[Call], calls: list[Call], after: list[Call]) -> None:
        """Make the calls at once and check that an order explains every answer."""
        await answers(self.stores[0], before)
        results = await self.at_once(calls)
        outcome = (results, await answers(self.stores[0], after))
        assert outcome in await serial_outcomes(before, calls, after)


@pytest.fixture
async def crowd(dsn: str, schema: str) -> AsyncIterator[Crowd]:
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(support.chunk_store(dsn, schema, size=1)) for _ in range(4)]
        yield Crowd(stores)


async def test_two_re_indexes_of_one_source_end_as_one_and_readers_see_whole_sources(crowd: Crowd) -> None:
    red, blue = chunking("red", 3, entity_ids=ENTITIES[:2]), chunking("blue", 1, entity_ids=ENTITIES[:1])
    whole = [await expected_reading(red), await expected_reading(blue)]
    await crowd.stores[0].replace_source(DOC, TENANT, red)
    writes = [call("replace_source", DOC, TENANT, red), call("replace_source", DOC, TENANT, blue)]
    after = [call("get_by_source", DOC, TENANT)]
    possible = [await serial_outcomes([write], writes, after) for write in writes]
    done = asyncio.Event()
    seen: list[int] = []

    async def read(store: PostgresChunkStore) -> None:
        while not done.is_set():
            for name, value in (await reading(store)).items():
                states = [state[name] for state in whole]
                assert value in states, f"{name} shows a mixture"
                if states[0] != states[1]:
                    seen.append(states.index(value))

    async def write() -> None:
        state = 0
        for _ in range(ROUNDS):
            results = await crowd.at_once(writes)
            outcome = (results, await answers(crowd.stores[0], after))
            assert outcome in possible[state]
            state = 0 if outcome[1] == [{"returns": strict(red)}] else 1
        done.set()

    try:
        await asyncio.gather(write(), read(crowd.stores[2]), read(crowd.stores[3]))
    finally:
        done.set()
    assert len(seen) >= ROUNDS
    assert {0, 1} == set(seen)


async def test_a_reader_in_the_midst_of_a_write_sees_the_rows_before_it(
    crowd: Crowd, dsn: str, schema: str
) -> None:
    red, blue = (
        chunking("red", 3),
        [*chunking("blue", 3), make_chunk("gate", chunk_index=9), *chunking("blue", 9)],
    )
    writer, reader = crowd.stores[:2]
    await writer.replace_source(DOC, TENANT, red)
    async with support.connected(dsn) as gatekeeper:
        await support.add_gate(gatekeeper, schema)
        await gatekeeper.execute("SELECT pg_advisory_lock(7)")
        task = asyncio.create_task(writer.replace_source(DOC, TENANT, blue))
        await support.wait_for_blocked(gatekeeper)
        assert await reading(reader) == await expected_reading(red)
        await gatekeeper.execute("SELECT pg_advisory_unlock(7)")
        assert await task == 3
    assert await reading(reader) == await expected_reading(blue)


READS = [
    call("get_by_source", "doc-1", TENANT),
    call("get_by_source", "doc-2", TENANT),
    call("get_by_source", "doc-1", OTHER_TENANT),
    call("lexical_candidates", ["tie", "n1", "red"], TENANT, 99),
    call("lexical_candidates", ["tie", "n1", "red"], OTHER_TENANT, 99),
    call("semantic_candidates", [1.0, 0.0], TENANT, 99),
]


def mixed_batch(name: str, count: int = 40) -> list[StoredChunk]:
    """Return chunks of two tenants and of several sources, under metadata that tells who wrote them."""
    return [
        make_chunk(
            f"tie n{n}",
            source_id=f"doc-{1 + n % 3}",
            tenant_id=(TENANT, OTHER_TENANT)[n % 2],
            metadata={"of": name},
            embedding=[1.0, float(n)],
        )
        for n in range(count)
    ]


async def test_opposite_upserts_of_one_batch_never_block_each_other_for_good(crowd: Crowd) -> None:
    upserts = [
        call("upsert_many", mixed_batch("forward")),
        call("upsert_many", mixed_batch("backward")[::-1]),
        call("upsert_many", mixed_batch("middle")[20:] + mixed_batch("middle")[:20]),
    ]
    nobody = [call("delete_by_tenant", tenant) for tenant in (TENANT, OTHER_TENANT)]
    for number in range(30):
        # Rows that are there are updated, rows that are not are inserted: both must be in one order.
        await crowd.assert_serialisable(nobody if number % 2 else [*nobody, upserts[2]], upserts[:2], READS)
    await crowd.assert_serialisable(nobody, upserts, READS)


PAIRS: dict[str, Callable[[], list[Call]]] = {
    "upsert against replace": lambda: [
        call("upsert_many", [*chunking("upserted", 6), *mixed_batch("upserted", 9)]),
        call("replace_source", "doc-1", TENANT, chunking("red", 4)),
    ],
    "upsert of an orphan against replace": lambda: [
        call("upsert_many", chunking("old", 5)[::-1]),
        call("replace_source", "doc-1", TENANT, chunking("red", 1)),
    ],
    "delete against replace": lambda: [
        call("delete_by_source", "doc-1", TENANT),
        call("replace_source", "doc-1", TENANT, chunking("red", 4)),
    ],
    "delete of the tenant against replace": lambda: [
        call("delete_by_tenant", TENANT),
        call("replace_source", "doc-1", TENANT, chunking("red", 4)),
    ],
    "delete of the tenant against upsert": lambda: [
        call("delete_by_tenant", TENANT),
        call("upsert_many", mixed_batch("new", 12)),
    ],
    "upserts of overlapping sources": lambda: [
        call("upsert_many", [make_chunk("tie a", source_id=f"doc-{n}") for n in range(2, 9)]),
        call("upsert_many", [make_chunk("tie a", source_id=f"doc-{n}") for n in range(11, 0, -1)]),
        call("upsert_many", [make_chunk("tie a", source_id=f"doc-{n}") for n in (8, 2, 5, 1)]),
    ],
    "two deletes": lambda: [
        call("delete_by_source", "doc-1", TENANT),
        call("delete_by_tenant", TENANT),
    ],
    "emptying against upsert": lambda: [
        call("replace_source", "doc-1", TENANT, []),
        call("upsert_many", chunking("old", 5)),
    ],
    "four at once": lambda: [
        call("replace_source", "doc-1", TENANT, chunking("red", 4)),
        call("upsert_many", mixed_batch("new", 12)[::-1]),
        call("delete_by_source", "doc-1", TENANT),
        call("replace_source", "doc-2", TENANT, chunking("blue", 2, source_id="doc-2")),
    ],
}


@pytest.mark.parametrize("name", PAIRS)
async def test_writes_at_once_raise_nothing_and_end_as_one_order_of_them(crowd: Crowd, name: str) -> None:
    calls = PAIRS[name]()
    before = [
        call("delete_by_tenant", TENANT),
        call("delete_by_tenant", OTHER_TENANT),
        call("upsert_many", [*chunking("old", 5), *chunking("old", 2, source_id="doc-2")]),
    ]
    for number in range(20):
        await crowd.assert_serialisable(before, calls if number % 2 else calls[::-1], READS)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_the_callers_isolation_level_makes_no_write_fail_nor_see_an_older_moment(
    dsn: str, schema: str, isolation: str
) -> None:
    level = isolation.replace(" ", r"\ ")
    options: dict[str, Any] = {"kwargs": {"options": f"-c default_transaction_isolation={level}"}}
    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(support.chunk_store(dsn, schema, size=1, **options))
            for _ in range(4)
        ]
        before = [call("delete_by_tenant", TENANT), call("delete_by_tenant", OTHER_TENANT)]
        before.append(call("upsert_many", chunking("old", 5)))
        for _ in range(8):
            await Crowd(stores).assert_serialisable(before, PAIRS["four at once"](), READS)


@pytest.mark.parametrize("first", ["delete_by_source", "delete_by_tenant", "upsert_many", "replace_source"])
async def test_a_write_that_waits_for_another_one_sees_all_that_it_wrote(
    crowd: Crowd, dsn: str, schema: str, first: str
) -> None:
    # The first writer is held in its midst, so the second one has begun before the first one is done.
    second = {
        "delete_by_source": call("delete_by_source", "doc-1", TENANT),
        "delete_by_tenant": call("delete_by_tenant", TENANT),
        "upsert_many": call("upsert_many", [*chunking("second", 3), *mixed_batch("second", 6)]),
        "replace_source": call("replace_source", "doc-1", TENANT, chunking("second", 1)),
    }[first]
    held = call("replace_source", "doc-1", TENANT, [*chunking("held", 3), make_chunk("gate", chunk_index=9)])
    before = [call("upsert_many", chunking("old", 5))]
    async with support.connected(dsn) as gatekeeper:
        await support.add_gate(gatekeeper, schema)
        await gatekeeper.execute("SELECT pg_advisory_lock(7)")
        await answers(crowd.stores[0], before)
        tasks = [asyncio.create_task(held.on(crowd.stores[0]))]
        await support.wait_for_blocked(gatekeeper)
        tasks.append(asyncio.create_task(second.on(crowd.stores[1])))
        await support.wait_for_blocked(gatekeeper, 2)
        await gatekeeper.execute("SELECT pg_advisory_unlock(7)")
        results = list(await asyncio.gather(*tasks))
    outcome = (results, await answers(crowd.stores[0], READS))
    assert outcome in await serial_outcomes(before, [held, second], READS)


async def test_entity_vectors_written_at_once_in_opposite_orders_raise_nothing(dsn: str, schema: str) -> None:
    def batch(name: str) -> list[VectorRecord]:
        ids = [EntityId(UUID(int=n * 7919)) for n in range(60)]
        return [
            VectorRecord((TENANT, OTHER_TENANT)[n % 2], key, [1.0, float(n)], {"of": name})
            for n, key in enumerate(ids)
        ]

    async with (
        support.vector_store(dsn, schema, size=1) as left,
        support.vector_store(dsn, schema, size=1) as right,
    ):
        for _ in range(30):
            await asyncio.gather(
                left.upsert_many(batch("left")),
                right.upsert_many(batch("right")[::-1]),
            )
            found = await left.search([1.0, 0.0], TENANT, k=99)
            assert len(found) == 30
            assert len({str(match.metadata) for match in found}) == 1, "two batches were mixed"
            await asyncio.gather(left.delete_by_tenant(TENANT), right.upsert_many(batch("right")))
            assert len(await left.search([1.0, 0.0], TENANT, k=99)) in {0, 30}


async def test_eight_at_once_make_the_schema_of_an_empty_database(postgres: Server) -> None:
    # Not even the extension is there.
    dsn = postgres.create_database("eight_at_once")
    async with AsyncExitStack() as stack:
        pools = [await stack.enter_async_context(support.new_pool(dsn, 1)) for _ in range(8)]
        stores = [PostgresChunkStore(pool, dimension=2) for pool in pools]
        vectors = [PgVectorStore(pool, dimension=2) for pool in pools]
        for _ in range(3):
            await asyncio.gather(
                *[store.ensure_schema() for store in stores], *[store.ensure_schema() for store in vectors]
            )
        await asyncio.gather(
            *[
                store.replace_source(SourceId(f"doc-{n}"), TENANT, [make_chunk("tie", source_id=f"doc-{n}")])
                for n, store in enumerate(stores)
            ]
        )
        assert (await stores[0].lexical_candidates(["tie"], TENANT, 0)).stats.n_docs == 8


async def test_writers_go_on_while_the_schema_is_ensured_again(crowd: Crowd) -> None:
    async def ensure() -> None:
        for _ in range(10):
            await crowd.stores[0].ensure_schema()

    async def write(store: PostgresChunkStore, name: str) -> None:
        for _ in range(20):
            await store.replace_source(DOC, TENANT, chunking(name, 3))
            await store.upsert_many(mixed_batch(name))

    async with asyncio.timeout(support.PATIENCE_SECONDS):
        await asyncio.gather(ensure(), write(crowd.stores[1], "red"), write(crowd.stores[2], "blue"))
    found = {str(chunk.metadata) for chunk in await crowd.stores[3].get_by_source(DOC, OTHER_TENANT)}
    assert len(found) == 1
