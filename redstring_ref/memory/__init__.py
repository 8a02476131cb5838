"""The in-memory reference adapters."""

from redstring_ref.memory.chunk_store import InMemoryChunkStore
from redstring_ref.memory.graph_store import InMemoryGraphStore
from redstring_ref.memory.vector_store import InMemoryVectorStore

__all__ = ["InMemoryChunkStore", "InMemoryGraphStore", "InMemoryVectorStore"]
