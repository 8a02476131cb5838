"""Retrieving passages: channels, fusion, cut, refusals."""

from typing import Any

import numpy
import pytest

from redstring_ref.composition import ChunkRetriever, explain_chunks
from redstring_ref.domain import (
    EmbeddingProviderError,
    LexicalCandidates,
    RetrievalMode,
    SemanticCandidate,
    reciprocal_rank_fusion,
    tokenize,
)
from redstring_ref.memory import InMemoryChunkStore
from tests.support import OTHER_TENANT, TENANT, FakeEmbeddings, make_chunk


class Recording(InMemoryChunkStore):
    """A store that notes the limits it is asked with."""

    def __init__(self, *, dimension: int) -> None:
        super().__init__(dimension=dimension)
        self.limits: list[tuple[str, int]] = []

    async def lexical_candidates(self, terms: Any, tenant_id: Any, limit: int) -> LexicalCandidates:
        self.limits.append(("lexical", limit))
        return await super().lexical_candidates(terms, tenant_id, limit)

    async def semantic_candidates(
        self, vector: Any, tenant_id: Any, limit: int, *, min_score: float | None = None
    ) -> list[SemanticCandidate]:
        self.limits.append(("semantic", limit))
        return await super().semantic_candidates(vector, tenant_id, limit, min_score=min_score)


@pytest.fixture
def store() -> Recording:
    return Recording(dimension=2)


def retriever(store: InMemoryChunkStore, **options: Any) -> ChunkRetriever:
    return ChunkRetriever(embeddings=FakeEmbeddings({"tie": [1.0, 0.0]}), chunks=store, **options)


async def found(given: ChunkRetriever, query: str = "tie", **options: Any) -> list[tuple[str, float]]:
    result = await given.retrieve_chunks(query, TENANT, **options)
    assert result.query == query
    return [(match.chunk.text, match.score) for match in result.matches]


# Lexical ranking: "tie tie" before "tie x"; semantic ranking: "b" before "tie x".
A = make_chunk("tie tie")
X = make_chunk("tie x", embedding=[1.0, 0.5])
B = make_chunk("b", embedding=[1.0, 0.0])


async def test_a_passage_second_in_both_channels_beats_both_firsts(store: Recording) -> None:
    await store.upsert_many([A, B, X])
    ((text, score),) = await found(retriever(store), k=1)
    assert text == "tie x"
    assert score == 2 / 62
    assert store.limits == [("semantic", 3), ("lexical", 3)]


async def test_overfetch_is_what_lets_it_win(store: Recording) -> None:
    await store.upsert_many([A, B, X])
    # With lists of one, the firsts of both channels tie, and the smaller id wins.
    ((text, score),) = await found(retriever(store, overfetch=1), k=1)
    assert text == min((A, B), key=lambda chunk: chunk.id).text
    assert score == 1 / 61


@pytest.mark.parametrize(("k", "overfetch"), [(1, 3), (2, 3), (3, 5), (1, 1)])
async def test_each_channel_is_asked_for_k_times_overfetch(store: Recording, k: int, overfetch: int) -> None:
    await retriever(store, overfetch=overfetch).retrieve_chunks("tie", TENANT, k=k)
    assert store.limits == [("semantic", k * overfetch), ("lexical", k * overfetch)]


async def test_each_match_carries_its_channels_scores_and_none_where_it_was_not_ranked(
    store: Recording,
) -> None:
    far = make_chunk("tie", source_id="far", embedding=None)
    await store.upsert_many([X, B, far])
    result = await retriever(store).retrieve_chunks("tie", TENANT)
    by_text = {match.chunk.text: match for match in result.matches}
    assert by_text["b"].lexical is None
    assert by_text["b"].semantic == 1.0
    assert by_text["tie"].semantic is None
    lexical = by_text["tie"].lexical
    assert lexical is not None
    assert lexical > 0.0
    assert by_text["tie x"].semantic is not None
    assert by_text["tie x"].lexical is not None
    fused = reciprocal_rank_fusion([[B.id, X.id], [far.id, X.id]])
    assert [(match.chunk.id, match.score) for match in result.matches] == fused


