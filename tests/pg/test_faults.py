"""What breaks leaves whole sources: killed servers and clients, ended sessions, cancelled writes."""

import asyncio
import multiprocessing
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from redstring_pg import PostgresChunkStore
from redstring_ref.domain import RedstringError, SourceId, StoredChunk, VectorRecord
from redstring_ref.memory import InMemoryChunkStore
from tests.pg import support
from tests.pg.answers import assert_same_answers, call, strict
from tests.pg.hurts import ENTITIES
from tests.pg.server import DURABLE, Server, running_server
from tests.pg.writer import SOURCE, edition, run
from tests.support import TENANT, make_chunk

ROUNDS = 50
# Children of a process that has imported everything start at once, and are no copies of this one.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.pg.writer"])
SOURCES = ["doc-1", "doc-2", "doc-3"]
TYPED = (psycopg.Error, RedstringError)


@pytest.fixture(scope="module")
def durable() -> Iterator[Server]:
    """Yield a server that a crash costs nothing of what it has confirmed."""
    with running_server(DURABLE) as server:
        yield server


async def assert_whole(
    store: PostgresChunkStore, possible: dict[str, list[list[StoredChunk]]]
) -> dict[str, int]:
    """Check that each source is one of its possible editions and that the statistics agree; tell which."""
    found = {}
    async with InMemoryChunkStore(dimension=2) as reference:
        for source, editions in possible.items():
            stored = await store.get_by_source(SourceId(source), TENANT)
            assert stored in editions, (
                f"{source} is neither old nor new: {[chunk.metadata for chunk in stored]}"
            )
            found[source] = editions.index(stored)
            await reference.upsert_many(stored)
        terms = [
            "tie",
            "n1",
            "n2",
            *[f"edition{each.metadata['edition']}" for e in possible.values() for c in e for each in c[:1]],
        ]
        reads = [call("lexical_candidates", terms, TENANT, limit) for limit in (0, 3, 10_000)]
        reads.append(call("semantic_candidates", [1.0, 2.0], TENANT, 10_000))
        await assert_same_answers(reference, store, reads)
    return found


async def test_a_killed_server_comes_back_with_each_source_old_or_new(durable: Server) -> None:
    dsn = durable.dsn()
    current = {source: edition(0, source) for source in SOURCES}
    async with PostgresChunkStore.connect(dsn, dimension=2, min_size=1) as store:
        await store.ensure_schema()
        await write_all(store, current)
        begun = time.perf_counter()
        await write_all(store, current := {source: edition(1, source) for source in SOURCES})
        took = time.perf_counter() - begun
    outcomes = []
    for number in range(2, 2 + ROUNDS):
        coming = {source: edition(number, source) for source in SOURCES}
        # A connection for each write: one that is asked for after the blow would be waited for.
        async with PostgresChunkStore.connect(dsn, dimension=2, min_size=3, timeout=5.0) as store:
            await asyncio.gather(*[store.get_by_source(SOURCE, TENANT) for _ in SOURCES])
            strike = await asyncio.to_thread(durable.aim)
            writes = asyncio.create_task(write_all(store, coming))
            # The moment of the blow moves through the write, from its begin to beyond its end.
            await asyncio.sleep(took * 1.5 * (number % 25) / 25)
            strike()
            confirmed = await writes
        await asyncio.to_thread(durable.kill)
        await asyncio.to_thread(durable.start)
        async with PostgresChunkStore.connect(dsn, dimension=2, min_size=1) as store:
            possible = {
                source: [coming[source]] if source in confirmed else [current[source], coming[source]]
                for source in SOURCES
            }
            await assert_whole(store, possible)
            current = {source: await store.get_by_source(SourceId(source), TENANT) for source in SOURCES}
            outcomes.append(sum(current[source] == coming[source] for source in SOURCES))
    assert min(outcomes) < len(SOURCES), "no blow came in the midst of a write"
    assert max(outcomes) > 0


async def write_all(store: PostgresChunkStore, sources: dict[str, list[StoredChunk]]) -> set[str]:
    """Replace all sources at once; return those whose write returned. An error has one of the right types."""

    async def write(source: str) -> None:
        await store.replace_source(SourceId(source), TENANT, sources[source])

    results = await asyncio.gather(*map(write, sources), return_exceptions=True)
    failures = [result for result in results if result is not None]
    assert all(isinstance(failure, TYPED) for failure in failures), failures
    return {source for source, result in zip(sources, results, strict=True) if result is None}


async def test_a_killed_client_leaves_its_source_old_or_new(durable: Server) -> None:
    async with support.connected(durable.dsn()) as connection:
        await connection.execute("CREATE SCHEMA client")
        async with support.chunk_store(durable.dsn(), "client") as store:
            await store.replace_source(SOURCE, TENANT, edition(0))
            for number in range(ROUNDS):
                confirmed = await asyncio.to_thread(
                    killed_writer, f"{durable.dsn()}?application_name=writer", number
                )
                await wait_for_end(connection, "writer")
                await assert_whole(store, {str(SOURCE): [edition(confirmed), edition(confirmed + 1)]})
                await store.replace_source(SOURCE, TENANT, edition(0))


