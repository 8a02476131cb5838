"""The proofs of the proposals: measured on a server, SQL's scores lie within the stated bounds.

A superset is only proven if the bound holds for every vector and every query: here are those that
make float32 sums drift, cancel and vanish, and passages and queries that make BM25's sums long.
"""

import math
from collections.abc import AsyncIterator, Iterator, Sequence
from random import Random
from typing import TypeAlias

import psycopg
import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg import PostgresChunkStore, encoding
from redstring_pg.lexical import relative_error_bound
from redstring_pg.nearest import score_error_bound
from redstring_pg.schema import VectorType
from redstring_ref.domain import CorpusStats, InvalidVectorError, as_vector, score
from redstring_ref.domain.bm25 import bm25_score
from redstring_ref.domain.terms import tokenize
from tests.pg import support
from tests.pg.hurts import Vector, axis, base, huge, jittered, nudged, tiny, variants
from tests.support import TENANT, make_chunk

Connection: TypeAlias = psycopg.Connection[TupleRow]
DIMENSIONS = [1, 2, 3, 8, 64, 384, 1536, 16_000]

# Vectors


@pytest.fixture(scope="module")
def connection(dsn: str) -> Iterator[Connection]:
    """Yield a connection to a database that has pgvector."""
    with psycopg.connect(dsn) as opened:
        opened.execute("CREATE EXTENSION IF NOT EXISTS vector")
        opened.commit()
        yield opened


def pgvector(connection: Connection) -> VectorType:
    query = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    (row,) = connection.execute(query).fetchall()
    return VectorType(row[0])


def sql_scores(
    connection: Connection, queries: Sequence[Vector], vectors: Sequence[Vector]
) -> list[list[float]]:
    """Return the stores' one similarity expression of each query with each vector."""
    vector = pgvector(connection)
    read = sql.SQL("SELECT {} FROM given ORDER BY n").format(vector.similarity())
    cursor = connection.cursor()
    try:
        make = sql.SQL("CREATE TEMP TABLE given (n integer, embedding {})").format(vector.name)
        cursor.execute(make)
        with cursor.copy("COPY given FROM STDIN (FORMAT binary)") as copy:
            copy.write(encoding.COPY_HEADER)
            for n, each in enumerate(vectors):
                copy.write(encoding.copy_row([encoding.int4(n), encoding.vector(each)]))
            copy.write(encoding.COPY_TRAILER)
        texts = map(encoding.vector_text, queries)
        return [[row[0] for row in cursor.execute(read, {"query": text})] for text in texts]
    finally:
        connection.rollback()


def shares(connection: Connection, queries: Sequence[Vector], vectors: Sequence[Vector]) -> list[float]:
    """Return the error of each score of SQL's, as a share of the bound."""
    bound = score_error_bound(len(queries[0]))
    return [
        abs(found - score(query, vector)) / bound
        for query, row in zip(queries, sql_scores(connection, queries, vectors), strict=True)
        for vector, found in zip(vectors, row, strict=True)
    ]


def repeated(dimension: int, *values: float) -> Vector:
    """Return a float32 vector that repeats these values."""
    return as_vector([values[n % len(values)] for n in range(dimension)])


def drifting(dimension: int) -> list[Vector]:
    """Return vectors of one component: every addition rounds the same way."""
    values = [1.0, 0.1, 1 / 3, 0.7, math.sqrt(0.5), 1.0 + 2.0**-23, 1.0 - 2.0**-24, 1.4142134, 1.9999999]
    return [repeated(dimension, value) for value in values] + [repeated(dimension, -0.1)]


def vanishing(dimension: int) -> list[Vector]:
    """Return vectors whose tail is lost, component by component, beside their head, whatever the lanes."""
    tails = [0.999 * 2.0**-12, 1.001 * 2.0**-12, 0.7 * 2.0**-12]
    return [
        as_vector([1.0] * min(head, dimension) + [tail] * (dimension - head))
        for head in (1, 4, 8, 16, 32)
        for tail in tails
    ]


def alternating(dimension: int) -> list[Vector]:
    """Return vectors of large and tiny components in turn."""
    pairs = [(1.0, 2.0**-12), (2.0**20, 2.0**-20), (2.0**40, 2.0**-40), (1.0, -1.0), (2.0**12, -0.3)]
    return [repeated(dimension, *pair) for pair in pairs] + [repeated(dimension, 2.0**-12, 1.0, -1.0)]


