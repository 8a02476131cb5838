"""Joins what two channels rank into one list, for passages and entities alike. It asks no store."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from redstring_ref.domain.arguments import require_limit
from redstring_ref.domain.fusion import reciprocal_rank_fusion
from redstring_ref.domain.ids import TenantId, require_tenant
from redstring_ref.domain.retrieval import RetrievalMode, require_query

DEFAULT_OVERFETCH = 3

Id = TypeVar("Id", bound=Hashable)
Pair = TypeVar("Pair")


@dataclass(frozen=True, slots=True)
class Question:
    """What a retriever is asked, checked."""

    query: str
    tenant_id: TenantId
    k: int
    mode: RetrievalMode


def require_question(query: str, tenant_id: TenantId, k: int, mode: RetrievalMode) -> Question:
    """Return a question that can be asked; what is wrong with it raises before anyone is.

    Spec: RET-1, TEN-1, ORD-2.
    """
    tenant = require_tenant(tenant_id)
    return Question(require_query(query), tenant, require_limit("k", k), RetrievalMode(mode))


def semantic_half(pair: Pair | None, mode: RetrievalMode) -> Pair | None:
    """Return the provider and store that answer by meaning, `None` in a mode that needs none.

    A mode that needs what is missing is a `ValueError`.

    Spec: RET-4.
    """
    if mode is RetrievalMode.LEXICAL:
        return None
    if pair is None:
        raise ValueError(f"a lexical-only retriever cannot answer in {mode} mode")
    return pair


@dataclass(frozen=True, slots=True)
class Joined(Generic[Id]):
    """An id, the score that it is ordered by, and each channel's; `None` where it was not ranked.

    Spec: RET-3.
    """

    id: Id
    score: float
    semantic: float | None
    lexical: float | None


def join_channels(
    mode: RetrievalMode, semantic: Mapping[Id, float], lexical: Mapping[Id, float]
) -> list[Joined[Id]]:
    """Return the ids that two rankings hold, best first: fused by rank, or one channel as it is.

    Each mapping goes from id to score, best first.

    Spec: RET-3, FUS-1.
    """
    if mode is RetrievalMode.HYBRID:
        scores = reciprocal_rank_fusion([semantic, lexical])
    else:
        scores = list((semantic if mode is RetrievalMode.SEMANTIC else lexical).items())
    return [Joined(ranked, score, semantic.get(ranked), lexical.get(ranked)) for ranked, score in scores]