def killed_writer(dsn: str, number: int) -> int:
    """Let a process write until it is killed in one of its writes; return the last one that it saw done."""
    reports, sender = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=run, args=(dsn, "client", sender))
    writer.start()
    sender.close()
    confirmed = 0
    with reports:
        while reports.recv() != ("begin", 1 + number % 3):
            pass
        time.sleep(0.001 * (number % 17))  # nothing tells how far a write has come
        writer.kill()
        with suppress(EOFError):
            while True:
                what, confirmed_now = reports.recv()
                confirmed = confirmed_now if what == "done" else confirmed
    writer.join()
    writer.close()
    return max(confirmed, number % 3)


async def wait_for_end(connection: AsyncConnection[TupleRow], application: str) -> None:
    """Wait until no session of the application is left: a server notices late that its client is gone."""
    async with asyncio.timeout(support.PATIENCE_SECONDS):
        while True:
            query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
            row = await (await connection.execute(query, [application])).fetchone()
            if row == (0,):
                return
            await asyncio.sleep(0.002)


CHUNKS = [
    make_chunk(f"tie n{n}", chunk_index=n, embedding=[1.0, float(n)], entity_ids=ENTITIES[:1])
    for n in range(5)
]
Read = Callable[[PostgresChunkStore], Awaitable[object]]
READS: dict[str, Read] = {
    "get": lambda store: store.get(CHUNKS[0].id, TENANT),
    "get_by_source": lambda store: store.get_by_source(SourceId("doc-1"), TENANT),
    "get_by_entity": lambda store: store.get_by_entity(ENTITIES[0], TENANT),
    "lexical_candidates": lambda store: store.lexical_candidates(["tie", "n1"], TENANT, 3),
    "semantic_candidates": lambda store: store.semantic_candidates([1.0, 1.0], TENANT, 3),
}


async def errors_of(read: Read, store: PostgresChunkStore, expected: object) -> int:
    """Make one read; return 1 if it raised an error of the right type, 0 if it answered as it must."""
    try:
        assert strict(await read(store)) == expected
    except TYPED:
        return 1
    return 0


@pytest.mark.parametrize("name", READS)
async def test_a_session_that_is_ended_in_mid_read_costs_one_error_at_most(
    dsn: str, schema: str, name: str
) -> None:
    async with (
        support.chunk_store(dsn, schema, size=1) as store,
        support.connected(dsn, autocommit=False) as locker,
        support.connected(dsn) as killer,
    ):
        await store.upsert_many(CHUNKS)
        expected = strict(await READS[name](store))
        table = sql.Identifier(schema, "kg_chunks")
        await locker.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
        task = asyncio.create_task(errors_of(READS[name], store, expected))
        for pid in await support.wait_for_blocked(killer):
            await killer.execute("SELECT pg_terminate_backend(%s)", [pid])
        await locker.rollback()
        errors = await task + sum([await errors_of(READS[name], store, expected) for _ in range(4)])
        assert errors <= 1
        assert await errors_of(READS[name], store, expected) == 0


@pytest.mark.parametrize("own", [True, False], ids=["a pool of the store", "a pool of the caller"])
async def test_idle_sessions_that_were_ended_cost_one_error_at_most(dsn: str, schema: str, own: bool) -> None:
    async with several_sessions(f"{dsn}?application_name=victim", schema, own) as store:
        await store.ensure_schema()
        await store.upsert_many(CHUNKS)
        expected = {name: strict(await read(store)) for name, read in READS.items()}
        await asyncio.gather(*[read(store) for read in READS.values() for _ in range(3)])
        async with support.connected(dsn) as killer:
            victims = "FROM pg_stat_activity WHERE application_name = 'victim'"
            await killer.execute(f"SELECT pg_terminate_backend(pid, 5000) {victims}")
        errors = [await errors_of(read, store, expected[name]) for name, read in READS.items()]
        assert sum(errors) <= 1
        assert await store.replace_source(SourceId("doc-1"), TENANT, CHUNKS[:2]) == 3


@asynccontextmanager
async def several_sessions(dsn: str, schema: str, own: bool) -> AsyncIterator[PostgresChunkStore]:
    if own:
        async with PostgresChunkStore.connect(dsn, dimension=2, schema=schema) as store:
            yield store
    else:
        async with support.chunk_store(dsn, schema, size=4) as store:
            yield store


