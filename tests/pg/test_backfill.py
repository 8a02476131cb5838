"""The backfill finds whatever is not indexed as `tokenize` says, counts it, puts it right step by step."""

import asyncio
import multiprocessing
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString

import pytest
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from redstring_pg import PostgresChunkStore
from redstring_ref.domain import SourceId, StoredChunk, TenantId
from redstring_ref.memory import InMemoryChunkStore
from tests.pg import support
from tests.pg.answers import assert_same_answers
from tests.pg.backfiller import run
from tests.pg.everything import TENANTS, chunk_reads, corpus
from tests.support import OTHER_TENANT, TENANT, make_chunk

PROCESSES = multiprocessing.get_context("forkserver")
LONG = SourceId("long")


@dataclass
class Bench:
    """A filled store, its reference, and a connection that breaks things by plain SQL."""

    store: PostgresChunkStore
    reference: InMemoryChunkStore
    connection: AsyncConnection[TupleRow]
    dsn: str
    schema: str

    async def sql(self, statement: LiteralString, **parameters: object) -> list[TupleRow]:
        """Run a statement; `{chunks}`, `{postings}` and `{blocks}` are the tables. Return its rows."""
        names = {
            name: sql.Identifier(self.schema, f"kg_chunks{suffix}")
            for name, suffix in (("chunks", ""), ("postings", "_postings"), ("blocks", "_blocks"))
        }
        text = statement.replace("FIRST", FIRST)
        cursor = await self.connection.execute(sql.SQL(text).format(**names), parameters)
        return [] if cursor.description is None else await cursor.fetchall()

    async def forget(self) -> int:
        """Make all rows what an older table without an index had; return how many there are."""
        await self.sql("TRUNCATE {postings}, {blocks}")
        rows = await self.sql(
            "UPDATE {chunks} SET doc_length = 0, lexical_block = NULL, lexical_slot = NULL RETURNING 1"
        )
        return len(rows)

    async def assert_right(self) -> None:
        """Check that the store answers like the reference, and that nothing is left to do."""
        assert await self.store.backfill_lexical_index() == 0
        await assert_same_answers(self.reference, self.store, chunk_reads())
        await self.assert_consistent()

    async def assert_consistent(self) -> None:
        """Check that no posting, block or place stands alone."""
        alone = await self.sql(
            "SELECT 'posting' FROM {postings} p WHERE NOT EXISTS (SELECT FROM {blocks} b"
            " WHERE (b.tenant_id, b.block) = (p.tenant_id, p.block))"
            " UNION ALL SELECT 'block' FROM {blocks} b WHERE chunks <> (SELECT count(*) FROM {chunks} c"
            " WHERE (c.tenant_id, c.lexical_block) = (b.tenant_id, b.block))"
            " UNION ALL SELECT 'place' FROM {chunks} GROUP BY lexical_block, lexical_slot HAVING count(*) > 1"
            " UNION ALL SELECT 'chunk' FROM {chunks} c WHERE NOT EXISTS (SELECT FROM {blocks} b"
            " WHERE (c.tenant_id, c.lexical_block) = (b.tenant_id, b.block))"
        )
        assert alone == []


@asynccontextmanager
async def bench(dsn: str, schema: str) -> AsyncIterator[Bench]:
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(dsn, schema) as store,
        support.connected(dsn) as connection,
    ):
        for tenant in TENANTS:
            await reference.upsert_many(corpus(tenant))
            await store.upsert_many(corpus(tenant))
        yield Bench(store, reference, connection, dsn, schema)


def chunks_of(*tenants: TenantId) -> list[StoredChunk]:
    return [chunk for tenant in tenants for chunk in corpus(tenant)]


@pytest.mark.parametrize("batch_size", [7, 255, 1000, 2**31 - 1])
async def test_every_chunk_that_is_not_indexed_is_counted_once(
    dsn: str, schema: str, batch_size: int
) -> None:
    async with bench(dsn, schema) as it:
        assert await it.store.backfill_lexical_index(batch_size=batch_size) == 0
        assert await it.forget() == len(chunks_of(*TENANTS))
        stats = (await it.store.lexical_candidates(["tie"], TENANT, 0)).stats
        assert (stats.n_docs, stats.doc_frequencies) == (0, {"tie": 0})
        assert await it.store.backfill_lexical_index(batch_size=batch_size) == len(chunks_of(*TENANTS))
        assert await it.store.backfill_lexical_index(batch_size=batch_size) == 0
        await it.assert_right()


@pytest.mark.parametrize("batch_size", [1, 2])
async def test_the_smallest_batches_reach_every_chunk(dsn: str, schema: str, batch_size: int) -> None:
    async with bench(dsn, schema) as it:
        everything = await it.forget()
        await it.sql("DELETE FROM {chunks} WHERE source_id = 'long'")
        left = everything - sum(chunk.source_id == LONG for chunk in chunks_of(*TENANTS))
        assert await it.store.backfill_lexical_index(batch_size=batch_size) == left
        assert await it.store.backfill_lexical_index(batch_size=batch_size) == 0


