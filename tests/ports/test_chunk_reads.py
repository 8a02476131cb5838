"""Reading chunks: every list has one order, and the cut is made after it."""

from typing import Any
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EntityId,
    InvalidVectorError,
    SourceId,
    bm25_score,
    rank_chunks,
)
from redstring_ref.domain.ids import ChunkId
from redstring_ref.ports import ChunkStore
from tests.support import TENANT, make_chunk

ENTITY = EntityId(UUID("000000e1-0000-4000-8000-000000000001"))
OTHER_ENTITY = EntityId(UUID("000000e2-0000-4000-8000-000000000002"))
DOC = SourceId("doc-1")

NAMES = ["alpha", "beta", "gamma", "delta"]
BY_ID = ["delta", "beta", "alpha", "gamma"]


def test_the_pinned_names_are_neither_inserted_nor_named_in_id_order() -> None:
    assert sorted(NAMES, key=lambda name: make_chunk(name).id) == BY_ID
    assert NAMES not in (BY_ID, BY_ID[::-1])
    assert sorted(NAMES) not in (BY_ID, BY_ID[::-1])


async def test_an_unknown_id_source_or_entity_is_nothing(store: ChunkStore) -> None:
    assert await store.get(make_chunk("text").id, TENANT) is None
    assert await store.get(ChunkId("no digest at all"), TENANT) is None
    assert await store.get_by_source(DOC, TENANT) == []
    assert await store.get_by_entity(ENTITY, TENANT) == []


async def test_a_source_is_read_by_chunk_index_as_a_number_then_id(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk(name, chunk_index=10) for name in NAMES])
    await store.upsert_many([make_chunk("last", chunk_index=100), make_chunk("first", chunk_index=9)])
    texts = [chunk.text for chunk in await store.get_by_source(DOC, TENANT)]
    assert texts == ["first", *BY_ID, "last"]


async def test_an_entity_is_read_by_source_code_points_then_index_then_id(store: ChunkStore) -> None:
    sources = ["é", "b", "B", "a10", "a2", "😀", "\uffff"]
    await store.upsert_many([make_chunk("one", source_id=source, entity_ids=[ENTITY]) for source in sources])
    await store.upsert_many([make_chunk("zero", source_id="b", chunk_index=0, entity_ids=[ENTITY, ENTITY])])
    await store.upsert_many([make_chunk("none", source_id="b", entity_ids=[OTHER_ENTITY])])
    await store.upsert_many([make_chunk("one", source_id="b", chunk_index=1, entity_ids=[ENTITY])])
    found = [(chunk.source_id, chunk.text) for chunk in await store.get_by_entity(ENTITY, TENANT)]
    assert found == [
        ("B", "one"),
        ("a10", "one"),
        ("a2", "one"),
        ("b", "zero"),
        ("b", "one"),
        ("é", "one"),
        ("\uffff", "one"),
        ("😀", "one"),
    ]


async def test_many_chunks_of_one_position_are_read_by_id(store: ChunkStore) -> None:
    chunks = [make_chunk(f"text {number}", entity_ids=[ENTITY]) for number in range(60)]
    await store.upsert_many(chunks)
    by_id = sorted(chunk.id for chunk in chunks)
    assert [chunk.id for chunk in await store.get_by_source(DOC, TENANT)] == by_id
    assert [chunk.id for chunk in await store.get_by_entity(ENTITY, TENANT)] == by_id


@pytest.mark.parametrize("bad", [None, 1, b"doc-1"])
async def test_an_id_of_another_type_is_refused(store: ChunkStore, bad: Any) -> None:
    with pytest.raises(TypeError, match="chunk_id"):
        await store.get(bad, TENANT)
    with pytest.raises(TypeError, match="source_id"):
        await store.get_by_source(bad, TENANT)
    with pytest.raises(TypeError, match="source_id"):
        await store.delete_by_source(bad, TENANT)
    with pytest.raises(TypeError, match="entity_id"):
        await store.get_by_entity(bad, TENANT)


async def test_equal_scores_are_cut_in_id_order(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk(name, embedding=[1.0, 1.0]) for name in NAMES])
    await store.upsert_many([make_chunk(NAMES[0], embedding=[1.0, 1.0])])
    for limit in range(6):
        found = await store.semantic_candidates([3.0, 3.0], TENANT, limit)
        assert [(each.chunk.text, each.score) for each in found] == [(name, 1.0) for name in BY_ID][:limit]


