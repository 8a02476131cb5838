"""Thousands of equal and almost equal scores at the cut: the answers stay exact, and few rows are fetched."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from uuid import UUID

import pytest

from redstring_pg.nearest import SLACK
from redstring_ref.domain import EntityId, StoredChunk, VectorRecord, as_vector, score
from redstring_ref.domain.terms import tokenize
from redstring_ref.memory import InMemoryChunkStore, InMemoryVectorStore
from tests.pg import support
from tests.pg.answers import Call, assert_same_answers, call
from tests.pg.hurts import Vector, base, nudged, scaled
from tests.support import TENANT, make_chunk

CROWD = 3_000
LIMITS = [1, 10, CROWD - 1, CROWD, CROWD + 1]
DIMENSION = 8
QUERY = base(DIMENSION, 0)
TIED = base(DIMENSION, 1)
EXACT = score(QUERY, TIED)
# None, the tied score itself, and the next doubles on both sides of it.
THRESHOLDS = [None, EXACT, math.nextafter(EXACT, 2.0), math.nextafter(EXACT, -1.0)]


def around(vector: Vector) -> list[Vector]:
    """Return vectors of scores equal to this one's, or a step above or below: ten of each."""
    steps = [nudged(vector, *([0] * place), step) for place in range(4) for step in (1, -1)]
    return [*(steps * 10), *([scaled(vector, 2.0), scaled(vector, 0.25)] * 10)]


def few_vectors(dimension: int, seed: int) -> Iterator[Vector]:
    """Yield vectors of quite other scores."""
    return (base(dimension, seed + n) for n in range(30))


def crowd() -> list[StoredChunk]:
    """Return the tied vectors with those around them, in between, and others; ids come in any order."""
    vectors = [TIED] * CROWD
    for n, vector in enumerate([*around(TIED), *few_vectors(DIMENSION, 100)]):
        vectors.insert(n * 27, vector)
    return [
        make_chunk(f"n{n}", source_id=f"doc-{n % 7}", chunk_index=n, embedding=vector)
        for n, vector in enumerate(vectors)
    ]


def test_the_crowd_is_one() -> None:
    scores = [score(QUERY, as_vector(chunk.embedding)) for chunk in crowd()]
    assert scores.count(EXACT) >= CROWD + 20
    near = {each for each in scores if abs(each - EXACT) < 1e-6}
    assert min(near) < EXACT < max(near)
    ids = [chunk.id for chunk in crowd()]
    assert ids not in (sorted(ids), sorted(ids, reverse=True))


async def test_equal_vectors_at_the_cut_are_ranked_exactly(dsn: str, schema: str) -> None:
    calls = [call("upsert_many", crowd())]
    calls += [
        call("semantic_candidates", QUERY, TENANT, limit, min_score=threshold)
        for limit in [*LIMITS, CROWD + 70]
        for threshold in THRESHOLDS
    ]
    async with (
        InMemoryChunkStore(dimension=DIMENSION) as reference,
        support.chunk_store(dsn, schema, dimension=DIMENSION) as store,
    ):
        await assert_same_answers(reference, store, calls)


async def test_of_equal_vectors_no_more_than_the_limit_are_fetched(dsn: str, schema: str) -> None:
    async with support.chunk_store(dsn, schema, dimension=DIMENSION) as store:
        await store.upsert_many(crowd())
        reads = support.recorded_reads(store)
        for limit in LIMITS:
            for threshold in THRESHOLDS:
                reads.clear()
                await store.semantic_candidates(QUERY, TENANT, limit, min_score=threshold)
                assert len(reads) <= 2
                assert len(reads[0]) <= limit + SLACK
                # A row's vector comes second.
                assert max(Counter(row[1] for row in reads[-1]).values()) <= limit + SLACK * (len(reads) == 1)
                assert len(reads[-1]) <= limit * 11 + 30