def cancelling(dimension: int) -> list[Vector]:
    """Return vectors that are almost orthogonal to a constant, by sums that cancel."""
    half = dimension // 2
    blocks = as_vector([*[0.1] * half, *[-0.1] * half, *[1.0] * (dimension - 2 * half)])
    pairs = repeated(dimension, 0.7, -0.7)
    return [blocks, pairs, nudged(pairs, 1), repeated(dimension, 3.3, -1.1, -1.1, -1.1)]


def extreme(dimension: int) -> list[Vector]:
    """Return vectors at both ends of the norms, and of which products are below float32's normal range."""
    ends = [huge(base(dimension)), tiny(base(dimension)), huge(repeated(dimension, 0.1))]
    ends += [axis(dimension, 2.0**50), axis(dimension, -(2.0**-50)), axis(dimension, 2.0**-50, position=1)]
    for exponent in (-76, -75, -74, -63, -99, -120):
        tail = [2.0**exponent * 1.3] * (dimension - 1)
        ends += [as_vector([2.0**-49, *tail]), as_vector([*tail, 2.0**-49])]
    return [*ends, tiny(repeated(dimension, 1 / 3)), as_vector([*[2.0**-149] * (dimension - 1), 2.0**-49])]


def near(dimension: int) -> list[Vector]:
    """Return vectors that are one float32 step apart, in one component or in all."""
    around = base(dimension, 5)
    return [around, nudged(around, 1), nudged(around, -1), nudged(around, 0, 1), jittered(around, 3)]


def random(dimension: int) -> list[Vector]:
    """Return random vectors of all magnitudes."""
    draw = Random(dimension)  # noqa: S311 (pinned, no secret)
    spread = [
        as_vector([draw.choice((-1, 1)) * 2.0 ** draw.uniform(-40, 20) for _ in range(dimension)])
        for _ in range(2)
    ]
    positive = as_vector([draw.uniform(0.5, 1.0) for _ in range(dimension)])
    return [*spread, positive, *variants(dimension)[:2]]


KINDS = [drifting, vanishing, alternating, cancelling, extreme, near, random]


def adversarial(dimension: int) -> list[Vector]:
    return [vector for kind in KINDS for vector in kind(dimension)]


def test_the_bound_on_vectors_is_that_of_the_rule() -> None:
    for dimension in DIMENSIONS:
        assert score_error_bound(dimension) == (2 * dimension + 8) * 2.0**-24


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_sql_scores_of_adversarial_vectors_lie_within_the_bound(
    connection: Connection, dimension: int
) -> None:
    vectors = adversarial(dimension)
    # Of the wide ones, a few of each kind against all.
    queries = vectors if dimension < 1_000 else [kind(dimension)[n] for kind in KINDS for n in (0, 1)]
    if dimension > 10_000:
        queries = queries[::2]
    found = shares(connection, queries, vectors)
    assert len(found) == len(queries) * len(vectors)
    assert max(found) <= 1.0
    # So an error is measured, and not nothing.
    assert max(found) > 0.001


def test_adversarial_vectors_use_more_than_a_hundredth_of_the_bound(connection: Connection) -> None:
    for dimension in (1, 2, 3, 8, 64):
        vectors = adversarial(dimension)
        assert max(shares(connection, vectors, vectors)) > 0.01


components = st.floats(-(2.0**48), 2.0**48, width=32)


def valid(vector: Vector) -> bool:
    try:
        return bool(as_vector(vector))
    except InvalidVectorError:
        return False


@pytest.mark.drawn
@given(
    st.sampled_from([1, 2, 3, 8]).flatmap(
        lambda dimension: st.lists(
            st.lists(components, min_size=dimension, max_size=dimension).filter(valid), min_size=1, max_size=6
        )
    )
)
@settings(deadline=None)
def test_sql_scores_of_any_vectors_lie_within_the_bound(
    connection: Connection, vectors: list[Vector]
) -> None:
    assert max(shares(connection, vectors, vectors)) <= 1.0


# BM25

Corpus: TypeAlias = Sequence[str]


def staircase(number: int) -> Corpus:
    """Return passages of which term n is in n + 1, once, twice, three times, and so on around."""
    return [
        " ".join(f"t{n} " * (1 + (n + position) % 5) for n in range(position, number)) + f" own{position}"
        for position in range(number)
    ]


def uneven() -> Corpus:
    """Return passages of 1 to 300,000 terms."""
    long = "t0 " * 200_000 + "t1 t2 " * 50_000
    return [long, "t0", "t1 t2", "t0 t1 " * 5_000 + "t2", *[f"t0 x{n}" for n in range(20)], "", "..."]