async def test_equal_bm25_scores_are_cut_in_id_order(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk(f"tie {name}") for name in NAMES])
    expected = sorted((make_chunk(f"tie {name}").id, name) for name in NAMES)
    for limit in range(6):
        found = await store.lexical_candidates(["tie"], TENANT, limit)
        assert [each.chunk.id for each in found.candidates] == [each for each, _ in expected][:limit]
        assert found.stats.doc_frequencies == {"tie": 4}


async def test_the_threshold_is_inclusive_and_comes_before_the_limit(store: ChunkStore) -> None:
    vectors = {"same": [1.0, 0.0], "right": [0.0, 1.0], "opposite": [-1.0, 0.0]}
    await store.upsert_many([make_chunk(name, embedding=vector) for name, vector in vectors.items()])

    async def texts(min_score: Any, limit: int = 9) -> list[str]:
        found = await store.semantic_candidates([1.0, 0.0], TENANT, limit, min_score=min_score)
        return [each.chunk.text for each in found]

    assert await texts(0.5) == ["same", "right"]
    assert await texts(0.5000000000000001) == ["same"]
    assert await texts(0.49999999999999994) == ["same", "right"]
    assert await texts(1) == ["same"]
    assert await texts(0) == ["same", "right", "opposite"]
    assert await texts(-float("inf")) == ["same", "right", "opposite"]
    assert await texts(float("inf")) == []
    assert await texts(1.1) == []
    assert await texts(numpy.float32(0.5), limit=1) == ["same"]
    assert await texts(0.5, limit=0) == []


async def test_chunks_without_an_embedding_are_skipped(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("bare"), make_chunk("embedded", embedding=[-1.0, 0.0])])
    found = await store.semantic_candidates([1.0, 0.0], TENANT, 9, min_score=0.0)
    assert [(each.chunk.text, each.score) for each in found] == [("embedded", 0.0)]


@pytest.mark.parametrize("limit", [10**30, numpy.int64(9), 3, 2])
async def test_a_limit_at_or_above_the_corpus_returns_it_all(store: ChunkStore, limit: Any) -> None:
    await store.upsert_many(
        [make_chunk("tie a", embedding=[1.0, 0.0]), make_chunk("tie b", embedding=[1.0, 1.0])]
    )
    assert len(await store.semantic_candidates([1.0, 0.0], TENANT, limit)) == 2
    assert len((await store.lexical_candidates(["tie"], TENANT, limit)).candidates) == 2


@pytest.mark.parametrize(
    ("limit", "error"),
    [
        (-1, ValueError),
        (True, TypeError),
        (False, TypeError),
        (1.0, TypeError),
        ("1", TypeError),
        (None, TypeError),
    ],
)
async def test_a_bad_limit_is_refused_by_both_channels(
    store: ChunkStore, limit: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="limit must be"):
        await store.semantic_candidates([1.0, 0.0], TENANT, limit)
    with pytest.raises(error, match="limit must be"):
        await store.lexical_candidates(["tie"], TENANT, limit)


@pytest.mark.parametrize(
    ("min_score", "error"),
    [
        (float("nan"), ValueError),
        (10**400, ValueError),
        (True, TypeError),
        ("0.5", TypeError),
        ([0.5], TypeError),
    ],
)
async def test_a_bad_threshold_is_refused(store: ChunkStore, min_score: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="min_score must"):
        await store.semantic_candidates([1.0, 0.0], TENANT, 1, min_score=min_score)


@pytest.mark.parametrize(
    ("vector", "error"),
    [
        ([1.0], DimensionMismatchError),
        ([1.0, 0.0, 0.0], DimensionMismatchError),
        ([0.0, 0.0], InvalidVectorError),
        ([], InvalidVectorError),
        ([float("nan"), 1.0], InvalidVectorError),
        ([1e39, 1.0], InvalidVectorError),
        ([True, 1.0], TypeError),
        ("ab", TypeError),
        ([[1.0, 0.0]], TypeError),
        (None, TypeError),
    ],
)
async def test_a_bad_query_vector_is_refused(store: ChunkStore, vector: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="vector"):
        await store.semantic_candidates(vector, TENANT, 1)


