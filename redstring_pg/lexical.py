"""The best chunks by BM25: SQL proposes a proven superset, the domain's rule ranks it. No writes.

Spec: PG-4, LEX-4, LEX-5.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.nearest import MAX_LIMIT, SLACK
from redstring_pg.postings import COUNT_BITS, SLOT_BITS
from redstring_pg.rows import chunk_columns, to_chunk
from redstring_pg.schema import VectorType
from redstring_ref.domain import (
    BM25_B,
    BM25_K1,
    CorpusStats,
    LexicalCandidate,
    LexicalCandidates,
    TenantId,
    best_first,
)
from redstring_ref.domain.bm25 import bm25_score
from redstring_ref.domain.terms import tokenize
from redstring_ref.domain.vectors import FLOAT64_ROUNDOFF


def relative_error_bound(occurrences: int) -> float:
    """Return how far SQL's score may lie from the exact rule's, as a share of it.

    Both add up as many positive weights as the query has term occurrences, one correctly
    rounded. A weight goes through a logarithm of which both sides' last digit may be off, and
    twelve roundings; a sum of n positive numbers is off by at most n - 1 more. The bound doubles
    that and rounds up.

    Spec: PG-4.
    """
    return (2 * occurrences + 32) * FLOAT64_ROUNDOFF


@dataclass(frozen=True, slots=True)
class LexicalQuestion:
    """One question to the lexical index of one tenant; `terms` are not empty."""

    tables: ChunkTables
    vector: VectorType
    tenant_id: TenantId
    terms: Sequence[str]
    limit: int

    def first(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings statistics and candidates of one moment, and its parameters."""
        if self.limit == 0:
            return self._filled(_STATISTICS_ONLY), self._values()
        return self._filled(_FIRST), self._values(limit=min(self.limit + SLACK, MAX_LIMIT))

    def all_near(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings all within reach of the cut, of equal counts the first by id."""
        return self._filled(_ALL_NEAR), self._values(limit=min(self.limit, MAX_LIMIT), kept=self._kept)

    def is_complete(self, rows: Sequence[TupleRow]) -> bool:
        """Tell whether `first` left out no chunk that may be in the answer."""
        if self.limit == 0 or len(rows) < self.limit + SLACK:
            return True
        return bool(rows[-1][3] < rows[self.limit - 1][3] * self._kept)

    def answer(self, rows: Sequence[TupleRow]) -> LexicalCandidates:
        """Return the answer that the rows of a statement hold, ranked by the exact rule. Spec: LEX-5."""
        n_docs, total, frequencies = rows[0][:3]
        stats = CorpusStats(n_docs, total, dict(zip(self._distinct, frequencies, strict=True)))
        proposed = {row[4]: (row, *self._counts(row[6])) for row in self._within_reach(rows)}
        scores = {
            key: bm25_score(self.terms, counts, doc_length, stats)
            for key, (_, doc_length, counts) in proposed.items()
        }
        candidates = []
        for key, _ in best_first(((key, score) for key, score in scores.items() if score > 0.0), self.limit):
            row, doc_length, counts = proposed[key]
            candidates.append(LexicalCandidate(to_chunk(self.tenant_id, row[5:]), doc_length, counts))
        return LexicalCandidates(stats, candidates)

    def _within_reach(self, rows: Sequence[TupleRow]) -> Sequence[TupleRow]:
        """Return the rows that may be in the answer; those of `all_near` all may, and have no score."""
        # Without a candidate the statistics stand in a row alone.
        found = [row for row in rows if row[4] is not None]
        if len(found) <= self.limit or found[0][3] is None:
            return found
        lowest = found[self.limit - 1][3] * self._kept
        return [row for row in found if row[3] >= lowest]

    @property
    def _distinct(self) -> list[str]:
        return list(dict.fromkeys(self.terms))

    @property
    def _kept(self) -> float:
        # Both the cut's score and a candidate's may be off.
        return 1.0 - 2.0 * relative_error_bound(len(self.terms))

    def _counts(self, text: str) -> tuple[int, dict[str, int]]:
        """Return how many terms a text has, and how often it has each of those asked for."""
        found = Counter(tokenize(text))
        return found.total(), {term: found[term] for term in self._distinct if term in found}

    def _values(self, **own: object) -> dict[str, object]:
        repeats = Counter(self.terms)
        return {
            "tenant": self.tenant_id,
            "terms": self._distinct,
            "repeats": [repeats[term] for term in self._distinct],
            **own,
        }

    def _filled(self, parts: Sequence[str]) -> sql.Composed:
        return sql.SQL("".join(parts)).format(
            chunks=self.tables.chunks.identifier,
            postings=self.tables.postings.identifier,
            blocks=self.tables.blocks.identifier,
            columns=chunk_columns(self.vector),
            slot_bits=sql.Literal(SLOT_BITS),
            slot_mask=sql.Literal(2**SLOT_BITS - 1),
            slot_shift=sql.Literal(2 * COUNT_BITS),
            count_shift=sql.Literal(COUNT_BITS),
            count_mask=sql.Literal(2**COUNT_BITS - 1),
            counts_mask=sql.Literal(2 ** (2 * COUNT_BITS) - 1),
            b=sql.Literal(BM25_B),
            k1=sql.Literal(BM25_K1),
        )


_STATISTICS = """
WITH asked AS (
    SELECT * FROM unnest(%(terms)s::text[], %(repeats)s::integer[]) WITH ORDINALITY
        AS q (term, repeats, number)
), found AS MATERIALIZED (
    SELECT asked.number, p.block, p.postings
    FROM asked JOIN {postings} AS p ON p.tenant_id = %(tenant)s AND p.term = asked.term COLLATE "C"
), totals AS (
    SELECT coalesce(sum(chunks), 0)::bigint AS n_docs, coalesce(sum(terms), 0)::bigint AS total
    FROM {blocks} WHERE tenant_id = %(tenant)s
), frequencies AS MATERIALIZED (
    SELECT asked.number, asked.repeats, coalesce(sum(cardinality(found.postings)), 0)::bigint AS df
    FROM asked LEFT JOIN found USING (number) GROUP BY asked.number, asked.repeats
), told AS (
    SELECT n_docs, total, (SELECT array_agg(df ORDER BY number) FROM frequencies) AS frequencies FROM totals
)
"""

# float8 throughout: a decimal literal would drag every product into numeric, at three times the price.
_SCORED = """, weights AS MATERIALIZED (
    SELECT number, repeats * ln(1::float8 + (n_docs - df + 0.5::float8) / (df + 0.5::float8)) AS weight,
           total::float8 / n_docs AS average
    FROM frequencies, totals WHERE df > 0
), entries AS (
    SELECT weight, average, block, unnest(postings) AS posting FROM found JOIN weights USING (number)
), counted AS (
    SELECT weight, (block << {slot_bits}) | (posting >> {slot_shift}) AS place,
           ((posting >> {count_shift}) & {count_mask})::float8 AS tf,
           {k1}::float8 * (1::float8 - {b}::float8
                           + {b}::float8 * ((posting & {count_mask})::float8 / average)) AS length_norm
    FROM entries
), scored AS MATERIALIZED (
    SELECT place, sum(weight * (tf / (tf + length_norm))) AS score FROM counted GROUP BY place
)
"""

_STATISTICS_ONLY = (_STATISTICS, "SELECT n_docs, total, frequencies, NULL, NULL FROM told")

_FIRST = (
    _STATISTICS,
    _SCORED,
    """
SELECT n_docs, total, frequencies, score, c.id, {columns} FROM told LEFT JOIN (
    (SELECT place, score FROM scored ORDER BY score DESC LIMIT %(limit)s) AS near
    JOIN {chunks} AS c ON c.tenant_id = %(tenant)s
     AND c.lexical_block = place >> {slot_bits} AND c.lexical_slot = place & {slot_mask}
) ON TRUE ORDER BY score DESC
""",
)

# The same counts give the same score: of those, the first by id are enough.
_ALL_NEAR = (
    _STATISTICS,
    _SCORED,
    """, near AS MATERIALIZED (
    SELECT place FROM scored
    WHERE score >= %(kept)s
          * coalesce((SELECT score FROM scored ORDER BY score DESC OFFSET %(limit)s - 1 LIMIT 1), 0)
), near_entries AS (
    SELECT number, block, unnest(postings) AS posting FROM found
    WHERE block IN (SELECT place >> {slot_bits} FROM near)
), detailed AS (
    SELECT (block << {slot_bits}) | (posting >> {slot_shift}) AS place,
           array_agg(number ORDER BY number) AS numbers,
           array_agg(posting & {counts_mask} ORDER BY number) AS counts
    FROM near_entries
    WHERE (block << {slot_bits}) | (posting >> {slot_shift}) IN (SELECT place FROM near) GROUP BY 1
), ranked AS (
    SELECT c.id, row_number() OVER (PARTITION BY numbers, counts ORDER BY c.id COLLATE "C") AS n
    FROM detailed JOIN {chunks} AS c ON c.tenant_id = %(tenant)s
     AND c.lexical_block = place >> {slot_bits} AND c.lexical_slot = place & {slot_mask}
)
SELECT n_docs, total, frequencies, NULL, c.id, {columns} FROM told LEFT JOIN (
    ranked JOIN {chunks} AS c ON c.tenant_id = %(tenant)s AND c.id = ranked.id AND n <= %(limit)s
) ON TRUE
""",
)