async def test_single_modes_rank_by_their_own_score(store: Recording) -> None:
    embeddings = FakeEmbeddings({"tie": [1.0, 0.0]})
    await store.upsert_many([A, B, X])
    both = ChunkRetriever(embeddings=embeddings, chunks=store)
    lexical = await both.retrieve_chunks("tie", TENANT, mode=RetrievalMode.LEXICAL)
    assert embeddings.queries == []
    assert [match.chunk.text for match in lexical.matches] == ["tie tie", "tie x"]
    assert all(match.score == match.lexical and match.semantic is None for match in lexical.matches)
    semantic = await both.retrieve_chunks("tie", TENANT, mode=RetrievalMode.SEMANTIC, k=2)
    assert [match.chunk.text for match in semantic.matches] == ["b", "tie x"]
    assert all(match.score == match.semantic and match.lexical is None for match in semantic.matches)
    assert store.limits == [("lexical", 30), ("semantic", 6)]


async def test_a_query_is_embedded_as_a_query(store: Recording) -> None:
    embeddings = FakeEmbeddings()
    await ChunkRetriever(embeddings=embeddings, chunks=store).retrieve_chunks("What's up?", TENANT)
    assert embeddings.queries == [["What's up?"]]
    assert embeddings.documents == []


async def test_a_corpus_without_embeddings_answers_by_words_alone(store: Recording) -> None:
    await store.upsert_many([make_chunk("tie"), make_chunk("other")])
    assert await found(retriever(store), mode=RetrievalMode.SEMANTIC) == []
    assert await found(retriever(store)) == [("tie", 1 / 61)]


async def test_an_empty_corpus_answers_nothing(store: Recording) -> None:
    for mode in RetrievalMode:
        assert await found(retriever(store), mode=mode) == []
    await store.upsert_many(
        [A],
    )
    result = await retriever(store).retrieve_chunks("tie", OTHER_TENANT)
    assert result.matches == []


async def test_k_of_zero_asks_nobody(store: Recording) -> None:
    embeddings = FakeEmbeddings()
    given = ChunkRetriever(embeddings=embeddings, chunks=store)
    for mode in RetrievalMode:
        assert await found(given, k=0, mode=mode) == []
    assert embeddings.queries == []
    assert store.limits == []


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u2003"])
async def test_a_blank_query_is_refused_whatever_k(store: Recording, query: str) -> None:
    for k in (0, 1):
        with pytest.raises(ValueError, match="query must not be blank"):
            await retriever(store).retrieve_chunks(query, TENANT, k=k)


@pytest.mark.parametrize("query", ["What's up?", "a & ( <->", "C++", "100% 's", "?!", "%_\\", "'; --"])
async def test_punctuation_in_a_query_is_no_error(store: Recording, query: str) -> None:
    await store.upsert_many([make_chunk("what a c of 100 s")])
    given = ChunkRetriever.lexical_only(chunks=store)
    matches = await found(given, query, mode=RetrievalMode.LEXICAL)
    assert bool(matches) == bool(tokenize(query))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"k": -1}, ValueError),
        ({"k": True}, TypeError),
        ({"k": 1.5}, TypeError),
        ({"mode": "fuzzy"}, ValueError),
    ],
)
async def test_bad_options_are_refused_before_anything_is_asked(
    store: Recording, options: dict[str, Any], error: type[Exception]
) -> None:
    embeddings = FakeEmbeddings()
    with pytest.raises(error, match=r"^k must be |RetrievalMode$"):
        await ChunkRetriever(embeddings=embeddings, chunks=store).retrieve_chunks("tie", TENANT, **options)
    assert embeddings.queries == []
    assert store.limits == []


async def test_a_mode_may_be_named_and_k_may_be_numpys(store: Recording) -> None:
    await store.upsert_many([B])
    assert await found(retriever(store), mode="semantic", k=numpy.int32(1)) == [("b", 1.0)]


async def test_bad_tenants_and_queries_are_refused(store: Recording) -> None:
    tenant: Any = "tenant"
    query: Any = 7
    embeddings = FakeEmbeddings()
    for k in (0, 1):
        with pytest.raises(TypeError, match="tenant_id"):
            await ChunkRetriever(embeddings=embeddings, chunks=store).retrieve_chunks("tie", tenant, k=k)
    assert embeddings.queries == []
    with pytest.raises(TypeError, match="query"):
        await retriever(store).retrieve_chunks(query, TENANT)
    with pytest.raises(ValueError, match="query holds"):
        await retriever(store).retrieve_chunks("a\x00", TENANT)