async def test_a_restarted_server_costs_one_error_at_most(durable: Server) -> None:
    async with support.connected(durable.dsn()) as connection:
        await connection.execute("CREATE SCHEMA restart")
    async with support.chunk_store(durable.dsn(), "restart", size=1) as store:
        await store.upsert_many(CHUNKS)
        expected = {name: strict(await read(store)) for name, read in READS.items()}
        await asyncio.to_thread(durable.kill)
        await asyncio.to_thread(durable.start)
        errors = [await errors_of(read, store, expected[name]) for name, read in READS.items()]
        assert sum(errors) <= 1
        await store.upsert_many(CHUNKS)


async def test_a_failed_write_leaves_nothing_and_does_not_poison_the_only_connection(
    dsn: str, schema: str
) -> None:
    async with support.chunk_store(dsn, schema, size=1) as store, support.connected(dsn) as connection:
        await support.add_gate(connection, schema)
        await store.upsert_many(CHUNKS)
        before = strict(await READS["lexical_candidates"](store))
        poisoned = [make_chunk("tie new", chunk_index=7), make_chunk("poison"), make_chunk("tie newer")]
        for _ in range(3):
            with pytest.raises(psycopg.errors.RaiseException, match="poisoned"):
                await store.upsert_many(poisoned)
            with pytest.raises(psycopg.errors.RaiseException, match="poisoned"):
                await store.replace_source(SourceId("doc-1"), TENANT, poisoned)
            assert await store.get_by_source(SourceId("doc-1"), TENANT) == CHUNKS
            assert strict(await READS["lexical_candidates"](store)) == before
        assert await store.replace_source(SourceId("doc-1"), TENANT, CHUNKS[:1]) == 4


async def test_a_failed_write_of_entity_vectors_leaves_nothing(dsn: str, schema: str) -> None:
    async with support.vector_store(dsn, schema, size=1) as store:
        kept = VectorRecord(TENANT, ENTITIES[0], [1.0, 0.0], {"old": True})
        await store.upsert(kept)
        async with support.connected(dsn, autocommit=False) as locker, support.connected(dsn) as killer:
            # Its last row cannot be written while another transaction holds the table.
            table = sql.Identifier(schema, "kg_entity_vectors")
            await locker.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(table))
            task = asyncio.create_task(
                store.upsert_many([VectorRecord(TENANT, key, [0.0, 1.0]) for key in ENTITIES])
            )
            for pid in await support.wait_for_blocked(killer):
                await killer.execute("SELECT pg_cancel_backend(%s)", [pid])
            with pytest.raises(TYPED):
                await task
            await locker.rollback()
        assert [match.entity_id for match in await store.search([1.0, 0.0], TENANT)] == [ENTITIES[0]]
        assert await store.get(ENTITIES[0], TENANT) == kept


WRITES: dict[str, Callable[[PostgresChunkStore, Sequence[StoredChunk]], Awaitable[Any]]] = {
    "upsert_many": lambda store, chunks: store.upsert_many(chunks),
    "replace_source": lambda store, chunks: store.replace_source(SourceId("doc-1"), TENANT, chunks),
}


@pytest.mark.parametrize("name", WRITES)
async def test_a_task_that_is_cancelled_in_mid_write_leaves_nothing(dsn: str, schema: str, name: str) -> None:
    new = [
        *[make_chunk(f"tie new{n}", chunk_index=n) for n in range(5)],
        make_chunk("gate"),
        make_chunk("tie last"),
    ]
    async with support.chunk_store(dsn, schema, size=1) as store, support.connected(dsn) as gatekeeper:
        await support.add_gate(gatekeeper, schema)
        await store.upsert_many(CHUNKS)
        before = strict(await READS["lexical_candidates"](store))
        await gatekeeper.execute("SELECT pg_advisory_lock(7)")
        for _ in range(3):
            task = asyncio.create_task(asyncio.wait_for(WRITES[name](store, new), None))
            await support.wait_for_blocked(gatekeeper)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # The only connection is there for the next call, while the gate is still shut.
            async with asyncio.timeout(support.PATIENCE_SECONDS):
                assert await store.get_by_source(SourceId("doc-1"), TENANT) == CHUNKS
                assert strict(await READS["lexical_candidates"](store)) == before
        await gatekeeper.execute("SELECT pg_advisory_unlock(7)")
        await WRITES[name](store, new)
        assert len(await store.get_by_source(SourceId("doc-1"), TENANT)) >= len(new)


async def test_a_read_that_is_cancelled_gives_its_connection_back(dsn: str, schema: str) -> None:
    async with (
        support.chunk_store(dsn, schema, size=1) as store,
        support.connected(dsn, autocommit=False) as locker,
        support.connected(dsn) as watcher,
    ):
        await store.upsert_many(CHUNKS)
        table = sql.Identifier(schema, "kg_chunks")
        for read in READS.values():
            await locker.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
            task = asyncio.ensure_future(read(store))
            await support.wait_for_blocked(watcher)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await locker.rollback()
            async with asyncio.timeout(support.PATIENCE_SECONDS):
                await read(store)
