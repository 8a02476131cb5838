"""Vectors of every width that pgvector has, beside the longest fields that a chunk may have."""

from uuid import UUID

import pytest

from redstring_pg import PostgresChunkStore
from redstring_pg.schema import MAX_PLAIN_DIMENSION
from redstring_ref import InMemoryChunkStore, StoredChunk
from redstring_ref.domain import EntityId, SourceId
from tests.support import TENANT


def heaviest(dimension: int, index: int) -> StoredChunk:
    """Return a chunk whose every field takes much room, and compresses badly."""
    digits = "".join(str((number * 7919 + index) % 9973) for number in range(20_000))
    return StoredChunk(
        TENANT,
        SourceId(digits[:2048]),
        digits,
        index,
        0,
        len(digits),
        [EntityId(UUID(int=number * 2**90 + index)) for number in range(1, 300)],
        {"notes": digits},
        [float((number * 31 + index) % 97 - 48) for number in range(dimension)],
    )


@pytest.mark.parametrize("dimension", [1, MAX_PLAIN_DIMENSION, MAX_PLAIN_DIMENSION + 1, 16_000])
async def test_a_row_of_the_longest_fields_is_kept_at_every_width(
    dsn: str, schema: str, dimension: int
) -> None:
    chunks = [heaviest(dimension, index) for index in (3, 1, 2)]
    memory = InMemoryChunkStore(dimension=dimension)
    await memory.upsert_many(chunks)
    async with PostgresChunkStore.connect(dsn, dimension=dimension, schema=schema) as store:
        await store.ensure_schema()
        await store.upsert_many(chunks)
        query = chunks[0].embedding
        assert query is not None
        found = await store.semantic_candidates(query, TENANT, 2)
        assert found == await memory.semantic_candidates(query, TENANT, 2)
        assert await store.get(chunks[1].id, TENANT) == chunks[1]


@pytest.mark.parametrize(
    ("dimension", "error", "message"),
    [
        (0, ValueError, "dimension must be at least 1, got 0"),
        (16_001, ValueError, "dimension must be at most 16000, got 16001"),
        (2**70, ValueError, "dimension must be at most 16000, got 1180591620717411303424"),
        (True, TypeError, r"dimension must be an integer, got True \(bool\)"),
    ],
)
def test_a_dimension_that_pgvector_has_not_is_refused(
    dimension: int, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        PostgresChunkStore.connect("postgresql://127.0.0.1:1/none", dimension=dimension)
