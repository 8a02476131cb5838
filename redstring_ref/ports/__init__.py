"""What a store, a provider, a chunker must do: runtime-checkable Protocols, small and composed."""

from redstring_ref.ports.chunks import (
    ChunkPurge,
    ChunkReader,
    ChunkReadWriter,
    ChunkStore,
    ChunkWriter,
    HybridCandidateSource,
    LexicalCandidateSource,
    SemanticCandidateSource,
)
from redstring_ref.ports.closing import AsyncClosable, Dimensioned
from redstring_ref.ports.graph import (
    EntityReader,
    EntityWriter,
    GraphEditor,
    GraphPurge,
    GraphStore,
    RelationshipStore,
)
from redstring_ref.ports.providers import Chunker, EmbeddingProvider, LlmProvider
from redstring_ref.ports.vectors import VectorPurge, VectorReader, VectorStore, VectorWriter

__all__ = [
    "AsyncClosable",
    "ChunkPurge",
    "ChunkReadWriter",
    "ChunkReader",
    "ChunkStore",
    "ChunkWriter",
    "Chunker",
    "Dimensioned",
    "EmbeddingProvider",
    "EntityReader",
    "EntityWriter",
    "GraphEditor",
    "GraphPurge",
    "GraphStore",
    "HybridCandidateSource",
    "LexicalCandidateSource",
    "LlmProvider",
    "RelationshipStore",
    "SemanticCandidateSource",
    "VectorPurge",
    "VectorReader",
    "VectorStore",
    "VectorWriter",
]
