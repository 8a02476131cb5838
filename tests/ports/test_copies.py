"""No caller reaches what a store keeps: one test for each chunk-returning method, found by a gate."""

from collections.abc import Callable
from uuid import UUID

from redstring_ref.domain import EntityId, SourceId, StoredChunk
from redstring_ref.ports import ChunkStore
from tests.support import TENANT, make_chunk

ENTITY = EntityId(UUID("000000e1-0000-4000-8000-000000000001"))
OTHER_ENTITY = EntityId(UUID("000000e2-0000-4000-8000-000000000002"))


def original() -> StoredChunk:
    return make_chunk(
        "Ties are broken by id.",
        entity_ids=[ENTITY],
        metadata={"tags": ["a", {"deep": [1]}]},
        embedding=[1.0, 0.5],
    )


def spoil(chunk: StoredChunk) -> None:
    chunk.text = "spoiled"
    chunk.entity_ids.append(OTHER_ENTITY)
    nested = chunk.metadata["tags"]
    assert isinstance(nested, list)
    assert isinstance(nested[1], dict)
    nested[1]["deep"] = "spoiled"
    nested.append("spoiled")
    chunk.metadata["new"] = "spoiled"
    assert chunk.embedding is not None
    chunk.embedding[0] = -9.0


async def assert_unchanged(store: ChunkStore) -> None:
    assert await store.get(original().id, TENANT) == original()
    assert await store.get_by_entity(OTHER_ENTITY, TENANT) == []
    (found,) = await store.semantic_candidates([1.0, 0.5], TENANT, 5)
    assert found.score == 1.0
    assert (await store.lexical_candidates(["spoiled"], TENANT, 5)).candidates == []


async def test_get_returns_copies(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    found = await store.get(original().id, TENANT)
    assert found is not None
    spoil(found)
    await assert_unchanged(store)


async def test_get_by_source_returns_copies(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    (found,) = await store.get_by_source(SourceId("doc-1"), TENANT)
    spoil(found)
    await assert_unchanged(store)


async def test_get_by_entity_returns_copies(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    (found,) = await store.get_by_entity(ENTITY, TENANT)
    spoil(found)
    await assert_unchanged(store)


async def test_lexical_candidates_returns_copies(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    found = await store.lexical_candidates(["ties"], TENANT, 5)
    assert isinstance(found.candidates[0].term_frequencies, dict)
    assert isinstance(found.stats.doc_frequencies, dict)
    found.candidates[0].term_frequencies["ties"] = 99
    found.stats.doc_frequencies["ties"] = 99
    spoil(found.candidates[0].chunk)
    found.candidates.clear()
    await assert_unchanged(store)
    again = await store.lexical_candidates(["ties"], TENANT, 5)
    assert again.candidates[0].term_frequencies == {"ties": 1}
    assert again.stats.doc_frequencies == {"ties": 1}


async def test_semantic_candidates_returns_copies(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    (found,) = await store.semantic_candidates([1.0, 0.5], TENANT, 5)
    spoil(found.chunk)
    await assert_unchanged(store)


async def test_an_upserted_chunk_may_be_changed_afterwards(store: ChunkStore) -> None:
    given = original()
    await store.upsert_many([given])
    spoil(given)
    await assert_unchanged(store)


async def test_a_chunk_that_replaced_a_source_may_be_changed_afterwards(store: ChunkStore) -> None:
    given = [original()]
    await store.replace_source(SourceId("doc-1"), TENANT, given)
    spoil(given[0])
    given.clear()
    await assert_unchanged(store)


async def test_a_query_vector_and_terms_may_be_changed_afterwards(store: ChunkStore) -> None:
    await store.upsert_many([original()])
    vector, terms = [1.0, 0.5], ["ties"]
    await store.semantic_candidates(vector, TENANT, 5)
    found = await store.lexical_candidates(terms, TENANT, 5)
    vector[0] = -1.0
    terms[0] = "spoiled"
    assert found.stats.doc_frequencies == {"ties": 1}
    await assert_unchanged(store)


def test_spoiling_changes_every_mutable_field() -> None:
    given = original()
    spoil(given)
    changed: list[Callable[[StoredChunk], object]] = [
        lambda chunk: chunk.text,
        lambda chunk: chunk.entity_ids,
        lambda chunk: chunk.metadata,
        lambda chunk: chunk.embedding,
    ]
    assert all(field(given) != field(original()) for field in changed)
