"""Builds a graph from a document: splits, extracts, derives ids, embeds, writes. It retrieves nothing."""

from dataclasses import dataclass, field

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.composition.gate import embed_texts, require_both, require_same_dimension
from redstring_ref.composition.passages import cut, embed_passages, stored_embeddings
from redstring_ref.domain.chunks import SourceDocument, StoredChunk, require_document
from redstring_ref.domain.errors import LlmProviderError, got
from redstring_ref.domain.graph import Entity, Extraction, Relationship
from redstring_ref.domain.ids import (
    EntityId,
    RelationshipId,
    TenantId,
    entity_id,
    relationship_id,
    require_tenant,
)
from redstring_ref.domain.similarity import normalized_name
from redstring_ref.domain.vector_record import VectorRecord
from redstring_ref.ports import (
    Chunker,
    ChunkReadWriter,
    Dimensioned,
    EmbeddingProvider,
    GraphEditor,
    LlmProvider,
    VectorWriter,
)


@dataclass(frozen=True, slots=True)
class GraphBuildReport:
    """What `build_graph` wrote, in numbers of distinct things, and what it dropped."""

    entities: int
    relationships: int
    relationships_dropped: int
    vectors_written: int
    chunks_written: int


async def build_graph(
    document: SourceDocument,
    *,
    provider: LlmProvider,
    store: GraphEditor,
    tenant_id: TenantId,
    embedding_provider: EmbeddingProvider | None = None,
    vector_store: VectorWriter | None = None,
    chunk_store: ChunkReadWriter | None = None,
    chunker: Chunker | None = None,
) -> GraphBuildReport:
    """Extract the entities and relationships of a document and write them, each under its derived id.

    Everything is extracted and embedded before anything is written. An entity that the store
    has keeps its name, description and metadata and gains the names that it lacks. With a
    vector store, each entity's name and description are embedded; with a chunk store, the
    passages replace their source, each with the entities found in it, and keep or get their
    embeddings. The stores are written one after the other, each whole: entities,
    relationships, vectors, chunks.

    Raises `DimensionMismatchError` before anything is embedded if the provider's vectors are not
    a store's; `ValueError` for a vector store without an embedding provider, or the reverse;
    `LlmProviderError` for an answer that is no extraction; and what providers and stores raise.

    Spec: GRF-1 to GRF-5, GRF-7, RET-5.
    """
    require_tenant(tenant_id)
    document = require_document("document", document)
    _require_pair(embedding_provider, vector_store, chunk_store)
    chunks = cut(document, tenant_id, SlidingWindowChunker() if chunker is None else chunker)
    draft = _Draft(tenant_id)
    for chunk in chunks:
        draft.add(chunk, await _extract(provider, chunk.text))
    for entity in await store.get_entities(list(draft.entities), tenant_id):
        draft.merge_stored(entity)
    entities = list(draft.entities.values())
    records = []
    if vector_store is not None and embedding_provider is not None:
        records = await _records(entities, embedding_provider)
    if chunk_store is not None:
        embeddings = embedding_provider if isinstance(chunk_store, Dimensioned) else None
        await embed_passages(chunks, await stored_embeddings(chunk_store, document, tenant_id), embeddings)

    await store.upsert_entities(entities)
    await store.upsert_relationships(draft.relationships.values())
    if vector_store is not None:
        await vector_store.upsert_many(records)
    if chunk_store is not None:
        await chunk_store.replace_source(document.source_id, tenant_id, chunks)
    return GraphBuildReport(
        entities=len(entities),
        relationships=len(draft.relationships),
        relationships_dropped=draft.dropped,
        vectors_written=len(records),
        chunks_written=len(chunks) if chunk_store is not None else 0,
    )


def _require_pair(
    embedding_provider: EmbeddingProvider | None,
    vector_store: VectorWriter | None,
    chunk_store: ChunkReadWriter | None,
) -> None:
    if embedding_provider is None:
        if vector_store is not None:
            require_both(embedding_provider=embedding_provider, vector_store=vector_store)
        return
    stores = [store for store in (vector_store, chunk_store) if isinstance(store, Dimensioned)]
    if not stores:
        raise ValueError("embedding_provider needs a vector_store or a chunk_store that holds embeddings")
    require_same_dimension(embedding_provider, *stores)


async def _extract(provider: LlmProvider, text: str) -> Extraction:
    extraction = await provider.extract(text)
    if not isinstance(extraction, Extraction):
        raise LlmProviderError(f"model {provider.model!r} must answer with an Extraction, {got(extraction)}")
    return extraction


async def _records(entities: list[Entity], embedding_provider: EmbeddingProvider) -> list[VectorRecord]:
    """Return one record an entity, of the vector of its name and description."""
    texts = [f"{entity.name}\n{entity.description}".strip() for entity in entities]
    vectors = await embed_texts(embedding_provider, texts)
    return [
        VectorRecord(entity.tenant_id, entity.id, vector, {"entity_type": entity.entity_type})
        for entity, vector in zip(entities, vectors, strict=True)
    ]


@dataclass(slots=True)
class _Draft:
    """The entities and relationships of one document, merged by derived id."""

    tenant_id: TenantId
    entities: dict[EntityId, Entity] = field(default_factory=dict)
    relationships: dict[RelationshipId, Relationship] = field(default_factory=dict)
    dropped: int = 0

    def add(self, chunk: StoredChunk, extraction: Extraction) -> None:
        """Take in what one passage speaks of, and note its entities on the passage."""
        by_name: dict[str, EntityId] = {}
        for extracted in extraction.entities:
            name = normalized_name(extracted.name)
            key = entity_id(self.tenant_id, extracted.entity_type, name)
            by_name.setdefault(name, key)
            new = Entity(
                self.tenant_id,
                key,
                extracted.name,
                extracted.entity_type,
                description=extracted.description,
            )
            self.entities[key] = _merged(self.entities[key], new) if key in self.entities else new
            if key not in chunk.entity_ids:
                chunk.entity_ids.append(key)
        for stated in extraction.relationships:
            source = by_name.get(normalized_name(stated.source))
            target = by_name.get(normalized_name(stated.target))
            if source is None or target is None:
                self.dropped += 1
                continue
            edge = relationship_id(self.tenant_id, source, target, stated.relationship_type)
            self.relationships[edge] = Relationship(
                self.tenant_id, edge, source, target, stated.relationship_type
            )

    def merge_stored(self, entity: Entity) -> None:
        """Put what the store knows of an entity before what this document says."""
        self.entities[entity.id] = _merged(entity, self.entities[entity.id])


def _merged(first: Entity, second: Entity) -> Entity:
    """Return `first` with the names, and failing one the description, of `second`. Spec: GRF-7."""
    merged = first.copy()
    names = dict.fromkeys([*first.names, *second.names])
    merged.aliases = [name for name in names if name != first.name]
    merged.description = first.description or second.description
    return merged
