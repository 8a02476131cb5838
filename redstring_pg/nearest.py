"""The nearest rows to a query vector: SQL proposes a proven superset, the domain's rule ranks it.

Spec: PG-6, VEC-6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg.encoding import vector_components, vector_text
from redstring_pg.names import Table, quoted
from redstring_pg.schema import VectorType
from redstring_ref.domain import rank_vectors
from redstring_ref.domain.vectors import FLOAT32_ROUNDOFF

# How many rows beyond the limit a first statement brings: if they reach down to below what could
# still be in the answer, the answer is complete.
SLACK = 16

# LIMIT takes a bigint; no table has so many rows.
MAX_LIMIT = 2**62


def score_error_bound(dimension: int) -> float:
    """Return how far pgvector's score, `1 - (a <=> b) / 2`, may lie from the exact rule's.

    pgvector adds the dot product and both squared norms up in float32, in an order that depends
    on the machine. Each of the three sums is off by at most `n·u` of `|a|·|b|`, its own norm
    squared, for the roundings (Higham, Accuracy and Stability of Numerical Algorithms, section
    3.1), and by `n·u / 4` for products below float32's normal range, since no norm is below
    2**-50. The square root halves the two norms' shares: `2.5·n·u` on the cosine, to first order;
    `(4·n + 16)·u` leaves room for the higher orders (`n·u` is below 1/1000) and the divisions.
    A score is half a cosine.

    Spec: PG-6.
    """
    return (4 * dimension + 16) * FLOAT32_ROUNDOFF / 2.0


@dataclass(frozen=True, slots=True)
class Nearest:
    """One question to one table `c`: which rows are nearest to the query, and what is read of them.

    `key` is the column that breaks ties, `order` the expression that it is ordered by, `columns`
    what else is selected, after the key and the vector; `condition` keeps a part of the tenant's
    rows, with `parameters`.
    """

    table: Table
    vector: VectorType
    tenant_id: object
    query: Sequence[float]
    limit: int
    min_score: float | None
    key: str
    order: sql.Composable
    columns: sql.Composable
    condition: sql.Composable = field(default_factory=lambda: sql.SQL("TRUE"))
    parameters: Mapping[str, object] = field(default_factory=dict)

    def first(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings the answer and a little more, and its parameters."""
        return self._filled(_FIRST), self._values(limit=min(self.limit + SLACK, MAX_LIMIT))

    def all_near(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings all within reach of the cut, of equal vectors the first by key."""
        return self._filled(_ALL_NEAR), self._values(
            limit=min(self.limit, MAX_LIMIT), reach=2.0 * self._error
        )

    def is_complete(self, rows: Sequence[TupleRow]) -> bool:
        """Tell whether `first` left out no row that may be in the answer; rows end with their SQL score."""
        if len(rows) < self.limit + SLACK:
            return True
        return bool(rows[self.limit - 1][-1] - rows[-1][-1] > 2.0 * self._error)

    def ranked(self, rows: Sequence[TupleRow]) -> list[tuple[TupleRow, float]]:
        """Return the answer's rows, best first, with their exact scores. Spec: VEC-4, ORD-1 to ORD-3."""
        by_key = {str(row[0]): row for row in self._within_reach(rows)}
        vectors = ((key, vector_components(row[1])) for key, row in by_key.items())
        return [
            (by_key[key], score)
            for key, score in rank_vectors(self.query, vectors, self.limit, self.min_score)
        ]

    def _within_reach(self, rows: Sequence[TupleRow]) -> Sequence[TupleRow]:
        """Return the rows that may be in the answer; those of `all_near` all may, and have no score."""
        if len(rows) <= self.limit or rows[0][-1] is None:
            return rows
        lowest = rows[self.limit - 1][-1] - 2.0 * self._error
        return [row for row in rows if row[-1] >= lowest]

    @property
    def _error(self) -> float:
        return score_error_bound(len(self.query))

    def _filled(self, parts: Sequence[str]) -> sql.Composed:
        return sql.SQL("".join(parts)).format(
            table=self.table.identifier,
            key=quoted(self.key),
            order=self.order,
            similarity=self.vector.similarity(),
            columns=self.columns,
            embedding=self.vector.sent(quoted("c", "embedding")),
            condition=self.condition,
            threshold=sql.SQL("TRUE" if self.min_score is None else "score >= %(floor)s"),
        )

    def _values(self, **own: object) -> dict[str, object]:
        floor = None if self.min_score is None else self.min_score - self._error
        query = vector_text(self.query)
        return {"tenant": self.tenant_id, "query": query, "floor": floor, **self.parameters, **own}


# OFFSET 0 keeps the distance from being computed once to compare and once more to sort. A row is
# named by its place in the table: within one statement that is exact, and cheaper than its key.
_SCORED = """
    SELECT place, score FROM (
        SELECT ctid AS place, {similarity} AS score FROM {table}
        WHERE tenant_id = %(tenant)s AND embedding IS NOT NULL AND {condition} OFFSET 0
    ) AS every WHERE {threshold}
"""

_FIRST = (
    "WITH near AS (",
    _SCORED,
    """ORDER BY score DESC LIMIT %(limit)s)
SELECT c.{key}, {embedding}, {columns}, near.score
FROM near JOIN {table} AS c ON c.ctid = near.place AND c.tenant_id = %(tenant)s ORDER BY near.score DESC
""",
)

_ALL_NEAR = (
    "WITH scored AS MATERIALIZED (",
    _SCORED,
    """), cut AS (
    SELECT score FROM scored ORDER BY score DESC OFFSET %(limit)s - 1 LIMIT 1
), numbered AS (
    SELECT c.ctid AS place, row_number() OVER (PARTITION BY c.embedding ORDER BY {order}) AS n
    FROM scored JOIN {table} AS c ON c.ctid = scored.place AND c.tenant_id = %(tenant)s
    WHERE score >= coalesce((SELECT score FROM cut), '-infinity') - %(reach)s
)
SELECT c.{key}, {embedding}, {columns}, NULL
FROM numbered JOIN {table} AS c ON c.ctid = numbered.place AND c.tenant_id = %(tenant)s WHERE n <= %(limit)s
""",
)
