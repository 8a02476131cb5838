"""What joins layers that may not import each other: retrievers, indexing, building graphs."""

from redstring_ref.composition.chunk_retriever import ChunkRetrievalTrace, ChunkRetriever
from redstring_ref.composition.entity_retriever import Retriever
from redstring_ref.composition.graph_building import GraphBuildReport, build_graph
from redstring_ref.composition.indexing import IndexProgress, IndexReport, index_documents

__all__ = [
    "ChunkRetrievalTrace",
    "ChunkRetriever",
    "GraphBuildReport",
    "IndexProgress",
    "IndexReport",
    "Retriever",
    "build_graph",
    "index_documents",
]
