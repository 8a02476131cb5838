"""BM25: the statistics, the weight of a term, the score of a passage. No ordering."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from redstring_ref.domain.arguments import require_at_least
from redstring_ref.domain.errors import shown

BM25_K1 = 1.2
BM25_B = 0.75


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """What BM25 needs to know of a tenant's whole corpus, in integers.

    `n_docs` counts the chunks, empty ones included; `total_doc_length` their terms;
    `doc_frequencies` has each requested term and the number of chunks that hold it, 0 included.
    A bool or non-integer is a `TypeError`; a negative number, or a document frequency above
    `n_docs`, a `ValueError`.

    Spec: LEX-4.
    """

    n_docs: int
    total_doc_length: int
    doc_frequencies: Mapping[str, int]

    def __post_init__(self) -> None:
        # Python's integers: narrow ones of a database or numpy would divide to less than a double.
        for name in ("n_docs", "total_doc_length"):
            object.__setattr__(self, name, require_at_least(0, name, getattr(self, name)))
        doc_frequencies = {}
        for term, frequency in self.doc_frequencies.items():
            field = f"doc_frequencies[{term!r}]"
            doc_frequencies[term] = require_at_least(0, field, frequency)
            if doc_frequencies[term] > self.n_docs:
                limit = f"n_docs {shown(self.n_docs)}"
                raise ValueError(f"{field} must be at most {limit}, got {shown(frequency)}")
        object.__setattr__(self, "doc_frequencies", doc_frequencies)

    @property
    def average_doc_length(self) -> float:
        """The mean number of terms of a chunk; 0.0 for an empty corpus."""
        return self.total_doc_length / self.n_docs if self.n_docs else 0.0


@dataclass(frozen=True, slots=True)
class TermWeight:
    """What one occurrence of a query term adds to a passage's score, and why.

    Spec: LEX-2.
    """

    term: str
    term_frequency: int
    doc_frequency: int
    idf: float
    weight: float


def inverse_document_frequency(n_docs: int, doc_frequency: int) -> float:
    """Return `ln(1 + (N - df + 0.5) / (df + 0.5))`, above 0 for every term, common ones too.

    Spec: LEX-1.
    """
    return math.log(1.0 + (n_docs - doc_frequency + 0.5) / (doc_frequency + 0.5))


def term_weight(idf: float, term_frequency: int, doc_length: int, average_doc_length: float) -> float:
    """Return what one query term adds: `idf · tf / (tf + k1 · (1 - b + b · length / average))`.

    0.0 where the term is absent or the corpus has no terms at all.

    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), without
    the constant factor `k1 + 1`, as Lucene has it.

    Spec: LEX-2.
    """
    if term_frequency == 0 or average_doc_length == 0.0:
        return 0.0
    length_norm = BM25_K1 * (1.0 - BM25_B + BM25_B * (doc_length / average_doc_length))
    return idf * (term_frequency / (term_frequency + length_norm))


def term_weights(
    terms: Sequence[str], term_frequencies: Mapping[str, int], doc_length: int, stats: CorpusStats
) -> Iterator[TermWeight]:
    """Yield the weight of each of `terms`, in order and with repeats.

    A term that `stats` does not cover is a `ValueError`: its document frequency is unknown, not 0.

    Spec: LEX-3.
    """
    average = stats.average_doc_length
    for term in terms:
        if term not in stats.doc_frequencies:
            raise ValueError(f"stats.doc_frequencies must cover every term, got none for {term!r}")
        doc_frequency = stats.doc_frequencies[term]
        term_frequency = term_frequencies.get(term, 0)
        idf = inverse_document_frequency(stats.n_docs, doc_frequency)
        weight = term_weight(idf, term_frequency, doc_length, average)
        yield TermWeight(term, term_frequency, doc_frequency, idf, weight)


def bm25_score(
    terms: Sequence[str], term_frequencies: Mapping[str, int], doc_length: int, stats: CorpusStats
) -> float:
    """Return the BM25 score of one passage: the correctly rounded sum of its term weights.

    Unbounded, and comparable only within one result.

    >>> stats = CorpusStats(n_docs=3, total_doc_length=12, doc_frequencies={"tie": 1, "order": 2})
    >>> round(bm25_score(["tie", "order"], {"tie": 2, "order": 1}, 4, stats), 4)
    0.8267

    Spec: LEX-3.
    """
    return math.fsum(each.weight for each in term_weights(terms, term_frequencies, doc_length, stats))
