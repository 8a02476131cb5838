"""What joins layers that may not import each other: retrievers, indexing, building graphs."""

from redstring_ref.composition.chunk_retriever import ChunkRetrievalTrace, ChunkRetriever
from redstring_ref.composition.entity_retriever import Retriever
from redstring_ref.composition.explanation import (
    Explanation,
    LexicalWorking,
    MatchWorking,
    Missed,
    SemanticWorking,
    explain_chunks,
)
from redstring_ref.composition.graph_building import GraphBuildReport, build_graph
from redstring_ref.composition.indexing import IndexProgress, IndexReport, index_documents

__all__ = [
    "ChunkRetrievalTrace",
    "ChunkRetriever",
    "Explanation",
    "GraphBuildReport",
    "IndexProgress",
    "IndexReport",
    "LexicalWorking",
    "MatchWorking",
    "Missed",
    "Retriever",
    "SemanticWorking",
    "build_graph",
    "explain_chunks",
    "index_documents",
]
