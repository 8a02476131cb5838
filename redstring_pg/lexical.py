"""The best chunks by BM25: SQL proposes a proven superset, the domain's rule ranks it. No writes.

Spec: PG-4, LEX-4, LEX-5.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg.chunk_schema import ChunkTables
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
    rank_chunks,
)
from redstring_ref.domain.vectors import FLOAT64_ROUNDOFF

_MAX_LIMIT = 2**62


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

    @property
    def distinct(self) -> list[str]:
        """The terms, each once, in the order of their first occurrence."""
        return list(dict.fromkeys(self.terms))

    def statement(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the one statement that brings statistics and candidates of one moment, and its parameters."""
        counted = Counter(self.terms)
        values = {
            "tenant": self.tenant_id,
            "terms": self.distinct,
            "repeats": [counted[term] for term in self.distinct],
            "limit": min(self.limit, _MAX_LIMIT),
            # Both the cut's score and a candidate's may be off.
            "kept": 1.0 - 2.0 * relative_error_bound(len(self.terms)),
        }
        names: dict[str, sql.Composable] = {
            "chunks": self.tables.chunks.identifier,
            "postings": self.tables.postings.identifier,
            "blocks": self.tables.blocks.identifier,
            "columns": chunk_columns(self.vector),
            "slot_bits": sql.Literal(SLOT_BITS),
            "slot_mask": sql.Literal(2**SLOT_BITS - 1),
            "slot_shift": sql.Literal(2 * COUNT_BITS),
            "count_shift": sql.Literal(COUNT_BITS),
            "count_mask": sql.Literal(2**COUNT_BITS - 1),
            "counts_mask": sql.Literal(2 ** (2 * COUNT_BITS) - 1),
            "b": sql.Literal(BM25_B),
            "k1": sql.Literal(BM25_K1),
        }
        statement = _STATISTICS_ONLY if self.limit == 0 else _STATISTICS_AND_CANDIDATES
        return sql.SQL(statement).format(**names), values

    def answer(self, rows: Sequence[TupleRow]) -> LexicalCandidates:
        """Return the answer that the rows of the statement hold, ranked by the exact rule. Spec: LEX-5."""
        n_docs, total, frequencies = rows[0][:3]
        stats = CorpusStats(n_docs, total, dict(zip(self.distinct, frequencies, strict=True)))
        # Without a candidate the statistics stand in a row alone.
        proposed = [self._candidate(row[3:]) for row in rows if row[3] is not None]
        ranked = rank_chunks(self.terms, LexicalCandidates(stats, proposed), self.limit)
        by_chunk = {id(candidate.chunk): candidate for candidate in proposed}
        return LexicalCandidates(stats, [by_chunk[id(each.chunk)] for each in ranked])

    def _candidate(self, row: TupleRow) -> LexicalCandidate:
        numbers, counts, *chunk = row
        mask = 2**COUNT_BITS - 1
        found = {
            self.distinct[number - 1]: packed >> COUNT_BITS
            for number, packed in zip(numbers, counts, strict=True)
        }
        return LexicalCandidate(to_chunk(self.tenant_id, tuple(chunk)), counts[0] & mask, found)


# float8 throughout: a decimal literal would drag every product into numeric, at three times the price.
_STATISTICS = """
WITH asked AS (
    SELECT * FROM unnest(%(terms)s::text[], %(repeats)s::integer[]) WITH ORDINALITY AS q(term, repeats, number)
), found AS MATERIALIZED (
    SELECT asked.number, p.block, p.postings FROM asked
    JOIN {postings} AS p ON p.tenant_id = %(tenant)s AND p.term = asked.term COLLATE "C"
), totals AS (
    SELECT coalesce(sum(chunks), 0)::bigint AS n_docs, coalesce(sum(terms), 0)::bigint AS total
    FROM {blocks} WHERE tenant_id = %(tenant)s
), frequencies AS MATERIALIZED (
    SELECT asked.number, asked.repeats, coalesce(sum(cardinality(found.postings)), 0)::bigint AS df
    FROM asked LEFT JOIN found USING (number) GROUP BY asked.number, asked.repeats
)
"""

_STATISTICS_ONLY = f"""{_STATISTICS}
SELECT n_docs, total, (SELECT array_agg(df ORDER BY number) FROM frequencies), NULL FROM totals
"""

_STATISTICS_AND_CANDIDATES = f"""{_STATISTICS}, weights AS MATERIALIZED (
    SELECT number, repeats * ln(1::float8 + (n_docs - df + 0.5::float8) / (df + 0.5::float8)) AS weight,
           total::float8 / n_docs AS average
    FROM frequencies, totals WHERE df > 0
), scored AS MATERIALIZED (
    SELECT (found.block << {{slot_bits}}) | (posting >> {{slot_shift}}) AS place,
           sum(weight * (((posting >> {{count_shift}}) & {{count_mask}})::float8
               / (((posting >> {{count_shift}}) & {{count_mask}})::float8
                  + {{k1}}::float8 * (1::float8 - {{b}}::float8
                                      + {{b}}::float8 * ((posting & {{count_mask}})::float8 / average))))) AS score
    FROM found JOIN weights USING (number), unnest(found.postings) AS posting
    GROUP BY 1
), near AS MATERIALIZED (
    SELECT place FROM scored
    WHERE score >= %(kept)s
          * coalesce((SELECT score FROM scored ORDER BY score DESC OFFSET %(limit)s - 1 LIMIT 1), 0)
), detailed AS (
    SELECT (found.block << {{slot_bits}}) | (posting >> {{slot_shift}}) AS place,
           array_agg(number ORDER BY number) AS numbers,
           array_agg(posting & {{counts_mask}} ORDER BY number) AS counts
    FROM found, unnest(found.postings) AS posting
    WHERE found.block IN (SELECT place >> {{slot_bits}} FROM near)
      AND (found.block << {{slot_bits}}) | (posting >> {{slot_shift}}) IN (SELECT place FROM near)
    GROUP BY 1
), numbered AS (
    -- The same counts give the same score: of those, the first by id are enough.
    SELECT c.id, numbers, counts,
           row_number() OVER (PARTITION BY numbers, counts ORDER BY c.id COLLATE "C") AS n
    FROM detailed JOIN {{chunks}} AS c ON c.tenant_id = %(tenant)s
     AND c.lexical_block = place >> {{slot_bits}} AND c.lexical_slot = place & {{slot_mask}}
)
SELECT n_docs, total, (SELECT array_agg(df ORDER BY number) FROM frequencies), numbers, counts, {{columns}}
FROM totals LEFT JOIN (
    numbered JOIN {{chunks}} AS c ON c.tenant_id = %(tenant)s AND c.id = numbered.id AND n <= %(limit)s
) ON TRUE
"""
