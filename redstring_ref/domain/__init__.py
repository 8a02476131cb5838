"""Values and pure rules: no input or output, no await, no store."""

from redstring_ref.domain.bm25 import (
    BM25_B,
    BM25_K1,
    CorpusStats,
    TermWeight,
    bm25_score,
    inverse_document_frequency,
    term_weight,
    term_weights,
)
from redstring_ref.domain.chunks import SourceDocument, StoredChunk
from redstring_ref.domain.errors import (
    DimensionMismatchError,
    EmbeddingProviderError,
    InvalidVectorError,
    LlmProviderError,
    RedstringError,
    StoreClosedError,
    UnknownEntityError,
)
from redstring_ref.domain.fusion import RRF_K, reciprocal_rank, reciprocal_rank_fusion
from redstring_ref.domain.graph import (
    Entity,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    Relationship,
)
from redstring_ref.domain.ids import (
    ChunkId,
    EntityId,
    RelationshipId,
    SourceId,
    TenantId,
    chunk_id,
    entity_id,
    relationship_id,
)
from redstring_ref.domain.ranking import (
    LexicalCandidate,
    LexicalCandidates,
    RankedChunk,
    SemanticCandidate,
    best_first,
    rank_chunks,
    rank_vectors,
)
from redstring_ref.domain.retrieval import (
    ChunkRetrievalResult,
    RetrievalMode,
    RetrievalResult,
    ScoredChunk,
    ScoredEntity,
)
from redstring_ref.domain.similarity import blocking_keys, jaro, jaro_winkler, name_similarity
from redstring_ref.domain.span import TextSpan
from redstring_ref.domain.storable import JsonObject, JsonValue
from redstring_ref.domain.terms import STOPWORDS, tokenize
from redstring_ref.domain.vector_record import VectorMatch, VectorRecord
from redstring_ref.domain.vectors import as_vector, cosine, cosine_score, dot_product, score, squared_norm

__all__ = [
    "BM25_B",
    "BM25_K1",
    "RRF_K",
    "STOPWORDS",
    "ChunkId",
    "ChunkRetrievalResult",
    "CorpusStats",
    "DimensionMismatchError",
    "EmbeddingProviderError",
    "Entity",
    "EntityId",
    "ExtractedEntity",
    "ExtractedRelationship",
    "Extraction",
    "InvalidVectorError",
    "JsonObject",
    "JsonValue",
    "LexicalCandidate",
    "LexicalCandidates",
    "LlmProviderError",
    "RankedChunk",
    "RedstringError",
    "Relationship",
    "RelationshipId",
    "RetrievalMode",
    "RetrievalResult",
    "ScoredChunk",
    "ScoredEntity",
    "SemanticCandidate",
    "SourceDocument",
    "SourceId",
    "StoreClosedError",
    "StoredChunk",
    "TenantId",
    "TermWeight",
    "TextSpan",
    "UnknownEntityError",
    "VectorMatch",
    "VectorRecord",
    "as_vector",
    "best_first",
    "blocking_keys",
    "bm25_score",
    "chunk_id",
    "cosine",
    "cosine_score",
    "dot_product",
    "entity_id",
    "inverse_document_frequency",
    "jaro",
    "jaro_winkler",
    "name_similarity",
    "rank_chunks",
    "rank_vectors",
    "reciprocal_rank",
    "reciprocal_rank_fusion",
    "relationship_id",
    "score",
    "squared_norm",
    "term_weight",
    "term_weights",
    "tokenize",
]