async def test_a_single_best_of_thousands_of_equal_vectors_is_found_in_few_rows(
    dsn: str, schema: str
) -> None:
    chunks = [make_chunk(f"n{n}", chunk_index=n, embedding=TIED) for n in range(CROWD)]
    async with support.chunk_store(dsn, schema, dimension=DIMENSION) as store:
        await store.upsert_many(chunks)
        reads = support.recorded_reads(store)
        (best,) = await store.semantic_candidates(QUERY, TENANT, 1)
        assert best.chunk.id == min(chunk.id for chunk in chunks)
        assert [len(rows) for rows in reads] == [1 + SLACK, 1]


async def test_different_vectors_of_one_score_are_ranked_by_id(dsn: str, schema: str) -> None:
    # In one dimension every score is 0 or 1.
    chunks = [
        make_chunk(f"n{n}", chunk_index=n, embedding=[(-1.0) ** (n % 3 == 0) * (n + 1)]) for n in range(CROWD)
    ]
    calls = [call("upsert_many", chunks)]
    calls += [
        call("semantic_candidates", [sign * 0.1], TENANT, limit, min_score=threshold)
        for limit in (1, 10, 999, 1_000, 1_001, 2_000, CROWD)
        for sign, threshold in ((1, None), (-1, None), (1, 1.0), (-1, 0.0))
    ]
    async with (
        InMemoryChunkStore(dimension=1) as reference,
        support.chunk_store(dsn, schema, dimension=1) as store,
    ):
        await assert_same_answers(reference, store, calls)


# Words

TEXT = "tie order rank"


def passages(texts: Sequence[str], number: int = CROWD) -> list[StoredChunk]:
    """Return passages of as many sources, each with one of the texts in turn."""
    return [make_chunk(texts[n % len(texts)], source_id=f"doc-{n}") for n in range(number)]


def lexical_calls(queries: Sequence[Sequence[str]], limits: Sequence[int]) -> list[Call]:
    return [call("lexical_candidates", query, TENANT, limit) for query in queries for limit in limits]


async def test_equal_passages_at_the_cut_are_ranked_exactly(dsn: str, schema: str) -> None:
    others = [make_chunk(text) for text in ("tie tie order", "tie order rank x", "order", "tie " * 40, "x")]
    calls = [call("upsert_many", [*passages([TEXT]), *others])]
    calls += lexical_calls([["tie"], ["tie", "order", "tie"], ["rank", "x"]], LIMITS)
    async with InMemoryChunkStore(dimension=2) as reference, support.chunk_store(dsn, schema) as store:
        await assert_same_answers(reference, store, calls)


# The same three weights in every order: equal by the rule, and not always by a float8 sum.
ORDERS = [
    " ".join([*["tie"] * first, *["order"] * second, *["rank"] * third])
    for first, second, third in permutations((1, 2, 5))
]


async def test_passages_of_equal_scores_and_different_counts_are_ranked_by_id(dsn: str, schema: str) -> None:
    calls = [call("upsert_many", passages(ORDERS))]
    queries = [["tie", "order", "rank"], ["rank", "tie", "order"] * 3, ["tie", "order"], ["rank"]]
    calls += lexical_calls(queries, [1, 10, 499, 500, 501, *LIMITS[2:]])
    async with InMemoryChunkStore(dimension=2) as reference, support.chunk_store(dsn, schema) as store:
        await assert_same_answers(reference, store, calls)


async def test_passages_of_almost_equal_scores_are_ranked_exactly(dsn: str, schema: str) -> None:
    # As many terms and as many of each, but for a passage or two: the frequencies differ by one in thousands.
    texts = [f"tie {word}" for word in ("order", "rank", "cut", "crowd")]
    chunks = [*passages(texts), *passages([TEXT], 3), make_chunk("rank"), make_chunk("cut cut crowd")]
    queries = [["order", "rank", "cut", "crowd"], ["crowd", "tie", "rank", "cut", "order"]]
    calls = [call("upsert_many", chunks), *lexical_calls(queries, [1, 10, 750, 751, 752, 1_501, *LIMITS[2:]])]
    async with InMemoryChunkStore(dimension=2) as reference, support.chunk_store(dsn, schema) as store:
        await assert_same_answers(reference, store, calls)


