"""Retrieves entities: the twin of the chunk retriever, with names in the place of words."""

from collections.abc import Iterable
from typing import Self

from redstring_ref.composition.channels import (
    DEFAULT_OVERFETCH,
    Question,
    join_channels,
    require_question,
    semantic_half,
)
from redstring_ref.composition.gate import embed_question, require_both, require_same_dimension
from redstring_ref.domain.arguments import require_at_least
from redstring_ref.domain.graph import Entity
from redstring_ref.domain.ids import TenantId
from redstring_ref.domain.ranking import best_first
from redstring_ref.domain.retrieval import RetrievalMode, RetrievalResult, ScoredEntity
from redstring_ref.domain.similarity import blocking_keys, name_similarity
from redstring_ref.ports import EmbeddingProvider, EntityReader, VectorReader


class Retriever:
    """Finds the entities of a tenant that answer a query, by meaning, by name, or by both.

    Raises `DimensionMismatchError` when the provider's vectors are not the store's, `ValueError`
    for a missing half or an `overfetch` below 1.

    Spec: RET-1 to RET-5, ENT-3.
    """

    def __init__(
        self,
        *,
        embeddings: EmbeddingProvider,
        vectors: VectorReader,
        graph: EntityReader,
        overfetch: int = DEFAULT_OVERFETCH,
    ) -> None:
        require_both(embeddings=embeddings, vectors=vectors, graph=graph)
        require_same_dimension(embeddings, vectors)
        self._semantic: tuple[EmbeddingProvider, VectorReader] | None = (embeddings, vectors)
        self._graph = graph
        self._overfetch = require_at_least(1, "overfetch", overfetch)

    @classmethod
    def lexical_only(cls, *, graph: EntityReader, overfetch: int = DEFAULT_OVERFETCH) -> Self:
        """Return a retriever that answers in `RetrievalMode.LEXICAL` and refuses the others.

        Spec: RET-4.
        """
        retriever = cls.__new__(cls)
        retriever._semantic = None
        retriever._graph = graph
        retriever._overfetch = require_at_least(1, "overfetch", overfetch)
        return retriever

    async def retrieve(
        self,
        query: str,
        tenant_id: TenantId,
        *,
        k: int = 10,
        mode: RetrievalMode = RetrievalMode.HYBRID,
    ) -> RetrievalResult:
        """Return the `k` entities that answer `query` best.

        Raises `ValueError` for a blank query, a negative `k`, an unknown mode or one that this
        retriever lacks the provider for; `TypeError` for a tenant that is not a `UUID` and a `k`
        that is not an integer; and whatever the provider or a store raises.

        Spec: RET-1 to RET-4, ENT-3.
        """
        question = require_question(query, tenant_id, k, mode)
        semantic_pair = semantic_half(self._semantic, question.mode)
        if question.k == 0:
            return RetrievalResult(question.query, [])
        by_meaning = await self._ask_semantic(*semantic_pair, question) if semantic_pair else []
        by_name = [] if question.mode is RetrievalMode.SEMANTIC else await self._ask_names(question)
        entities = {entity.id: entity for entity, _ in [*by_meaning, *by_name]}
        semantic = {entity.id: score for entity, score in by_meaning}
        lexical = {entity.id: score for entity, score in by_name}
        matches = [
            ScoredEntity(entities[joined.id], joined.score, joined.semantic, joined.lexical)
            for joined in join_channels(question.mode, semantic, lexical)[: question.k]
        ]
        return RetrievalResult(question.query, matches)

    async def _ask_semantic(
        self, embeddings: EmbeddingProvider, vectors: VectorReader, question: Question
    ) -> list[tuple[Entity, float]]:
        """Return the nearest entities that still exist, best first."""
        vector = await embed_question(embeddings, question.query)
        found = await vectors.search(vector, question.tenant_id, k=question.k * self._overfetch)
        ids = [match.entity_id for match in found]
        entities = await self._graph.get_entities(ids, question.tenant_id)
        by_id = {entity.id: entity for entity in entities}
        return [(by_id[match.entity_id], match.score) for match in found if match.entity_id in by_id]

    async def _ask_names(self, question: Question) -> list[tuple[Entity, float]]:
        """Return the entities whose names are most like a part of the query, best first."""
        keys = sorted(blocking_keys([question.query]))
        entities = await self._graph.find_by_blocking_keys(keys, question.tenant_id)
        return rank_names(question.query, entities, question.k * self._overfetch)


def rank_names(query: str, entities: Iterable[Entity], limit: int) -> list[tuple[Entity, float]]:
    """Return the `limit` entities with the best name or alias, by similarity, then id; zeros never.

    Spec: ENT-2, ENT-3.
    """
    by_id = {str(entity.id): entity for entity in entities}
    scores = {
        key: max(name_similarity(query, name) for name in entity.names) for key, entity in by_id.items()
    }
    ranked = best_first(((key, score) for key, score in scores.items() if score > 0.0), limit)
    return [(by_id[key], score) for key, score in ranked]
