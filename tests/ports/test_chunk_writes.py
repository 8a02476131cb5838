"""Writing chunks: whole, all or nothing, the last write wins."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EntityId,
    InvalidVectorError,
    SourceId,
    StoredChunk,
)
from redstring_ref.ports import ChunkStore
from tests.support import OTHER_TENANT, TENANT, make_chunk

ENTITY = EntityId(UUID("000000e1-0000-4000-8000-000000000001"))
DOC = SourceId("doc-1")


async def test_an_upsert_replaces_every_field(store: ChunkStore) -> None:
    await store.upsert_many(
        [make_chunk("text", chunk_index=7, entity_ids=[ENTITY], metadata={"old": 1}, embedding=[1.0, 0.0])]
    )
    later = make_chunk("text", chunk_index=2)
    await store.upsert_many([later])
    assert await store.get(later.id, TENANT) == later
    assert await store.get_by_entity(ENTITY, TENANT) == []
    assert await store.semantic_candidates([1.0, 0.0], TENANT, 5) == []


async def test_an_embedding_can_be_added_later(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("text")])
    assert await store.semantic_candidates([1.0, 0.0], TENANT, 5) == []
    await store.upsert_many([make_chunk("text", embedding=[2.0, 0.0])])
    (found,) = await store.semantic_candidates([1.0, 0.0], TENANT, 5)
    assert (found.chunk.embedding, found.score) == ([2.0, 0.0], 1.0)


async def test_the_later_of_two_in_one_batch_wins(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("text", metadata={"n": 1}), make_chunk("text", metadata={"n": 2})])
    (found,) = await store.get_by_source(DOC, TENANT)
    assert found.metadata == {"n": 2}
    stats = (await store.lexical_candidates(["text"], TENANT, 0)).stats
    assert (stats.n_docs, stats.total_doc_length, stats.doc_frequencies) == (1, 1, {"text": 1})


async def test_an_empty_batch_is_a_no_op(store: ChunkStore) -> None:
    await store.upsert_many([])
    assert await store.delete_by_tenant(TENANT) == 0


async def test_a_generator_is_consumed_once(store: ChunkStore) -> None:
    consumed = []

    def chunks() -> Iterator[StoredChunk]:
        for name in ("a", "b", "c"):
            consumed.append(name)
            yield make_chunk(name)

    await store.upsert_many(chunks())
    assert consumed == ["a", "b", "c"]
    assert len(await store.get_by_source(DOC, TENANT)) == 3


async def test_twenty_thousand_chunks_go_in_at_once(store: ChunkStore) -> None:
    await store.upsert_many(make_chunk(f"word{number}", chunk_index=number) for number in range(20_000))
    found = await store.lexical_candidates(["word19999"], TENANT, 3)
    assert found.stats.n_docs == 20_000
    assert [candidate.chunk.chunk_index for candidate in found.candidates] == [19_999]


async def test_a_generator_that_fails_midway_writes_nothing(store: ChunkStore) -> None:
    def chunks() -> Iterator[StoredChunk]:
        yield make_chunk("new")
        raise RuntimeError("the source went away")

    await store.upsert_many([make_chunk("old")])
    with pytest.raises(RuntimeError, match="went away"):
        await store.upsert_many(chunks())
    with pytest.raises(RuntimeError, match="went away"):
        await store.replace_source(DOC, TENANT, chunks())
    assert [chunk.text for chunk in await store.get_by_source(DOC, TENANT)] == ["old"]


def bad_metadata() -> StoredChunk:
    chunk = make_chunk("bad")
    chunk.metadata["x"] = float("nan")
    return chunk


def bad_vector() -> StoredChunk:
    chunk = make_chunk("bad", embedding=[1.0, 0.0])
    chunk.embedding = [0.0, 0.0]
    return chunk


def bad_text() -> StoredChunk:
    chunk = make_chunk("bad")
    chunk.text = "a\x00b"
    return chunk


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        make_chunk("bad", embedding=[1.0]),
        DimensionMismatchError,
        r"chunks\[1\].embedding: expected 2",
    ),
    (make_chunk("bad", embedding=[1.0] * 3), DimensionMismatchError, r"expected 2 dimensions, got 3"),
    (bad_vector(), InvalidVectorError, "norm"),
    (bad_metadata(), ValueError, r"metadata\['x'\] must be finite"),
    (bad_text(), ValueError, "text holds U"),
    ({"text": "bad"}, TypeError, r"chunks\[1\] must be a StoredChunk"),
    (None, TypeError, r"chunks\[1\] must be a StoredChunk"),
]


@pytest.mark.parametrize(("bad", "error", "message"), REFUSED)
async def test_a_bad_element_refuses_the_whole_batch(
    store: ChunkStore, bad: Any, error: type[Exception], message: str
) -> None:
    await store.upsert_many([make_chunk("old", embedding=[1.0, 0.0])])
    batch = [make_chunk("good"), bad, make_chunk("old", metadata={"changed": True})]
    with pytest.raises(error, match=message):
        await store.upsert_many(batch)
    with pytest.raises(error, match=message):
        await store.replace_source(DOC, TENANT, batch)
    assert await store.get_by_source(DOC, TENANT) == [make_chunk("old", embedding=[1.0, 0.0])]


async def test_the_first_bad_element_raises(store: ChunkStore) -> None:
    with pytest.raises(DimensionMismatchError):
        await store.upsert_many([make_chunk("narrow", embedding=[1.0]), bad_metadata()])
    with pytest.raises(ValueError, match="metadata"):
        await store.upsert_many([bad_metadata(), make_chunk("narrow", embedding=[1.0])])


async def test_a_dimension_mismatch_carries_both_widths(store: ChunkStore) -> None:
    with pytest.raises(DimensionMismatchError) as raised:
        await store.upsert_many([make_chunk("wide", embedding=[1.0, 2.0, 3.0])])
    assert (raised.value.expected, raised.value.actual) == (2, 3)


async def test_replacing_a_source_counts_and_removes_every_orphan(store: ChunkStore) -> None:
    await store.upsert_many(
        [make_chunk(name, chunk_index=n, embedding=[1.0, 0.0]) for n, name in enumerate("abc")]
    )
    kept = make_chunk("b", metadata={"now": "only"})
    assert await store.replace_source(DOC, TENANT, [kept]) == 2
    assert await store.get_by_source(DOC, TENANT) == [kept]
    assert await store.semantic_candidates([1.0, 0.0], TENANT, 9) == []
    stats = (await store.lexical_candidates(["a", "b", "c"], TENANT, 9)).stats
    assert (stats.n_docs, stats.total_doc_length, stats.doc_frequencies) == (1, 1, {"a": 0, "b": 1, "c": 0})


async def test_replacing_twice_with_the_same_chunks_removes_nothing(store: ChunkStore) -> None:
    chunks = [make_chunk("a"), make_chunk("b", chunk_index=1)]
    assert await store.replace_source(DOC, TENANT, chunks) == 0
    assert await store.replace_source(DOC, TENANT, iter(chunks)) == 0
    assert await store.get_by_source(DOC, TENANT) == chunks


async def test_replacing_with_nothing_empties_exactly_that_source(store: ChunkStore) -> None:
    sources = ["doc-1", "doc-10", "Doc-1", "doc_1", "doc%"]
    await store.upsert_many([make_chunk("text", source_id=source) for source in sources])
    assert await store.replace_source(DOC, TENANT, []) == 1
    left = [source for source in sources if await store.get_by_source(SourceId(source), TENANT)]
    assert left == ["doc-10", "Doc-1", "doc_1", "doc%"]
    assert await store.replace_source(SourceId("doc%"), TENANT, []) == 1
    assert await store.delete_by_source(SourceId("doc_1"), TENANT) == 1
    assert await store.delete_by_tenant(TENANT) == 2


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (make_chunk("new", source_id="doc-2"), r"chunks\[1\] is of source 'doc-2', not of 'doc-1'"),
        (make_chunk("new", tenant_id=OTHER_TENANT), r"chunks\[1\] is of tenant"),
    ],
)
async def test_a_chunk_of_another_source_or_tenant_is_refused(
    store: ChunkStore, chunk: StoredChunk, message: str
) -> None:
    await store.upsert_many([make_chunk("old")])
    with pytest.raises(ValueError, match=message):
        await store.replace_source(DOC, TENANT, [make_chunk("new"), chunk])
    assert [found.text for found in await store.get_by_source(DOC, TENANT)] == ["old"]
    assert await store.delete_by_tenant(OTHER_TENANT) == 0


async def test_a_repeated_chunk_is_one_chunk_of_its_source(store: ChunkStore) -> None:
    chunks = [make_chunk("a", chunk_index=0), make_chunk("a", chunk_index=1)]
    assert await store.replace_source(DOC, TENANT, chunks) == 0
    assert [found.chunk_index for found in await store.get_by_source(DOC, TENANT)] == [1]


@pytest.mark.parametrize("source", ["", "a\x00b", "\ud800", "x" * 2049])
async def test_an_id_that_cannot_name_a_source_is_refused_everywhere(store: ChunkStore, source: str) -> None:
    with pytest.raises(ValueError, match="source_id"):
        await store.replace_source(SourceId(source), TENANT, [])
    with pytest.raises(ValueError, match="source_id"):
        await store.get_by_source(SourceId(source), TENANT)
    with pytest.raises(ValueError, match="source_id"):
        await store.delete_by_source(SourceId(source), TENANT)


async def test_an_entity_that_a_chunk_names_twice_is_forgotten_with_it(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("text", entity_ids=[ENTITY, ENTITY])])
    (found,) = await store.get_by_entity(ENTITY, TENANT)
    assert found.entity_ids == [ENTITY, ENTITY]
    await store.upsert_many([make_chunk("text")])
    assert await store.get_by_entity(ENTITY, TENANT) == []


async def test_deletes_count_and_leave_no_statistic_behind(store: ChunkStore) -> None:
    await store.upsert_many(
        [
            make_chunk("tie order", embedding=[1.0, 0.0], entity_ids=[ENTITY]),
            make_chunk("tie", source_id="doc-2", embedding=[0.0, 1.0]),
        ]
    )
    assert await store.delete_by_source(DOC, TENANT) == 1
    assert await store.delete_by_source(DOC, TENANT) == 0
    found = await store.lexical_candidates(["tie", "order"], TENANT, 9)
    assert [candidate.chunk.text for candidate in found.candidates] == ["tie"]
    assert (found.stats.n_docs, found.stats.total_doc_length) == (1, 1)
    assert found.stats.doc_frequencies == {"tie": 1, "order": 0}
    assert [each.chunk.text for each in await store.semantic_candidates([1.0, 0.0], TENANT, 9)] == ["tie"]
    assert await store.get_by_entity(ENTITY, TENANT) == []
    assert await store.delete_by_tenant(TENANT) == 1
    assert await store.delete_by_tenant(TENANT) == 0
