"""Building a graph: extract, derive ids, embed, write."""

from collections.abc import Sequence
from typing import Any

import pytest

from redstring_ref.composition import GraphBuildReport, build_graph, index_documents
from redstring_ref.domain import (
    DimensionMismatchError,
    EmbeddingProviderError,
    Entity,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    LlmProviderError,
    SourceDocument,
    SourceId,
    entity_id,
    relationship_id,
)
from redstring_ref.memory import InMemoryChunkStore, InMemoryGraphStore, InMemoryVectorStore
from tests.support import TENANT, FakeEmbeddings, ParagraphChunker, ScriptedLlm

DOC = SourceId("doc-1")
FIRST, SECOND = "Ada Lovelace met Bob.\n", "ADA LOVELACE wrote of Engines.\n"
DOCUMENT = SourceDocument(DOC, FIRST + " \n" + SECOND)
LLM = {
    FIRST: Extraction(
        [ExtractedEntity("Ada Lovelace", "person"), ExtractedEntity("Bob", "person", "a friend")],
        [
            ExtractedRelationship("ada  lovelace", "Bob", "met"),
            ExtractedRelationship("Ada Lovelace", "Engines", "wrote of"),
        ],
    ),
    SECOND: Extraction(
        [ExtractedEntity("ADA LOVELACE", "person", "a writer"), ExtractedEntity("Engines", "topic")],
        [
            ExtractedRelationship("ADA LOVELACE", "Engines", "wrote of"),
            ExtractedRelationship("Ada Lovelace", "Engines", "wrote of"),
        ],
    ),
}
ADA = entity_id(TENANT, "person", "ada lovelace")
BOB = entity_id(TENANT, "person", "bob")
ENGINES = entity_id(TENANT, "topic", "engines")


async def build(store: InMemoryGraphStore, **options: Any) -> GraphBuildReport:
    return await build_graph(
        DOCUMENT,
        provider=options.pop("provider", ScriptedLlm(LLM)),
        store=store,
        tenant_id=TENANT,
        chunker=ParagraphChunker(),
        **options,
    )


async def test_entities_are_merged_by_folded_name_and_type() -> None:
    store = InMemoryGraphStore()
    report = await build(store)
    assert report == GraphBuildReport(
        entities=3, relationships=2, relationships_dropped=1, vectors_written=0, chunks_written=0
    )
    assert await store.get_entity(ADA, TENANT) == Entity(
        TENANT, ADA, "Ada Lovelace", "person", ["ADA LOVELACE"], "a writer"
    )
    assert await store.get_entity(BOB, TENANT) == Entity(TENANT, BOB, "Bob", "person", [], "a friend")


async def test_relationships_have_derived_ids_and_known_ends() -> None:
    store = InMemoryGraphStore()
    await build(store)
    edges = {edge.id: edge for edge in await store.get_relationships_by_entity(ADA, TENANT)}
    assert set(edges) == {
        relationship_id(TENANT, ADA, BOB, "met"),
        relationship_id(TENANT, ADA, ENGINES, "wrote of"),
    }
    assert {entity.name for entity in await store.neighbors(ADA, TENANT)} == {"Bob", "Engines"}


async def test_building_twice_changes_nothing() -> None:
    store = InMemoryGraphStore()
    assert await build(store) == await build(store)
    assert len(await store.find_entities(TENANT)) == 3
    assert len(await store.get_relationships_by_entity(ADA, TENANT)) == 2


async def test_an_entity_that_the_store_has_keeps_what_is_known_of_it() -> None:
    store = InMemoryGraphStore()
    known = Entity(TENANT, ADA, "Augusta", "person", ["A. L."], "known", {"born": 1815})
    await store.upsert_entity(known)
    await build(store)
    assert await store.get_entity(ADA, TENANT) == Entity(
        TENANT,
        ADA,
        "Augusta",
        "person",
        ["A. L.", "Ada Lovelace", "ADA LOVELACE"],
        "known",
        {"born": 1815},
    )


async def test_entities_are_embedded_into_the_vector_store() -> None:
    vectors = InMemoryVectorStore(dimension=2)
    embeddings = FakeEmbeddings()
    report = await build(InMemoryGraphStore(), embedding_provider=embeddings, vector_store=vectors)
    assert report.vectors_written == 3
    assert embeddings.documents == [["Ada Lovelace\na writer", "Bob\na friend", "Engines"]]
    found = await vectors.search([1.0, 1.0], TENANT, entity_types=["topic"])
    assert [match.entity_id for match in found] == [ENGINES]


