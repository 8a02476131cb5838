"""Shows the arithmetic behind a retrieval, number by number. It computes nothing of its own."""

from dataclasses import dataclass

from redstring_ref.composition.chunk_retriever import ChunkRetrievalTrace
from redstring_ref.domain.bm25 import TermWeight, term_weights
from redstring_ref.domain.fusion import reciprocal_rank
from redstring_ref.domain.ids import ChunkId
from redstring_ref.domain.retrieval import ScoredChunk
from redstring_ref.domain.vectors import cosine, dot_product, squared_norm


@dataclass(frozen=True, slots=True)
class LexicalWorking:
    """A BM25 score: what each query term adds, for a passage and a corpus of these lengths."""

    rank: int
    score: float
    doc_length: int
    average_doc_length: float
    n_docs: int
    terms: list[TermWeight]
    reciprocal_rank: float


@dataclass(frozen=True, slots=True)
class SemanticWorking:
    """A cosine score: the three sums, the cosine, and `(1 + cosine) / 2`."""

    rank: int
    score: float
    dot: float
    query_squared_norm: float
    chunk_squared_norm: float
    cosine: float
    reciprocal_rank: float


@dataclass(frozen=True, slots=True)
class MatchWorking:
    """One match with the working of each channel that ranked it."""

    rank: int
    match: ScoredChunk
    semantic: SemanticWorking | None
    lexical: LexicalWorking | None


@dataclass(frozen=True, slots=True)
class Missed:
    """The first match after the cut, and by how much its score fell short; at 0.0 its id decided."""

    working: MatchWorking
    shortfall: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The matches that a retrieval returned, and the first that it did not."""

    matches: list[MatchWorking]
    missed: Missed | None


def explain_chunks(trace: ChunkRetrievalTrace) -> Explanation:
    """Return the working of each match above the cut, and of the first below it.

    Spec: LEX-2, VEC-3, FUS-1.
    """
    channels = _Channels(trace)
    shown = enumerate(trace.matches[: trace.k + 1], start=1)
    workings = [
        MatchWorking(rank, match, channels.semantic(match), channels.lexical(match.chunk.id))
        for rank, match in shown
    ]
    if len(workings) <= trace.k:
        return Explanation(workings, None)
    *returned, missed = workings
    shortfall = returned[-1].match.score - missed.match.score
    return Explanation(returned, Missed(missed, shortfall))


class _Channels:
    """Where each channel ranks a chunk and by what, found by the chunk's id."""

    def __init__(self, trace: ChunkRetrievalTrace) -> None:
        self._trace = trace
        self._semantic = {
            each.chunk.id: (rank, each.score) for rank, each in enumerate(trace.semantic, start=1)
        }
        self._lexical = {
            each.chunk.id: (rank, each.score) for rank, each in enumerate(trace.lexical, start=1)
        }
        candidates = [] if trace.candidates is None else trace.candidates.candidates
        self._candidates = {each.chunk.id: each for each in candidates}

    def semantic(self, match: ScoredChunk) -> SemanticWorking | None:
        query, vector = self._trace.query_vector, match.chunk.embedding
        place = self._semantic.get(match.chunk.id)
        if place is None or query is None or vector is None:
            return None
        rank, score = place
        dot, query_norm, chunk_norm = dot_product(query, vector), squared_norm(query), squared_norm(vector)
        angle = cosine(dot, query_norm, chunk_norm)
        return SemanticWorking(rank, score, dot, query_norm, chunk_norm, angle, float(reciprocal_rank(rank)))

    def lexical(self, chunk_id: ChunkId) -> LexicalWorking | None:
        place = self._lexical.get(chunk_id)
        if place is None or self._trace.candidates is None:
            return None
        rank, score = place
        stats, candidate = self._trace.candidates.stats, self._candidates[chunk_id]
        frequencies, length = candidate.term_frequencies, candidate.doc_length
        weights = list(term_weights(self._trace.terms, frequencies, length, stats))
        average, n_docs = stats.average_doc_length, stats.n_docs
        return LexicalWorking(rank, score, length, average, n_docs, weights, float(reciprocal_rank(rank)))
