"""Retrieves passages: asks the channels, fuses their rankings, cuts. How they rank is not here."""

from dataclasses import dataclass, field
from typing import Self

from redstring_ref.composition.channels import (
    DEFAULT_OVERFETCH,
    join_channels,
    require_question,
    semantic_half,
)
from redstring_ref.composition.gate import embed_question, require_both, require_same_dimension
from redstring_ref.domain.arguments import require_at_least
from redstring_ref.domain.ids import TenantId
from redstring_ref.domain.ranking import LexicalCandidates, RankedChunk, SemanticCandidate, rank_chunks
from redstring_ref.domain.retrieval import ChunkRetrievalResult, RetrievalMode, ScoredChunk
from redstring_ref.domain.terms import tokenize
from redstring_ref.ports import EmbeddingProvider, HybridCandidateSource, LexicalCandidateSource


@dataclass(slots=True)
class ChunkRetrievalTrace:
    """One retrieval with its working shown: what each channel answered, and everything they rank.

    `matches` is the whole fused ranking, before the cut at `k`. A channel that was not asked has
    no candidates.
    """

    query: str
    mode: RetrievalMode
    k: int
    query_vector: list[float] | None = None
    semantic: list[SemanticCandidate] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    candidates: LexicalCandidates | None = None
    lexical: list[RankedChunk] = field(default_factory=list)
    matches: list[ScoredChunk] = field(default_factory=list)


class ChunkRetriever:
    """Finds the passages of a tenant that answer a query, by meaning, by words, or by both.

    Raises `DimensionMismatchError` when the provider's vectors are not the store's, `ValueError`
    for a missing half or an `overfetch` below 1.

    Spec: RET-1 to RET-5.
    """

    def __init__(
        self,
        *,
        embeddings: EmbeddingProvider,
        chunks: HybridCandidateSource,
        overfetch: int = DEFAULT_OVERFETCH,
    ) -> None:
        require_both(embeddings=embeddings, chunks=chunks)
        require_same_dimension(embeddings, chunks)
        self._semantic: tuple[EmbeddingProvider, HybridCandidateSource] | None = (embeddings, chunks)
        self._lexical: LexicalCandidateSource = chunks
        self._overfetch = require_at_least(1, "overfetch", overfetch)

    @classmethod
    def lexical_only(cls, *, chunks: LexicalCandidateSource, overfetch: int = DEFAULT_OVERFETCH) -> Self:
        """Return a retriever that answers in `RetrievalMode.LEXICAL` and refuses the others.

        Spec: RET-4.
        """
        retriever = cls.__new__(cls)
        retriever._semantic = None
        retriever._lexical = chunks
        retriever._overfetch = require_at_least(1, "overfetch", overfetch)
        return retriever

    async def retrieve_chunks(
        self,
        query: str,
        tenant_id: TenantId,
        *,
        k: int = 10,
        mode: RetrievalMode = RetrievalMode.HYBRID,
    ) -> ChunkRetrievalResult:
        """Return the `k` passages that answer `query` best.

        Raises `ValueError` for a blank query, a negative `k`, an unknown mode or one that this
        retriever lacks the provider for; `TypeError` for a tenant that is not a `UUID` and a `k`
        that is not an integer; and whatever the provider or the store raises.

        Spec: RET-1 to RET-4, FUS-1.
        """
        trace = await self.trace_chunks(query, tenant_id, k=k, mode=mode)
        return ChunkRetrievalResult(trace.query, trace.matches[: trace.k])

    async def trace_chunks(
        self,
        query: str,
        tenant_id: TenantId,
        *,
        k: int = 10,
        mode: RetrievalMode = RetrievalMode.HYBRID,
    ) -> ChunkRetrievalTrace:
        """Do what `retrieve_chunks` does, and return the working with the answer.

        Raises as `retrieve_chunks`.

        Spec: RET-1 to RET-4, FUS-1.
        """
        question = require_question(query, tenant_id, k, mode)
        trace = ChunkRetrievalTrace(question.query, question.mode, question.k)
        semantic = semantic_half(self._semantic, trace.mode)
        if trace.k == 0:
            return trace
        if semantic is not None:
            await self._ask_semantic(*semantic, trace, tenant_id)
        if trace.mode is not RetrievalMode.SEMANTIC:
            await self._ask_lexical(trace, tenant_id)
        trace.matches = _matches(trace)
        return trace

    async def _ask_semantic(
        self,
        embeddings: EmbeddingProvider,
        chunks: HybridCandidateSource,
        trace: ChunkRetrievalTrace,
        tenant_id: TenantId,
    ) -> None:
        trace.query_vector = await embed_question(embeddings, trace.query)
        limit = trace.k * self._overfetch
        trace.semantic = await chunks.semantic_candidates(trace.query_vector, tenant_id, limit)

    async def _ask_lexical(self, trace: ChunkRetrievalTrace, tenant_id: TenantId) -> None:
        trace.terms = tokenize(trace.query)
        limit = trace.k * self._overfetch
        trace.candidates = await self._lexical.lexical_candidates(trace.terms, tenant_id, limit)
        trace.lexical = rank_chunks(trace.terms, trace.candidates, limit)


def _matches(trace: ChunkRetrievalTrace) -> list[ScoredChunk]:
    chunks = {each.chunk.id: each.chunk for each in trace.semantic}
    chunks.update((each.chunk.id, each.chunk) for each in trace.lexical)
    semantic = {each.chunk.id: each.score for each in trace.semantic}
    lexical = {each.chunk.id: each.score for each in trace.lexical}
    return [
        ScoredChunk(chunks[joined.id], joined.score, joined.semantic, joined.lexical)
        for joined in join_channels(trace.mode, semantic, lexical)
    ]