async def test_passages_are_written_with_their_entities_and_embeddings() -> None:
    chunks = InMemoryChunkStore(dimension=2)
    report = await build(InMemoryGraphStore(), embedding_provider=FakeEmbeddings(), chunk_store=chunks)
    assert report.chunks_written == 2
    found = await chunks.get_by_source(DOC, TENANT)
    assert [chunk.entity_ids for chunk in found] == [[ADA, BOB], [ADA, ENGINES]]
    assert [chunk.embedding for chunk in found] == [[1.0, 1.0], [1.0, 1.0]]
    assert [chunk.text for chunk in await chunks.get_by_entity(ENGINES, TENANT)] == [SECOND]


async def test_without_a_vector_store_no_entity_is_embedded() -> None:
    embeddings = FakeEmbeddings()
    chunks = InMemoryChunkStore(dimension=2)
    report = await build(InMemoryGraphStore(), embedding_provider=embeddings, chunk_store=chunks)
    assert report.vectors_written == 0
    assert embeddings.documents == [[FIRST, SECOND]]


class Wordy:
    """A chunk store that says nothing of a dimension: it holds no embeddings."""

    def __init__(self) -> None:
        chunks = InMemoryChunkStore(dimension=2)
        self.get, self.get_by_source, self.get_by_entity = (
            chunks.get,
            chunks.get_by_source,
            chunks.get_by_entity,
        )
        self.upsert_many, self.replace_source = chunks.upsert_many, chunks.replace_source
        self.close = chunks.close


async def test_passages_of_a_store_without_a_dimension_are_not_embedded() -> None:
    embeddings, chunks = FakeEmbeddings(), Wordy()
    report = await build(
        InMemoryGraphStore(),
        embedding_provider=embeddings,
        vector_store=InMemoryVectorStore(dimension=2),
        chunk_store=chunks,
    )
    assert (report.vectors_written, report.chunks_written) == (3, 2)
    assert len(embeddings.documents) == 1
    assert [chunk.embedding for chunk in await chunks.get_by_source(DOC, TENANT)] == [None, None]


@pytest.mark.parametrize(("source", "target"), [("Ada", "nobody"), ("nobody", "Ada"), ("nobody", "nothing")])
async def test_a_relationship_with_an_unknown_end_is_dropped_and_counted(source: str, target: str) -> None:
    extraction = Extraction(
        [ExtractedEntity("Ada", "person")], [ExtractedRelationship(source, target, "knows")]
    )
    report = await build_graph(
        SourceDocument(DOC, "Ada."),
        provider=ScriptedLlm({"Ada.": extraction}),
        store=InMemoryGraphStore(),
        tenant_id=TENANT,
    )
    assert (report.relationships, report.relationships_dropped) == (0, 1)


async def test_the_stores_are_written_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    order = []

    def note(store: object, name: str) -> None:
        method = getattr(store, name)

        async def noting(*arguments: Any) -> Any:
            order.append(name)
            return await method(*arguments)

        monkeypatch.setattr(store, name, noting)

    graph = InMemoryGraphStore()
    vectors, chunks = InMemoryVectorStore(dimension=2), InMemoryChunkStore(dimension=2)
    note(chunks, "replace_source")
    note(vectors, "upsert_many")
    note(graph, "upsert_relationships")
    note(graph, "upsert_entities")
    await build(graph, embedding_provider=FakeEmbeddings(), vector_store=vectors, chunk_store=chunks)
    assert order == ["upsert_entities", "upsert_relationships", "upsert_many", "replace_source"]


async def test_passages_keep_the_embeddings_that_they_have() -> None:
    chunks = InMemoryChunkStore(dimension=2)
    await index_documents(
        [DOCUMENT],
        store=chunks,
        tenant_id=TENANT,
        chunker=ParagraphChunker(),
        embeddings=FakeEmbeddings({FIRST: [1.0, 0.0], SECOND: [0.0, 1.0]}),
    )
    await build(InMemoryGraphStore(), chunk_store=chunks)
    found = await chunks.get_by_source(DOC, TENANT)
    assert [chunk.embedding for chunk in found] == [[1.0, 0.0], [0.0, 1.0]]
    assert [len(chunk.entity_ids) for chunk in found] == [2, 2]


async def test_a_document_without_text_is_a_graph_without_anything() -> None:
    report = await build_graph(
        SourceDocument(DOC, ""), provider=ScriptedLlm({}), store=InMemoryGraphStore(), tenant_id=TENANT
    )
    assert report == GraphBuildReport(0, 0, 0, 0, 0)


