"""How entry points of `composition` ask for collaborators: gated by width, and no wider than used."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from redstring_ref import composition, ports
from redstring_ref.composition import ChunkRetriever, Retriever, build_graph, index_documents
from redstring_ref.domain import (
    DimensionMismatchError,
    Entity,
    EntityId,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    RetrievalMode,
    SourceDocument,
    SourceId,
)
from redstring_ref.memory import InMemoryChunkStore, InMemoryGraphStore, InMemoryVectorStore
from redstring_ref.ports import EmbeddingProvider
from tests.support import TENANT, FakeEmbeddings, ParagraphChunker, ScriptedLlm

DOCUMENT = SourceDocument(SourceId("doc-1"), "Ada met Bob.")
LLM = ScriptedLlm(
    {
        DOCUMENT.text: Extraction(
            [ExtractedEntity("Ada", "person"), ExtractedEntity("Bob", "person")],
            [ExtractedRelationship("Ada", "Bob", "met")],
        )
    }
)


def entry_points() -> dict[str, Callable[..., object]]:
    """Return the public functions of `composition`, and the constructors of its classes."""
    found: dict[str, Callable[..., object]] = {}
    for name in composition.__all__:
        member = getattr(composition, name)
        if inspect.isfunction(member):
            found[name] = member
        elif inspect.isclass(member):
            found[name] = member.__init__
            for attribute, value in vars(member).items():
                if isinstance(value, classmethod):
                    found[f"{name}.{attribute}"] = getattr(member, attribute)
    return found


def collaborators(entry_point: Callable[..., object]) -> dict[str, type]:
    """Return the Protocol that each collaborator of an entry point is typed on."""
    found = {}
    for parameter, annotation in typing.get_type_hints(entry_point).items():
        for option in (annotation, *typing.get_args(annotation)):
            if getattr(option, "_is_protocol", False) and parameter != "return":
                found[parameter] = option
    return found


GATED = {name for name, entry in entry_points().items() if EmbeddingProvider in collaborators(entry).values()}

# How to call each gated entry point with a provider; a new one fails until it stands here.
GATED_CALLS: dict[str, Callable[[EmbeddingProvider], Any]] = {
    "ChunkRetriever": lambda provider: ChunkRetriever(
        embeddings=provider, chunks=InMemoryChunkStore(dimension=768)
    ),
    "Retriever": lambda provider: Retriever(
        embeddings=provider, vectors=InMemoryVectorStore(dimension=768), graph=InMemoryGraphStore()
    ),
    "index_documents": lambda provider: index_documents(
        [DOCUMENT], store=InMemoryChunkStore(dimension=768), tenant_id=TENANT, embeddings=provider
    ),
    "build_graph": lambda provider: build_graph(
        DOCUMENT,
        provider=LLM,
        store=InMemoryGraphStore(),
        tenant_id=TENANT,
        embedding_provider=provider,
        vector_store=InMemoryVectorStore(dimension=768),
    ),
}


async def call_gated(name: str, provider: EmbeddingProvider) -> None:
    result = GATED_CALLS[name](provider)
    if inspect.isawaitable(result):
        await result


def test_the_introspection_finds_the_entry_points() -> None:
    assert {"ChunkRetriever", "Retriever", "index_documents", "build_graph"} == GATED
    assert set(entry_points()) >= {*GATED, "ChunkRetriever.lexical_only", "Retriever.lexical_only"}
    assert collaborators(entry_points()["build_graph"])["store"] is ports.GraphEditor


@pytest.mark.parametrize("name", sorted(GATED))
@pytest.mark.parametrize("dimension", [767, 769, 1, 384])
async def test_a_provider_of_another_width_is_refused_before_any_text_is_embedded(
    name: str, dimension: int
) -> None:
    provider = FakeEmbeddings(dimension=dimension)
    with pytest.raises(DimensionMismatchError) as raised:
        await call_gated(name, provider)
    assert (raised.value.expected, raised.value.actual) == (768, dimension)
    assert provider.documents == provider.queries == []


@pytest.mark.parametrize("name", sorted(GATED))
async def test_a_provider_of_the_same_width_passes_the_gate(name: str) -> None:
    # A number that the interpreter does not keep only one object of.
    await call_gated(name, FakeEmbeddings(dimension=int("768")))


Narrow = Callable[[str, object], Any]


async def use_chunk_retriever(narrow: Narrow) -> None:
    store = InMemoryChunkStore(dimension=2)
    retriever = ChunkRetriever(
        embeddings=narrow("embeddings", FakeEmbeddings()), chunks=narrow("chunks", store)
    )
    await retriever.retrieve_chunks("query", TENANT)


async def use_lexical_chunk_retriever(narrow: Narrow) -> None:
    retriever = ChunkRetriever.lexical_only(chunks=narrow("chunks", InMemoryChunkStore(dimension=2)))
    await retriever.retrieve_chunks("query", TENANT, mode=RetrievalMode.LEXICAL)


async def graph_with_ada() -> InMemoryGraphStore:
    graph = InMemoryGraphStore()
    await graph.upsert_entity(Entity(TENANT, EntityId(UUID(int=1)), "Ada", "person"))
    return graph


async def use_retriever(narrow: Narrow) -> None:
    retriever = Retriever(
        embeddings=narrow("embeddings", FakeEmbeddings()),
        vectors=narrow("vectors", InMemoryVectorStore(dimension=2)),
        graph=narrow("graph", await graph_with_ada()),
    )
    await retriever.retrieve("Ada", TENANT)


async def use_lexical_retriever(narrow: Narrow) -> None:
    retriever = Retriever.lexical_only(graph=narrow("graph", await graph_with_ada()))
    await retriever.retrieve("Ada", TENANT, mode=RetrievalMode.LEXICAL)


async def use_index_documents(narrow: Narrow) -> None:
    await index_documents(
        [DOCUMENT],
        store=narrow("store", InMemoryChunkStore(dimension=2)),
        tenant_id=TENANT,
        chunker=narrow("chunker", ParagraphChunker()),
    )
    with_embeddings = narrow("embeddings", FakeEmbeddings())
    store = InMemoryChunkStore(dimension=2)
    await index_documents([DOCUMENT], store=store, tenant_id=TENANT, embeddings=with_embeddings)


async def use_build_graph(narrow: Narrow) -> None:
    await build_graph(
        DOCUMENT,
        provider=narrow("provider", LLM),
        store=narrow("store", InMemoryGraphStore()),
        tenant_id=TENANT,
        embedding_provider=narrow("embedding_provider", FakeEmbeddings()),
        vector_store=narrow("vector_store", InMemoryVectorStore(dimension=2)),
        chunk_store=narrow("chunk_store", InMemoryChunkStore(dimension=2)),
        chunker=narrow("chunker", ParagraphChunker()),
    )


USES: dict[str, Callable[[Narrow], Awaitable[None]]] = {
    "ChunkRetriever": use_chunk_retriever,
    "ChunkRetriever.lexical_only": use_lexical_chunk_retriever,
    "Retriever": use_retriever,
    "Retriever.lexical_only": use_lexical_retriever,
    "index_documents": use_index_documents,
    "build_graph": use_build_graph,
}


def members(protocol: type) -> set[str]:
    """Return the public names of a Protocol, those it inherits included."""
    return {
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False)
        for name in vars(base)
        if not name.startswith("_")
    }


def narrowed(target: object, names: set[str], used: set[str]) -> object:
    """Return an object that has just these names of `target`, and notes which are used."""

    def forward(name: str) -> property:
        def get(_: object) -> object:
            used.add(name)
            return getattr(target, name)

        return property(get)

    return type("Narrowed", (), {name: forward(name) for name in names})()


def smaller(protocol: type) -> Iterator[type]:
    """Yield the exported Protocols that ask for less than this one."""
    for name in ports.__all__:
        other = getattr(ports, name)
        if members(other) < members(protocol):
            yield other


@pytest.mark.parametrize("name", sorted(USES))
async def test_a_collaborator_is_typed_on_the_smallest_port_that_it_uses(name: str) -> None:
    typed_on = collaborators(entry_points()[name])
    used: dict[str, set[str]] = {}

    def narrow(parameter: str, target: object) -> object:
        used[parameter] = set()
        return narrowed(target, members(typed_on[parameter]), used[parameter])

    await USES[name](narrow)
    assert set(used) == set(typed_on)
    for parameter, protocol in typed_on.items():
        assert used[parameter], parameter
        enough = [other.__name__ for other in smaller(protocol) if used[parameter] <= members(other)]
        assert enough == [], f"{name}({parameter}): {protocol.__name__} is wider than what is used"


def test_every_entry_point_with_a_collaborator_is_used_above() -> None:
    assert {name for name, entry in entry_points().items() if collaborators(entry)} == set(USES)