async def test_one_tenant_only_is_indexed(dsn: str, schema: str) -> None:
    async with bench(dsn, schema) as it:
        await it.forget()
        assert await it.store.backfill_lexical_index(tenant_id=OTHER_TENANT) == len(chunks_of(OTHER_TENANT))
        await assert_same_answers(it.reference, it.store, chunk_reads([OTHER_TENANT]))
        assert (await it.store.lexical_candidates(["tie"], TENANT, 9)).candidates == []
        rest = len(chunks_of(*TENANTS)) - len(chunks_of(OTHER_TENANT))
        assert await it.store.backfill_lexical_index() == rest
        await it.assert_right()


async def test_a_tenant_without_chunks_and_a_store_without_any_have_nothing_to_do(
    dsn: str, schema: str
) -> None:
    async with support.chunk_store(dsn, schema) as store:
        assert await store.backfill_lexical_index() == 0
        assert await store.backfill_lexical_index(tenant_id=TENANT) == 0
        await store.upsert_many([make_chunk("tie")])
        assert await store.backfill_lexical_index(tenant_id=OTHER_TENANT) == 0


@pytest.mark.parametrize(
    ("options", "error", "names"),
    [
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"batch_size": -1}, ValueError, "batch_size"),
        ({"batch_size": True}, TypeError, "batch_size"),
        ({"batch_size": 1.0}, TypeError, "batch_size"),
        ({"batch_size": "10"}, TypeError, "batch_size"),
        ({"batch_size": None}, TypeError, "batch_size"),
        ({"tenant_id": str(TENANT)}, TypeError, "tenant_id"),
        ({"tenant_id": 1}, TypeError, "tenant_id"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
async def test_bad_arguments_are_refused_before_anything_is_read(
    dsn: str, options: dict[str, Any], error: type[Exception], names: str
) -> None:
    # The pool is closed: a statement would be another error.
    store = PostgresChunkStore(support.new_pool(dsn), dimension=2)
    with pytest.raises(error, match=f"^{names} "):
        await store.backfill_lexical_index(**options)


# What plain SQL breaks, and how many chunks are then not indexed as they should be; FIRST is the block of
# the first 256 passages of `long`.
FIRST = "(SELECT min(lexical_block) FROM {chunks} WHERE tenant_id = %(tenant)s AND source_id = 'long')"
BREAKS: dict[str, tuple[list[LiteralString], int]] = {
    "a posting row deleted": (
        ["DELETE FROM {postings} WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"],
        1,
    ),
    "every posting row of a block deleted": (
        ["DELETE FROM {postings} WHERE tenant_id = %(tenant)s AND block = FIRST"],
        256,
    ),
    "a posting row twice": (
        [
            "INSERT INTO {postings} SELECT * FROM {postings}"
            " WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"
        ],
        1,
    ),
    "a posting twice in its row": (
        [
            "UPDATE {postings} SET postings = postings || postings"
            " WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"
        ],
        1,
    ),
    "a posting of a term that the text has not": (
        [
            "UPDATE {postings} SET term = 'other'"
            " WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"
        ],
        1,
    ),
    "a wrong frequency": (
        [
            "UPDATE {postings} SET postings[1] = postings[1] + (1::bigint << 27)"
            " WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"
        ],
        1,
    ),
    "a wrong length in a posting": (
        [
            "UPDATE {postings} SET postings[1] = postings[1] + 1"
            " WHERE tenant_id = %(tenant)s AND block = FIRST AND term = 'n3'"
        ],
        1,
    ),
    "postings at a slot where no chunk stands": (
        [
            "UPDATE {postings} SET postings = postings || ((255::bigint << 54) + (1::bigint << 27) + 1)"
            " WHERE tenant_id = %(tenant)s AND term = 'n299'"
        ],
        44,
    ),
    "a block row deleted": (
        ["DELETE FROM {blocks} WHERE tenant_id = %(tenant)s AND block = FIRST"],
        256,
    ),
    "a block of wrong statistics": (
        ["UPDATE {blocks} SET terms = terms + 1 WHERE tenant_id = %(tenant)s AND block = FIRST"],
        256,
    ),
    "a wrong doc_length": (
        ["UPDATE {chunks} SET doc_length = 77 WHERE tenant_id = %(tenant)s AND text LIKE '%% n3'"],
        3,
    ),
    "a place lost": (
        [
            "UPDATE {chunks} SET lexical_block = NULL, lexical_slot = NULL"
            " WHERE tenant_id = %(tenant)s AND source_id = 'long' AND text LIKE '%% n3'"
        ],
        256,
    ),
    "half a place lost": (
        [
            "UPDATE {chunks} SET lexical_slot = NULL"
            " WHERE tenant_id = %(tenant)s AND source_id = 'long' AND text LIKE '%% n3'"
        ],
        256,
    ),
    "two chunks at one place": (
        [
            "UPDATE {chunks} SET lexical_slot = 7"
            " WHERE tenant_id = %(tenant)s AND lexical_block = FIRST AND lexical_slot IN (7, 8)"
        ],
        256,
    ),
    "a whole block nowhere": (
        ["UPDATE {chunks} SET lexical_block = 2 ^ 40 WHERE lexical_block = FIRST"],
        256,
    ),
    "postings and a block that no chunk stands in": (
        [
            "INSERT INTO {blocks} VALUES (%(tenant)s, 2 ^ 41, 3, 4)",
            "INSERT INTO {postings} VALUES (%(tenant)s, 'tie', 2 ^ 41, '{{134217729}}')",
            "INSERT INTO {postings} VALUES (%(tenant)s, 'tie', 2 ^ 42, '{{134217729}}')",
        ],
        0,
    ),
}


@pytest.mark.parametrize(
    ("name", "batch_size"),
    [*((name, 1000) for name in BREAKS), ("a place lost", 3), ("two chunks at one place", 3)],
)
async def test_what_is_broken_by_hand_is_found_counted_and_put_right(
    dsn: str, schema: str, name: str, batch_size: int
) -> None:
    statements, wrong = BREAKS[name]
    async with bench(dsn, schema) as it:
        for statement in statements:
            await it.sql(statement, tenant=TENANT)
        assert await it.store.backfill_lexical_index(tenant_id=OTHER_TENANT) == 0
        assert await it.store.backfill_lexical_index(tenant_id=TENANT, batch_size=batch_size) == wrong
        await it.assert_right()


async def test_chunks_that_plain_sql_deletes_or_inserts_are_counted_and_put_right(
    dsn: str, schema: str
) -> None:
    async with bench(dsn, schema) as it:
        # One of 256 of a block, one of 44 of the next, and all of the source `Short`.
        gone = [chunk for chunk in corpus(TENANT) if chunk.source_id == LONG][3:300:294]
        ids = [chunk.id for chunk in gone]
        delete = "DELETE FROM {chunks} WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)"
        await it.sql(delete, tenant=TENANT, ids=ids)
        await it.sql(
            "DELETE FROM {chunks} WHERE tenant_id = %(tenant)s AND source_id = 'Short'", tenant=TENANT
        )
        new = [make_chunk(f"tie order n3 {n}", source_id="short", chunk_index=n) for n in range(4)]
        new.append(make_chunk("", source_id="other"))
        for chunk in new:
            await it.sql(
                "INSERT INTO {chunks} (tenant_id, id, source_id, text, chunk_index, start_char, end_char)"
                " VALUES (%(t)s, %(id)s, %(source)s, %(text)s, %(n)s, 0, %(end)s)",
                t=chunk.tenant_id,
                id=chunk.id,
                source=chunk.source_id,
                text=chunk.text,
                n=chunk.chunk_index,
                end=len(chunk.text),
            )
        assert len(gone) == 2
        # All that are left in the two blocks, for the blocks' statistics are wrong, and the new ones.
        assert await it.store.backfill_lexical_index() == 298 + len(new)
        kept = [c for c in corpus(TENANT) if c not in gone and c.source_id == LONG]
        await it.reference.replace_source(LONG, TENANT, kept)
        await it.reference.delete_by_source(SourceId("Short"), TENANT)
        await it.reference.upsert_many(new)
        await it.assert_right()


async def batches_done(it: Bench) -> int:
    rows = await it.sql("SELECT count(*) FROM {chunks} WHERE lexical_block IS NOT NULL")
    return int(rows[0][0])


async def test_a_backfill_that_is_cancelled_keeps_its_batches_and_is_resumed(dsn: str, schema: str) -> None:
    async with bench(dsn, schema) as it:
        everything = await it.forget()
        task = asyncio.create_task(it.store.backfill_lexical_index(batch_size=2))
        await until(lambda: batches_done(it), above=40)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        done = await batches_done(it)
        assert 40 < done < everything
        assert await it.store.backfill_lexical_index(batch_size=2) == everything - done
        await it.assert_right()


async def test_a_backfill_whose_process_is_killed_keeps_its_batches_and_is_resumed(
    dsn: str, schema: str
) -> None:
    async with bench(dsn, schema) as it:
        everything = await it.forget()
        reports, sender = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(
            target=run, args=(f"{dsn}?application_name=backfiller", schema, 2, sender)
        )
        process.start()
        sender.close()
        with reports:
            assert await asyncio.to_thread(reports.recv) == "begin"
            await until(lambda: batches_done(it), above=40)
            process.kill()
            with suppress(EOFError):
                pytest.fail(f"it ended before it was killed: {reports.recv()}")
        process.join()
        process.close()
        await until(lambda: sessions_ended(it), above=0)
        done = await batches_done(it)
        assert 40 < done < everything
        assert await it.store.backfill_lexical_index() == everything - done
        await it.assert_right()


async def sessions_ended(it: Bench) -> int:
    rows = await it.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'backfiller'")
    return 1 - int(rows[0][0])


async def until(measured: Callable[[], Any], above: int) -> None:
    # What another session does raises no event here, so it is asked for.
    async with asyncio.timeout(support.PATIENCE_SECONDS):
        while await measured() <= above:
            await asyncio.sleep(0.002)


async def test_two_backfills_at_once_count_each_chunk_once(dsn: str, schema: str) -> None:
    async with bench(dsn, schema) as it:
        everything = await it.forget()
        await it.sql(
            "INSERT INTO {blocks} SELECT %(t)s, n, 1, 1 FROM generate_series(9000, 9200) n", t=TENANT
        )
        async with support.chunk_store(dsn, schema) as other:
            counts = await asyncio.gather(
                it.store.backfill_lexical_index(batch_size=7),
                other.backfill_lexical_index(batch_size=40),
                it.store.backfill_lexical_index(tenant_id=TENANT, batch_size=3),
            )
        assert sum(counts) == everything
        await it.assert_right()


async def test_writers_go_on_during_a_backfill(dsn: str, schema: str) -> None:
    async with bench(dsn, schema) as it:
        await it.forget()
        stop = asyncio.Event()

        async def backfill() -> None:
            while not stop.is_set():
                await it.store.backfill_lexical_index(batch_size=9)

        async with support.chunk_store(dsn, schema, size=3) as writer:
            running = asyncio.create_task(backfill())
            for number in range(1, 9):
                await asyncio.gather(*[write(writer, tenant, number) for tenant in TENANTS])
            stop.set()
            await running
        assert await it.store.backfill_lexical_index() == 0
        for tenant in TENANTS:
            await write(it.reference, tenant, 8)
        await it.assert_right()


async def write(store: Any, tenant: TenantId, number: int) -> None:  # Any: either store
    """Write a tenant's next edition, source by source, each in another way."""
    by_source: dict[str, list[StoredChunk]] = {}
    for chunk in corpus(tenant, number):
        by_source.setdefault(chunk.source_id, []).append(chunk)
    await store.replace_source(LONG, tenant, by_source["long"])
    await store.delete_by_source(SourceId("short"), tenant)
    await store.upsert_many(by_source["short"])
    await store.replace_source(SourceId("Short"), tenant, by_source["Short"])


async def test_readers_see_each_batch_whole(dsn: str, schema: str) -> None:
    async with bench(dsn, schema) as it:
        await it.forget()
        task = asyncio.create_task(it.store.backfill_lexical_index(batch_size=10))
        async with support.chunk_store(dsn, schema) as reader:
            seen = set()
            while not task.done():
                found = await reader.lexical_candidates(["tie"], TENANT, 10_000)
                assert found.stats.doc_frequencies["tie"] == len(found.candidates) <= found.stats.n_docs
                seen.add(found.stats.n_docs)
        await task
        assert len(seen) > 1
        await it.assert_right()


async def test_memory_does_not_grow_with_the_number_of_rows(dsn: str, schema: str) -> None:
    peaks = [await peak_of_backfill(dsn, schema, rows) for rows in (2_000, 8_000)]
    assert max(peaks) < 4_000_000, f"bytes at the peak: {peaks}"
    assert peaks[1] < 1.25 * peaks[0], f"bytes at the peak: {peaks}"


async def peak_of_backfill(dsn: str, schema: str, rows: int) -> int:
    """Return how many bytes a backfill of so many rows, which plain SQL has made, takes at its peak."""
    table = sql.Identifier(schema, f"rows_{rows}")
    async with (
        support.connected(dsn) as connection,
        support.chunk_store(dsn, schema, table=f"rows_{rows}") as store,
    ):
        # Each passage has 20 terms of 1,000.
        insert = """INSERT INTO {} (tenant_id, id, source_id, text, chunk_index, start_char, end_char)
            SELECT %s, encode(sha256(n::text::bytea), 'hex'), 's' || n / 500,
                (SELECT string_agg('w' || (n * m) %% 1000, ' ') FROM generate_series(1, 20) m), n, 0, 9
            FROM generate_series(1, %s) n"""
        await connection.execute(sql.SQL(insert).format(table), [TENANT, rows])
        await store.backfill_lexical_index(tenant_id=OTHER_TENANT, batch_size=100)
        tracemalloc.start()
        try:
            assert await store.backfill_lexical_index(batch_size=100) == rows
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
