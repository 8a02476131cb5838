"""The inverted index of one tenant: postings, lengths, statistics. It knows ids and texts, not chunks."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from redstring_ref.domain.bm25 import CorpusStats, inverse_document_frequency, term_weight
from redstring_ref.domain.ids import ChunkId
from redstring_ref.domain.ranking import best_first
from redstring_ref.domain.terms import tokenize


class LexicalIndex:
    """Maps each term to its postings, and keeps the integers that BM25 needs in step with them."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[ChunkId, int]] = {}
        self._doc_lengths: dict[ChunkId, int] = {}
        self._total_doc_length = 0

    def add(self, chunk_id: ChunkId, text: str) -> None:
        """Index a text. An id that is known has this text already, for it is derived from it."""
        if chunk_id in self._doc_lengths:
            return
        terms = tokenize(text)
        self._doc_lengths[chunk_id] = len(terms)
        self._total_doc_length += len(terms)
        for term, frequency in Counter(terms).items():
            self._postings.setdefault(term, {})[chunk_id] = frequency

    def remove(self, chunk_id: ChunkId, text: str) -> None:
        """Forget a text that was added under this id."""
        self._total_doc_length -= self._doc_lengths.pop(chunk_id)
        for term in set(tokenize(text)):
            postings = self._postings[term]
            del postings[chunk_id]
            if not postings:
                del self._postings[term]

    def stats(self, terms: Sequence[str]) -> CorpusStats:
        """Return the statistics of the whole corpus for exactly these terms; zeros for no terms.

        Spec: LEX-4.
        """
        if not terms:
            return CorpusStats(0, 0, {})
        doc_frequencies = {term: len(self._postings.get(term, ())) for term in terms}
        return CorpusStats(len(self._doc_lengths), self._total_doc_length, doc_frequencies)

    def best(self, terms: Sequence[str], limit: int) -> list[ChunkId]:
        """Return the ids of the `limit` best texts by `bm25_score`, reading only the terms' postings.

        Spec: LEX-5.
        """
        stats = self.stats(terms)
        average = stats.average_doc_length
        weights: defaultdict[ChunkId, list[float]] = defaultdict(list)
        for term, repeats in Counter(terms).items():
            idf = inverse_document_frequency(stats.n_docs, stats.doc_frequencies[term])
            for chunk_id, frequency in self._postings.get(term, {}).items():
                weight = term_weight(idf, frequency, self._doc_lengths[chunk_id], average)
                weights[chunk_id].extend([weight] * repeats)
        scores = ((chunk_id, math.fsum(each)) for chunk_id, each in weights.items())
        return [chunk_id for chunk_id, _ in best_first(scores, limit)]

    def doc_length(self, chunk_id: ChunkId) -> int:
        """Return how many terms the text has."""
        return self._doc_lengths[chunk_id]

    def term_frequencies(self, chunk_id: ChunkId, terms: Sequence[str]) -> dict[str, int]:
        """Return how often each of `terms` that the text holds occurs in it."""
        postings = ((term, self._postings.get(term, {})) for term in dict.fromkeys(terms))
        return {term: found[chunk_id] for term, found in postings if chunk_id in found}
