"""What a read costs: one round trip, once a store has looked at its table."""

from uuid import UUID

import pytest
from psycopg import AsyncConnection

from redstring_ref.domain import EntityId, VectorRecord
from tests.pg import support
from tests.pg.answers import Call, call
from tests.pg.hurts import ENTITIES, base
from tests.pg.proxy import counted_round_trips
from tests.support import TENANT, make_chunk

DIMENSION = 64
CHUNKS = [
    make_chunk(
        f"tie {'order ' * (n % 9)} n{n} {'rank ' * n}",
        chunk_index=n,
        embedding=base(DIMENSION, n),
        entity_ids=ENTITIES[: n % 2],
    )
    for n in range(200)
]
READS = [
    call("get", CHUNKS[7].id, TENANT),
    call("get", "absent", TENANT),
    call("get_by_source", "doc-1", TENANT),
    call("get_by_entity", ENTITIES[0], TENANT),
    call("lexical_candidates", ["rank", "order"], TENANT, 10),
    call("lexical_candidates", ["rank", "order"], TENANT, 0),
    call("lexical_candidates", ["absent"], TENANT, 10),
    call("semantic_candidates", base(DIMENSION, 999), TENANT, 10),
    call("semantic_candidates", base(DIMENSION, 999), TENANT, 1_000, min_score=0.5),
]
ENTITY_READS = [
    call("get", ENTITIES[0], TENANT),
    call("search", base(DIMENSION, 999), TENANT, k=10),
    call("search", base(DIMENSION, 999), TENANT, k=10, entity_types=["person"], min_score=0.5),
]
WITHOUT_READING = [
    call("lexical_candidates", [], TENANT, 10),
    call("semantic_candidates", base(DIMENSION, 999), TENANT, 0),
]


async def test_the_proxy_counts_what_waits_for_an_answer(dsn: str) -> None:
    async with counted_round_trips(dsn) as trips:
        connection = await AsyncConnection.connect(trips.dsn, autocommit=True)
        async with connection:
            trips.count = 0
            await connection.execute("SELECT 1")
            await connection.execute("SELECT repeat('x', 300000)")
            assert trips.count == 2
            async with connection.pipeline():
                for _ in range(3):
                    await connection.execute("SELECT 1")
            assert trips.count == 3


@pytest.mark.parametrize("read", READS, ids=lambda read: str(read)[:40])
async def test_a_read_of_chunks_is_one_round_trip(dsn: str, schema: str, read: Call) -> None:
    async with (
        support.chunk_store(dsn, schema, dimension=DIMENSION) as writer,
        counted_round_trips(dsn) as trips,
        support.chunk_store(trips.dsn, schema, dimension=DIMENSION, size=1) as store,
    ):
        await writer.upsert_many(CHUNKS)
        await store.get_by_source(CHUNKS[0].source_id, TENANT)
        for _ in range(7):
            trips.count = 0
            assert "returns" in str(await read.on(store))
            assert trips.count == 1


@pytest.mark.parametrize("read", ENTITY_READS, ids=lambda read: str(read)[:40])
async def test_a_read_of_entity_vectors_is_one_round_trip(dsn: str, schema: str, read: Call) -> None:
    async with (
        counted_round_trips(dsn) as trips,
        support.vector_store(trips.dsn, schema, dimension=DIMENSION, size=1) as store,
    ):
        await store.upsert_many(
            VectorRecord(TENANT, EntityId(UUID(int=n)), base(DIMENSION, n), {"entity_type": "person"})
            for n in range(200)
        )
        for _ in range(7):
            trips.count = 0
            assert "returns" in str(await read.on(store))
            assert trips.count == 1


async def test_a_crowded_cut_takes_a_second_round_trip(dsn: str, schema: str) -> None:
    chunks = [make_chunk(f"tie n{n}", source_id=f"doc-{n}", embedding=[1.0, 1.0]) for n in range(100)]
    async with (
        counted_round_trips(dsn) as trips,
        support.chunk_store(trips.dsn, schema, size=1) as store,
    ):
        await store.upsert_many(chunks)
        for read in (
            call("semantic_candidates", [1.0, 0.0], TENANT, 10),
            call("lexical_candidates", ["tie"], TENANT, 10),
        ):
            trips.count = 0
            await read.on(store)
            assert trips.count == 2


async def test_what_needs_no_reading_makes_no_round_trip(dsn: str, schema: str) -> None:
    async with (
        counted_round_trips(dsn) as trips,
        support.chunk_store(trips.dsn, schema, dimension=DIMENSION, size=1) as store,
    ):
        trips.count = 0
        for read in WITHOUT_READING:
            assert "returns" in str(await read.on(store))
        await store.upsert_many([])
        assert trips.count == 0