@pytest.mark.parametrize("texts", [[TEXT], ORDERS], ids=["one text", "six texts"])
async def test_of_passages_of_equal_counts_no_more_than_the_limit_are_fetched(
    dsn: str, schema: str, texts: list[str]
) -> None:
    terms = tokenize(TEXT)
    async with support.chunk_store(dsn, schema) as store:
        await store.upsert_many(passages(texts))
        reads = support.recorded_reads(store)
        for limit in LIMITS:
            reads.clear()
            await store.lexical_candidates(terms, TENANT, limit)
            assert len(reads) <= 2
            assert len(reads[0]) <= limit + SLACK
            if len(reads) == 2:
                # Of a row, the text comes after the statistics, the score, the id and the source.
                assert max(Counter(row[6] for row in reads[1]).values()) <= limit


# Entities


def entity(number: int) -> EntityId:
    """Return ids whose order is not that of the numbers."""
    return EntityId(UUID(int=(number * 2_654_435_761 % 2**32) << 96 | number))


async def test_equal_entity_vectors_at_the_cut_are_ranked_exactly(dsn: str, schema: str) -> None:
    vectors = [TIED] * CROWD
    for n, vector in enumerate([*around(TIED), *few_vectors(DIMENSION, 100)]):
        vectors.insert(n * 27, vector)
    records = [
        VectorRecord(TENANT, entity(n), vector, {"entity_type": "even" if n % 2 == 0 else "odd"})
        for n, vector in enumerate(vectors)
    ]
    calls = [call("upsert_many", records)]
    calls += [
        call("search", QUERY, TENANT, k=k, min_score=threshold) for k in LIMITS for threshold in THRESHOLDS
    ]
    calls += [
        call("search", QUERY, TENANT, k=k, entity_types=["odd"], min_score=EXACT)
        for k in (1, 10, 1_499, CROWD)
    ]
    async with (
        InMemoryVectorStore(dimension=DIMENSION) as reference,
        support.vector_store(dsn, schema, dimension=DIMENSION) as store,
    ):
        await assert_same_answers(reference, store, calls)
        reads = support.recorded_reads(store)
        for k in LIMITS:
            reads.clear()
            await store.search(QUERY, TENANT, k=k)
            assert len(reads) <= 2
            assert len(reads[0]) <= k + SLACK
            if len(reads) == 2:
                assert max(Counter(row[1] for row in reads[1]).values()) <= k


# The ordinary case


async def test_without_a_crowd_one_statement_is_enough(dsn: str, schema: str) -> None:
    vectors = [base(64, n) for n in range(500)]
    words = ["tie", "order", "rank", "cut"]
    texts = [f"n{n} " + " ".join(words[: n % 5]) * (1 + n % 90) for n in range(500)]
    chunks = [
        make_chunk(text, chunk_index=n, embedding=vector)
        for n, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    async with (
        support.chunk_store(dsn, schema, dimension=64) as store,
        support.vector_store(dsn, schema, dimension=64) as entities,
    ):
        await store.upsert_many(chunks)
        await entities.upsert_many(
            VectorRecord(TENANT, entity(n), vector) for n, vector in enumerate(vectors)
        )
        of_chunks, of_entities = support.recorded_reads(store), support.recorded_reads(entities)
        for limit in (1, 10, 100, 490, 500, 501):
            of_chunks.clear()
            of_entities.clear()
            await store.semantic_candidates(base(64, 1_000), TENANT, limit)
            await store.semantic_candidates(base(64, 1_000), TENANT, limit, min_score=0.5)
            await store.lexical_candidates(["tie", "rank"], TENANT, min(limit, 10))
            await entities.search(base(64, 1_000), TENANT, k=limit)
            assert len(of_chunks) == 3
            assert len(of_entities) == 1
