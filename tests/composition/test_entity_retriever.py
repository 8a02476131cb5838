"""Retrieving entities: names in the place of words."""

from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest

from redstring_ref.composition import Retriever
from redstring_ref.composition.entity_retriever import rank_names
from redstring_ref.domain import EmbeddingProviderError, Entity, EntityId, RetrievalMode, VectorRecord
from redstring_ref.memory import InMemoryGraphStore, InMemoryVectorStore
from tests.support import OTHER_TENANT, TENANT, FakeEmbeddings


def entity(number: int, name: str, *aliases: str) -> Entity:
    return Entity(TENANT, EntityId(UUID(int=number)), name, "person", list(aliases))


ADA = entity(3, "Ada Lovelace", "Countess of Lovelace")
ADAM = entity(1, "Adam Smith")
BOB = entity(2, "Bob")


@pytest.fixture
async def graph() -> InMemoryGraphStore:
    graph = InMemoryGraphStore()
    await graph.upsert_entities([ADA, ADAM, BOB])
    return graph


@pytest.fixture
async def vectors() -> InMemoryVectorStore:
    vectors = InMemoryVectorStore(dimension=2)
    await vectors.upsert_many(
        [
            VectorRecord(TENANT, BOB.id, [1.0, 0.0]),
            VectorRecord(TENANT, ADA.id, [1.0, 1.0]),
            VectorRecord(TENANT, EntityId(UUID(int=9)), [1.0, 0.1]),
        ]
    )
    return vectors


def names(result: Any) -> list[str]:
    return [match.entity.name for match in result.matches]


def retriever(vectors: InMemoryVectorStore, graph: InMemoryGraphStore, **options: Any) -> Retriever:
    embeddings = FakeEmbeddings({"who is Ada Lovelace?": [1.0, 0.0]})
    return Retriever(embeddings=embeddings, vectors=vectors, graph=graph, **options)


QUERY = "who is Ada Lovelace?"


async def test_an_entity_that_both_channels_rank_comes_first(
    vectors: InMemoryVectorStore, graph: InMemoryGraphStore
) -> None:
    result = await retriever(vectors, graph).retrieve(QUERY, TENANT)
    assert names(result) == ["Ada Lovelace", "Bob"]
    ada, bob = result.matches
    # The record of an entity that is gone kept its rank's place in nobody's way.
    assert (ada.score, ada.lexical) == (float(Fraction(1, 62) + Fraction(1, 61)), 1.0)
    assert (bob.score, bob.semantic, bob.lexical) == (1 / 61, 1.0, None)


async def test_single_modes_ask_one_channel(vectors: InMemoryVectorStore, graph: InMemoryGraphStore) -> None:
    given = retriever(vectors, graph)
    semantic = await given.retrieve(QUERY, TENANT, mode=RetrievalMode.SEMANTIC, k=1)
    assert names(semantic) == ["Bob"]
    assert semantic.matches[0].score == semantic.matches[0].semantic == 1.0
    lexical = await given.retrieve(QUERY, TENANT, mode=RetrievalMode.LEXICAL)
    assert names(lexical) == ["Ada Lovelace"]
    assert lexical.matches[0].score == lexical.matches[0].lexical == 1.0


async def test_names_that_share_no_blocking_key_are_not_compared(graph: InMemoryGraphStore) -> None:
    given = Retriever.lexical_only(graph=graph)
    assert names(await given.retrieve("Smitty", TENANT, mode=RetrievalMode.LEXICAL)) == ["Adam Smith"]
    assert names(await given.retrieve("Zmith", TENANT, mode=RetrievalMode.LEXICAL)) == []
    assert names(await given.retrieve("?!", TENANT, mode=RetrievalMode.LEXICAL)) == []
    assert names(await given.retrieve("Bob", OTHER_TENANT, mode=RetrievalMode.LEXICAL)) == []


def test_equal_similarities_come_by_id_and_zeros_never() -> None:
    twins = [entity(number, "Twin") for number in (30, 4, 200)]
    ranked = rank_names("twin", [*twins, entity(1, "???")], 9)
    assert [each.id.int for each, _ in ranked] == [4, 30, 200]
    assert [score for _, score in ranked] == [1.0, 1.0, 1.0]
    assert len(rank_names("twin", twins, 2)) == 2


def test_the_best_of_name_and_aliases_counts() -> None:
    ((_, score),) = rank_names("countess of lovelace", [ADA], 9)
    assert score == 1.0


async def test_k_of_zero_asks_nobody(vectors: InMemoryVectorStore, graph: InMemoryGraphStore) -> None:
    embeddings = FakeEmbeddings()
    given = Retriever(embeddings=embeddings, vectors=vectors, graph=graph)
    assert (await given.retrieve("Bob", TENANT, k=0)).matches == []
    assert embeddings.queries == []


@pytest.mark.parametrize(
    ("query", "options", "error"),
    [
        ("  ", {}, ValueError),
        ("Bob", {"k": -1}, ValueError),
        ("Bob", {"k": True}, TypeError),
        ("Bob", {"mode": "fuzzy"}, ValueError),
        (None, {}, TypeError),
    ],
)
async def test_bad_questions_are_refused_before_anything_is_embedded(
    vectors: InMemoryVectorStore,
    graph: InMemoryGraphStore,
    query: Any,
    options: dict[str, Any],
    error: type[Exception],
) -> None:
    embeddings = FakeEmbeddings()
    with pytest.raises(error):
        await Retriever(embeddings=embeddings, vectors=vectors, graph=graph).retrieve(
            query, TENANT, **options
        )
    assert embeddings.queries == []


async def test_a_tenant_that_is_not_a_uuid_is_refused(graph: InMemoryGraphStore) -> None:
    tenant: Any = "tenant"
    with pytest.raises(TypeError, match="tenant_id"):
        await Retriever.lexical_only(graph=graph).retrieve("Bob", tenant, mode=RetrievalMode.LEXICAL)


@pytest.mark.parametrize("mode", [RetrievalMode.HYBRID, RetrievalMode.SEMANTIC])
async def test_a_lexical_only_retriever_refuses_the_other_modes(
    graph: InMemoryGraphStore, mode: RetrievalMode
) -> None:
    with pytest.raises(ValueError, match="lexical-only"):
        await Retriever.lexical_only(graph=graph).retrieve("Bob", TENANT, mode=mode)


def test_half_a_pair_and_a_bad_overfetch_are_refused(
    vectors: InMemoryVectorStore, graph: InMemoryGraphStore
) -> None:
    missing: Any = None
    with pytest.raises(ValueError, match="got None for vectors"):
        Retriever(embeddings=FakeEmbeddings(), vectors=missing, graph=graph)
    with pytest.raises(ValueError, match="got None for embeddings"):
        Retriever(embeddings=missing, vectors=vectors, graph=graph)
    with pytest.raises(ValueError, match="got None for graph"):
        Retriever(embeddings=FakeEmbeddings(), vectors=vectors, graph=missing)
    with pytest.raises(ValueError, match="overfetch"):
        retriever(vectors, graph, overfetch=0)
    with pytest.raises(ValueError, match="overfetch"):
        Retriever.lexical_only(graph=graph, overfetch=0)


async def test_a_failing_provider_reaches_the_caller(
    vectors: InMemoryVectorStore, graph: InMemoryGraphStore
) -> None:
    given = Retriever(embeddings=FakeEmbeddings(fails_on="Bob"), vectors=vectors, graph=graph)
    with pytest.raises(EmbeddingProviderError):
        await given.retrieve("Bob", TENANT)