@pytest.mark.parametrize("vector", [(1, 0), numpy.array([2.0, 0.0]), numpy.array([1, 0], numpy.float32)])
async def test_any_sequence_of_numbers_is_a_query(store: ChunkStore, vector: Any) -> None:
    stored: Any = numpy.array([1, 0], numpy.int8)
    chunk = make_chunk("text")
    chunk.embedding = stored
    await store.upsert_many([chunk])
    (found,) = await store.semantic_candidates(vector, TENANT, 1)
    assert found.score == 1.0
    assert found.chunk.embedding == [1.0, 0.0]


async def test_lexical_candidates_are_the_best_by_bm25_and_not_by_matched_terms(store: ChunkStore) -> None:
    await store.upsert_many(
        [
            make_chunk("rare", source_id="short"),
            make_chunk("common usual " + "filler " * 40, source_id="long"),
            *[make_chunk(f"common usual thing{n}", source_id=f"s{n}", chunk_index=n) for n in range(8)],
        ]
    )
    found = await store.lexical_candidates(["common", "usual", "rare"], TENANT, 1)
    assert [each.chunk.source_id for each in found.candidates] == ["short"]


async def test_candidates_carry_lengths_frequencies_and_whole_corpus_statistics(store: ChunkStore) -> None:
    await store.upsert_many(
        [make_chunk("tie tie the order"), make_chunk("order", chunk_index=1), make_chunk("", chunk_index=2)]
    )
    found = await store.lexical_candidates(["tie", "absent", "tie", "order"], TENANT, 1)
    (best,) = found.candidates
    assert (best.chunk.text, best.doc_length) == ("tie tie the order", 3)
    assert best.term_frequencies == {"tie": 2, "order": 1}
    assert (found.stats.n_docs, found.stats.total_doc_length) == (3, 4)
    assert found.stats.doc_frequencies == {"tie": 1, "absent": 0, "order": 2}


async def test_a_repeated_term_counts_again(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("tie"), make_chunk("order order", chunk_index=1)])
    once = await store.lexical_candidates(["tie", "order"], TENANT, 2)
    twice = await store.lexical_candidates(["tie", "order", "tie"], TENANT, 2)
    assert [each.chunk.text for each in once.candidates] == ["order order", "tie"]
    assert [each.chunk.text for each in twice.candidates] == ["tie", "order order"]


async def test_a_limit_of_zero_still_reports_the_statistics(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("tie")])
    found = await store.lexical_candidates(["tie"], TENANT, 0)
    assert found.candidates == []
    assert (found.stats.n_docs, found.stats.total_doc_length, found.stats.doc_frequencies) == (
        1,
        1,
        {"tie": 1},
    )


async def test_no_terms_report_zeros(store: ChunkStore) -> None:
    await store.upsert_many([make_chunk("tie")])
    found = await store.lexical_candidates([], TENANT, 5)
    assert (found.candidates, found.stats.n_docs, found.stats.total_doc_length) == ([], 0, 0)
    assert found.stats.doc_frequencies == {}


@pytest.mark.parametrize("texts", [[], [""], ["!!!"], ["", "!!!"]])
async def test_a_corpus_without_terms_answers_with_nothing(store: ChunkStore, texts: list[str]) -> None:
    await store.upsert_many([make_chunk(text) for text in texts])
    found = await store.lexical_candidates(["tie"], TENANT, 5)
    assert found.candidates == []
    assert (found.stats.n_docs, found.stats.total_doc_length) == (len(texts), 0)
    assert await store.semantic_candidates([1.0, 0.0], TENANT, 5) == []


@pytest.mark.parametrize("texts", [["tie"], ["tie", "order"], ["tie", "tie order", "a tie"]])
async def test_a_term_in_one_half_or_all_of_the_chunks_scores_above_zero(
    store: ChunkStore, texts: list[str]
) -> None:
    await store.upsert_many([make_chunk(text) for text in texts])
    found = await store.lexical_candidates(["tie"], TENANT, 5)
    ranked = rank_chunks(["tie"], found, 5)
    assert len(ranked) == sum("tie" in text for text in texts)
    assert all(each.score > 0.0 for each in ranked)
    best = found.candidates[0]
    assert ranked[0].score == bm25_score(["tie"], best.term_frequencies, best.doc_length, found.stats)


@pytest.mark.parametrize(
    ("terms", "error"), [("tie", TypeError), (None, TypeError), ([1], TypeError), (["a\x00"], ValueError)]
)
async def test_bad_terms_are_refused(store: ChunkStore, terms: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="terms"):
        await store.lexical_candidates(terms, TENANT, 5)