async def lexical_shares(
    store: PostgresChunkStore, corpus: Corpus, queries: Sequence[Sequence[str]]
) -> list[float]:
    """Return the error of each score of SQL's, as a share of the bound, on a store of this corpus alone."""
    await store.delete_by_tenant(TENANT)
    chunks = {each.id: each for each in (make_chunk(text, chunk_index=n) for n, text in enumerate(corpus))}
    await store.upsert_many(chunks.values())
    terms = {key: tokenize(each.text) for key, each in chunks.items()}
    found: list[float] = []
    reads = support.recorded_reads(store)
    for query in queries:
        reads.clear()
        answer = await store.lexical_candidates(query, TENANT, len(corpus))
        (rows,) = reads
        frequencies = {term: sum(term in counted for counted in map(set, terms.values())) for term in query}
        total = sum(map(len, terms.values()))
        assert answer.stats == CorpusStats(len(chunks), total, frequencies)
        bound = relative_error_bound(len(query))
        # Of a row: the statistics, the score, the id. Without a candidate, the statistics alone.
        for proposed, key in ((row[3], row[4]) for row in rows if row[4] is not None):
            counts = {term: terms[key].count(term) for term in set(query)}
            exact = bm25_score(query, counts, len(terms[key]), answer.stats)
            found.append(abs(proposed - exact) / (exact * bound))
    return found


def test_the_bound_on_bm25_is_that_of_the_rule() -> None:
    for terms in (1, 2, 200):
        assert relative_error_bound(terms) == (2 * terms + 32) * 2.0**-53


async def test_sql_scores_of_bm25_lie_within_the_bound_for_1_to_200_terms(dsn: str, schema: str) -> None:
    everything = [f"t{n}" for n in range(60)]
    queries = [everything[:length] for length in (1, 2, 3, 10, 30, 60)]
    queries += [["t0"], ["t59"], ["t0", "t59"] * 50, ["t0"] * 200, (everything * 4)[:200]]
    queries += [[*everything[::7], "absent", "own3"] * 3, ["own0", *["t58"] * 199], ["absent"]]
    async with support.chunk_store(dsn, schema) as store:
        found = await lexical_shares(store, staircase(60), queries)
    assert len(found) == 404
    assert 0.01 < max(found) <= 1.0


async def test_sql_scores_of_bm25_lie_within_the_bound_for_very_long_passages(dsn: str, schema: str) -> None:
    queries = [["t0"], ["t1"], ["t2", "t0", "t1"], ["t0", "t1", "t2", "x1"] * 50, ["x1"]]
    async with support.chunk_store(dsn, schema) as store:
        found = await lexical_shares(store, uneven(), queries)
    assert len(found) > 50
    assert 0.01 < max(found) <= 1.0


async def test_sql_scores_of_bm25_lie_within_the_bound_for_a_corpus_of_one_passage(
    dsn: str, schema: str
) -> None:
    queries = [["t0"], ["t0", "t1"], ["t0"] * 200]
    async with support.chunk_store(dsn, schema) as store:
        for text in ("t0", "t0 t1 t1", "t0 " * 1_000):
            found = await lexical_shares(store, [text], queries)
            assert len(found) == 3
            assert max(found) <= 1.0


passages = st.lists(st.sampled_from(["t0", "t1", "t2", "x", "y", "t0 t0 t0"]), max_size=30).map(" ".join)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_store(dsn: str) -> AsyncIterator[PostgresChunkStore]:
    """Yield one store for all drawn corpora."""
    async with support.connected(dsn) as connection:
        await connection.execute("CREATE SCHEMA drawn_bounds")
        async with support.chunk_store(dsn, "drawn_bounds") as store:
            yield store
        await connection.execute("DROP SCHEMA drawn_bounds CASCADE")


@pytest.mark.drawn
@pytest.mark.asyncio(loop_scope="module")
@given(
    st.lists(passages, min_size=1, max_size=20),
    st.lists(st.sampled_from(["t0", "t1", "t2", "x", "absent"]), min_size=1, max_size=200),
)
@settings(deadline=None, max_examples=40)
async def test_sql_scores_of_bm25_lie_within_the_bound_for_any_corpus(
    shared_store: PostgresChunkStore, corpus: list[str], query: list[str]
) -> None:
    assert max(await lexical_shares(shared_store, corpus, [query]), default=0.0) <= 1.0