async def test_ten_passages_come_back_by_default(store: Recording) -> None:
    await store.upsert_many([make_chunk(f"tie {number}", embedding=[1.0, 1.0]) for number in range(12)])
    for mode in RetrievalMode:
        assert len((await retriever(store).retrieve_chunks("tie", TENANT, mode=mode)).matches) == 10
        trace = await retriever(store).trace_chunks("tie", TENANT, mode=mode)
        assert (trace.k, len(trace.matches)) == (10, 12)


@pytest.mark.parametrize(("overfetch", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError)])
def test_overfetch_is_an_integer_of_at_least_one(
    store: Recording, overfetch: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match="overfetch"):
        retriever(store, overfetch=overfetch)
    with pytest.raises(error, match="overfetch"):
        ChunkRetriever.lexical_only(chunks=store, overfetch=overfetch)


def test_half_a_pair_is_refused(store: Recording) -> None:
    missing: Any = None
    with pytest.raises(ValueError, match="embeddings and chunks go together, got None for embeddings"):
        ChunkRetriever(embeddings=missing, chunks=store)
    with pytest.raises(ValueError, match="embeddings and chunks go together, got None for chunks"):
        ChunkRetriever(embeddings=FakeEmbeddings(), chunks=missing)


@pytest.mark.parametrize("mode", [RetrievalMode.HYBRID, RetrievalMode.SEMANTIC])
@pytest.mark.parametrize("k", [0, 3])
async def test_a_lexical_only_retriever_refuses_the_other_modes(
    store: Recording, mode: RetrievalMode, k: int
) -> None:
    with pytest.raises(ValueError, match=f"lexical-only retriever cannot answer in {mode} mode"):
        await ChunkRetriever.lexical_only(chunks=store).retrieve_chunks("tie", TENANT, mode=mode, k=k)


async def test_a_failing_provider_reaches_the_caller(store: Recording) -> None:
    await store.upsert_many([A])
    given = ChunkRetriever(embeddings=FakeEmbeddings(fails_on="tie"), chunks=store)
    with pytest.raises(EmbeddingProviderError, match="cannot embed 'tie'"):
        await given.retrieve_chunks("tie", TENANT)


async def test_the_working_is_the_answer_before_the_cut(store: Recording) -> None:
    await store.upsert_many([A, B, X])
    trace = await retriever(store).trace_chunks("tie", TENANT, k=1)
    assert [match.chunk.text for match in trace.matches] == ["tie x", "tie tie", "b"]
    assert trace.terms == ["tie"]
    assert trace.query_vector == [1.0, 0.0]
    assert [each.chunk.text for each in trace.lexical] == ["tie tie", "tie x"]
    assert [each.chunk.text for each in trace.semantic] == ["b", "tie x"]


async def test_an_explanation_adds_up(store: Recording) -> None:
    await store.upsert_many([A, B, X])
    explanation = explain_chunks(await retriever(store).trace_chunks("tie", TENANT, k=1))
    (top,) = explanation.matches
    assert (top.rank, top.match.chunk.text) == (1, "tie x")
    assert top.lexical is not None
    assert top.semantic is not None
    assert (top.lexical.rank, top.semantic.rank) == (2, 2)
    assert top.lexical.reciprocal_rank == top.semantic.reciprocal_rank == 1 / 62
    assert (top.lexical.n_docs, top.lexical.doc_length, top.lexical.average_doc_length) == (3, 2, 5 / 3)
    (weight,) = top.lexical.terms
    assert (weight.term, weight.term_frequency, weight.doc_frequency) == ("tie", 1, 2)
    assert top.lexical.score == weight.weight == top.match.lexical
    assert (top.semantic.dot, top.semantic.query_squared_norm, top.semantic.chunk_squared_norm) == (
        1.0,
        1.0,
        1.25,
    )
    assert top.semantic.score == (1.0 + top.semantic.cosine) / 2.0 == top.match.semantic
    assert explanation.missed is not None
    assert explanation.missed.working.rank == 2
    assert explanation.missed.shortfall == top.match.score - explanation.missed.working.match.score > 0.0


async def test_an_explanation_says_which_channel_did_not_rank_a_match(store: Recording) -> None:
    bare = make_chunk("tie")
    await store.upsert_many([B, bare])
    explanation = explain_chunks(await retriever(store).trace_chunks("tie", TENANT, k=2))
    by_text = {working.match.chunk.text: working for working in explanation.matches}
    assert by_text["b"].lexical is None
    assert by_text["tie"].semantic is None
    assert explanation.missed is None


def test_the_passage_that_wins_has_the_greatest_id() -> None:
    assert A.id < B.id < X.id
