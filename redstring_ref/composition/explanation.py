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
    shown = enumerate(trace.matches[: trace.k + 1], start=1)
    workings = [_working(trace, rank, match) for rank, match in shown]
    if len(workings) <= trace.k:
        return Explanation(workings, None)
    *returned, missed = workings
    shortfall = returned[-1].match.score - missed.match.score
    return Explanation(returned, Missed(missed, shortfall))


def _working(trace: ChunkRetrievalTrace, rank: int, match: ScoredChunk) -> MatchWorking:
    return MatchWorking(rank, match, _semantic(trace, match), _lexical(trace, match.chunk.id))


def _semantic(trace: ChunkRetrievalTrace, match: ScoredChunk) -> SemanticWorking | None:
    ids = [each.chunk.id for each in trace.semantic]
    query, vector = trace.query_vector, match.chunk.embedding
    if match.chunk.id not in ids or query is None or vector is None:
        return None
    rank = ids.index(match.chunk.id) + 1
    dot, query_norm, chunk_norm = dot_product(query, vector), squared_norm(query), squared_norm(vector)
    angle = cosine(dot, query_norm, chunk_norm)
    score = trace.semantic[rank - 1].score
    return SemanticWorking(rank, score, dot, query_norm, chunk_norm, angle, float(reciprocal_rank(rank)))


def _lexical(trace: ChunkRetrievalTrace, chunk_id: ChunkId) -> LexicalWorking | None:
    ids = [each.chunk.id for each in trace.lexical]
    if chunk_id not in ids or trace.candidates is None:
        return None
    rank = ids.index(chunk_id) + 1
    stats = trace.candidates.stats
    candidate = next(each for each in trace.candidates.candidates if each.chunk.id == chunk_id)
    weights = term_weights(trace.terms, candidate.term_frequencies, candidate.doc_length, stats)
    return LexicalWorking(
        rank,
        trace.lexical[rank - 1].score,
        candidate.doc_length,
        stats.average_doc_length,
        stats.n_docs,
        list(weights),
        float(reciprocal_rank(rank)),
    )
