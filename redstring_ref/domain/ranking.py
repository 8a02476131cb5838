"""The total orders, and the values that carry a rank. The scores themselves come from elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeVar

from redstring_ref.domain.arguments import require_limit, require_min_score, require_strings
from redstring_ref.domain.bm25 import CorpusStats, bm25_score
from redstring_ref.domain.chunks import StoredChunk
from redstring_ref.domain.vectors import score_to, squared_norm

Key = TypeVar("Key", bound=str)


@dataclass(frozen=True, slots=True)
class SemanticCandidate:
    """A chunk and its cosine score, 0 to 1.

    Spec: VEC-4.
    """

    chunk: StoredChunk
    score: float


@dataclass(frozen=True, slots=True)
class LexicalCandidate:
    """A chunk, its number of terms, and how often each requested term stands in it, zeros left out.

    Spec: LEX-5.
    """

    chunk: StoredChunk
    doc_length: int
    term_frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LexicalCandidates:
    """The best chunks by BM25, best first, and the statistics of the whole corpus to score them by.

    Spec: LEX-4, LEX-5.
    """

    stats: CorpusStats
    candidates: list[LexicalCandidate]


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk and its BM25 score, above 0.

    Spec: LEX-6.
    """

    chunk: StoredChunk
    score: float


def best_first(scores: Iterable[tuple[Key, float]], limit: int | None = None) -> list[tuple[Key, float]]:
    """Return the `limit` best `(id, score)` pairs, or all: score descending, then id ascending.

    Ids are compared by code point, scores as doubles. A bool or non-integer limit is a
    `TypeError`, a negative one a `ValueError`.

    >>> best_first([("c", 0.5), ("a", 0.5), ("b", 0.9), ("d", 0.1)], limit=2)
    [('b', 0.9), ('a', 0.5)]

    Spec: ORD-1, ORD-2, ORD-4.
    """
    cutoff = None if limit is None else require_limit("limit", limit)
    pairs = list(scores)
    return nsmallest(len(pairs) if cutoff is None else cutoff, pairs, key=lambda pair: (-pair[1], pair[0]))


def rank_chunks(terms: Sequence[str], candidates: LexicalCandidates, k: int) -> list[RankedChunk]:
    """Return the `k` best candidates by BM25: score descending, then id ascending; zero scores never.

    A bool or non-integer `k`, or a string for `terms`, is a `TypeError`; a negative `k` a `ValueError`.

    Spec: LEX-6, ORD-2.
    """
    checked, cutoff = require_strings("terms", terms), require_limit("k", k)
    ranked: dict[str, RankedChunk] = {}
    for candidate in candidates.candidates:
        length, frequencies = candidate.doc_length, candidate.term_frequencies
        score = bm25_score(checked, frequencies, length, candidates.stats)
        if score > 0.0:
            ranked[candidate.chunk.id] = RankedChunk(candidate.chunk, score)
    best = best_first(((chunk_id, each.score) for chunk_id, each in ranked.items()), cutoff)
    return [ranked[chunk_id] for chunk_id, _ in best]


def rank_vectors(
    query: Sequence[float],
    vectors: Iterable[tuple[Key, Sequence[float]]],
    limit: int,
    min_score: float | None = None,
) -> list[tuple[Key, float]]:
    """Return the `limit` best `(id, score)` of `(id, vector)`, as `best_first`, from `min_score` up.

    The threshold is inclusive, and applied before the limit.

    Spec: VEC-4, ORD-1 to ORD-3.
    """
    cutoff, threshold = require_limit("limit", limit), require_min_score(min_score)
    query_norm = squared_norm(query)
    # Boilerplate passages repeat one vector thousands of times; it is scored once.
    scores: dict[tuple[float, ...], float] = {}
    kept = []
    for key, vector in vectors:
        known = tuple(vector)
        if known not in scores:
            scores[known] = score_to(query, query_norm, vector)
        if threshold is None or scores[known] >= threshold:
            kept.append((key, scores[known]))
    return best_first(kept, cutoff)