async def test_without_entities_nothing_is_embedded() -> None:
    embeddings = FakeEmbeddings()
    report = await build_graph(
        DOCUMENT,
        provider=ScriptedLlm({FIRST: Extraction(), SECOND: Extraction()}),
        store=InMemoryGraphStore(),
        tenant_id=TENANT,
        embedding_provider=embeddings,
        vector_store=InMemoryVectorStore(dimension=2),
        chunker=ParagraphChunker(),
    )
    assert report.vectors_written == 0
    assert embeddings.documents == []


async def test_an_entity_that_is_extracted_twice_from_a_passage_is_noted_once() -> None:
    chunks = InMemoryChunkStore(dimension=2)
    twice = Extraction([ExtractedEntity("Ada", "person"), ExtractedEntity("ADA", "person")])
    await build_graph(
        SourceDocument(DOC, "Ada."),
        provider=ScriptedLlm({"Ada.": twice}),
        store=InMemoryGraphStore(),
        tenant_id=TENANT,
        chunk_store=chunks,
    )
    (chunk,) = await chunks.get_by_source(DOC, TENANT)
    assert chunk.entity_ids == [entity_id(TENANT, "person", "ada")]


async def test_the_default_chunker_cuts_the_document() -> None:
    provider = ScriptedLlm({"Ada.": Extraction([ExtractedEntity("Ada", "person")])})
    report = await build_graph(
        SourceDocument(DOC, "Ada."), provider=provider, store=InMemoryGraphStore(), tenant_id=TENANT
    )
    assert report.entities == 1
    assert provider.texts == ["Ada."]


@pytest.mark.parametrize("answer", [None, {"entities": []}, "Ada"])
async def test_an_answer_that_is_no_extraction_writes_nothing(answer: Any) -> None:
    store = InMemoryGraphStore()
    with pytest.raises(LlmProviderError, match="model 'scripted' must answer with an Extraction"):
        await build(store, provider=ScriptedLlm({FIRST: LLM[FIRST], SECOND: answer}))
    assert await store.find_entities(TENANT) == []


async def test_a_failing_embedding_writes_nothing() -> None:
    store, vectors, chunks = (
        InMemoryGraphStore(),
        InMemoryVectorStore(dimension=2),
        InMemoryChunkStore(dimension=2),
    )
    for fails_on in ("Engines", SECOND):
        with pytest.raises(EmbeddingProviderError):
            await build(
                store,
                embedding_provider=FakeEmbeddings(fails_on=fails_on),
                vector_store=vectors,
                chunk_store=chunks,
            )
    assert await store.find_entities(TENANT) == []
    assert await vectors.delete_by_tenant(TENANT) == 0
    assert await chunks.delete_by_tenant(TENANT) == 0


class Short(FakeEmbeddings):
    def _answer(self, texts: Sequence[str]) -> list[list[float]]:
        return super()._answer(texts)[1:]


async def test_too_few_vectors_write_nothing() -> None:
    store = InMemoryGraphStore()
    with pytest.raises(EmbeddingProviderError) as raised:
        await build(store, embedding_provider=Short(), vector_store=InMemoryVectorStore(dimension=2))
    assert (raised.value.expected, raised.value.actual) == (3, 2)
    assert await store.find_entities(TENANT) == []


@pytest.mark.parametrize(
    "options",
    [
        {"vector_store": InMemoryVectorStore(dimension=2)},
        {"embedding_provider": FakeEmbeddings()},
    ],
    ids=["vector_store alone", "embedding_provider alone"],
)
async def test_half_a_pair_is_refused_before_anything_is_extracted(options: dict[str, Any]) -> None:
    provider = ScriptedLlm(LLM)
    with pytest.raises(ValueError, match="embedding_provider"):
        await build(InMemoryGraphStore(), provider=provider, **options)
    assert provider.texts == []


async def test_both_stores_pass_the_dimension_gate() -> None:
    for options in (
        {"vector_store": InMemoryVectorStore(dimension=3)},
        {"chunk_store": InMemoryChunkStore(dimension=3)},
        {"vector_store": InMemoryVectorStore(dimension=2), "chunk_store": InMemoryChunkStore(dimension=3)},
    ):
        with pytest.raises(DimensionMismatchError):
            await build(InMemoryGraphStore(), embedding_provider=FakeEmbeddings(), **options)


async def test_bad_tenants_and_documents_are_refused() -> None:
    bad: Any = "text"
    # A document without text comes to no other check of the tenant.
    for document in (DOCUMENT, SourceDocument(DOC, "")):
        with pytest.raises(TypeError, match="tenant_id"):
            await build_graph(document, provider=ScriptedLlm({}), store=InMemoryGraphStore(), tenant_id=bad)
    with pytest.raises(TypeError, match="document must be a SourceDocument"):
        await build_graph(bad, provider=ScriptedLlm({}), store=InMemoryGraphStore(), tenant_id=TENANT)
