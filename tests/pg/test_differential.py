"""Both adapters give the same answers: ids, order, doubles, whole values, errors and their messages.

The pinned sequences meet every hurt at least once; the drawn ones mix them. 200 sequences for
each store are drawn, 2,000 where the environment says REDSTRING_NIGHTLY=1.
"""

import math
import os
from collections.abc import AsyncIterator, Iterator
from itertools import permutations
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import EntityId, VectorRecord, as_vector, score
from redstring_ref.memory import InMemoryChunkStore, InMemoryVectorStore
from tests.pg import support
from tests.pg.answers import Call, Once, assert_same_answers, call
from tests.pg.hurts import (
    BAD_ENTITIES,
    BAD_IDS,
    BAD_LIMITS,
    BAD_MIN_SCORES,
    BAD_SOURCES,
    BAD_TENANTS,
    BAD_TERMS,
    DIMENSIONS,
    ENTITIES,
    LIMITS,
    LONG_TOKEN,
    METADATA,
    MIN_SCORES,
    SOURCES,
    TERMS,
    TEXTS,
    bad_vectors,
    base,
    huge,
    jittered,
    made_invalid,
    nudged,
    scaled,
    tiny,
    variants,
)
from tests.pg.strategies import TENANTS, bad_records, chunk_calls, vector_calls
from tests.support import OTHER_TENANT, TENANT, make_chunk

EXAMPLES = 2_000 if os.environ.get("REDSTRING_NIGHTLY") == "1" else 200
ALL = 10_000


def audit(dimension: int) -> Iterator[Call]:
    """Yield reads that together show everything that a chunk store holds."""
    for tenant in TENANTS:
        yield from (call("get_by_source", source, tenant) for source in SOURCES)
        yield from (call("get_by_entity", entity, tenant) for entity in ENTITIES)
        yield from (call("lexical_candidates", TERMS, tenant, limit) for limit in (0, 1, 3, ALL))
        yield from (call("semantic_candidates", base(dimension, 1), tenant, limit) for limit in (1, 3, ALL))


def brief_audit(dimension: int) -> Iterator[Call]:
    """Yield fewer of them: what is not read by its key shows in the statistics and in the scan."""
    for tenant in TENANTS:
        yield from (call("get_by_source", source, tenant) for source in SOURCES[:3])
        yield call("get_by_entity", ENTITIES[0], tenant)
        yield from (call("lexical_candidates", TERMS[:-1], tenant, limit) for limit in (2, ALL))
        yield call("semantic_candidates", base(dimension, 1), tenant, ALL)


def cuts(count: int) -> list[int]:
    """Return the limits around `count`, and the ends."""
    return [0, 1, 2, count - 1, count, count + 1, 2**70]


async def compare_chunks(home: tuple[str, str], dimension: int, calls: list[Call]) -> None:
    async with (
        InMemoryChunkStore(dimension=dimension) as reference,
        support.chunk_store(*home, dimension=dimension) as adapter,
    ):
        await assert_same_answers(reference, adapter, [*calls, *audit(dimension)])


async def compare_vectors(home: tuple[str, str], dimension: int, calls: list[Call]) -> None:
    async with (
        InMemoryVectorStore(dimension=dimension) as reference,
        support.vector_store(*home, dimension=dimension) as adapter,
    ):
        await assert_same_answers(reference, adapter, calls)


@pytest.fixture
def home(dsn: str, schema: str) -> tuple[str, str]:
    return dsn, schema


def embedded(vectors: list[list[float]], name: str = "tie") -> Call:
    return call(
        "upsert_many", [make_chunk(f"{name} {n}", embedding=vector) for n, vector in enumerate(vectors)]
    )


@pytest.mark.parametrize("dimension", DIMENSIONS)
async def test_every_variant_against_every_variant_at_every_cut(
    home: tuple[str, str], dimension: int
) -> None:
    pool = variants(dimension)
    calls = [embedded(pool), embedded(pool[:4], "again")]
    for query in pool:
        calls += [call("semantic_candidates", query, TENANT, limit) for limit in (1, 5)]
    for query in pool[:: 1 if dimension < 1000 else 6]:
        calls += [call("semantic_candidates", query, TENANT, limit) for limit in (len(pool) + 3, 2**70)]
    calls += [call("semantic_candidates", pool[0], TENANT, limit) for limit in cuts(len(pool) + 4)]
    await compare_chunks(home, dimension, calls)


@pytest.mark.parametrize("dimension", DIMENSIONS)
async def test_a_threshold_that_is_an_exact_score_or_its_neighbour(
    home: tuple[str, str], dimension: int
) -> None:
    pool = variants(dimension)
    query = base(dimension, 1)
    calls = [embedded(pool)]
    for n, vector in enumerate(pool):
        exact = score(query, vector)
        for min_score in (exact, math.nextafter(exact, 2.0), math.nextafter(exact, -1.0)):
            limit = ALL if dimension < 1000 or n % 6 == 0 else 2
            calls.append(call("semantic_candidates", query, TENANT, limit, min_score=min_score))
    calls += [call("semantic_candidates", query, TENANT, 3, min_score=min_score) for min_score in MIN_SCORES]
    await compare_chunks(home, dimension, calls)


@pytest.mark.parametrize("size", [lambda vector: vector, tiny, huge], ids=["plain", "tiny", "huge"])
@pytest.mark.parametrize("dimension", [2, 3, 64, 1536])
async def test_near_ties_that_float32_cannot_tell_apart(
    home: tuple[str, str], dimension: int, size: Any
) -> None:
    vector = base(dimension)
    count = 120 if dimension < 1000 else 40
    near = [size(jittered(vector, seed)) for seed in range(count)]
    query = size(nudged(vector, 2, -3))
    calls = [embedded(near)]
    for limit in [1, 2, 10, count // 2, count - 2, count - 1, count]:
        calls.append(call("semantic_candidates", query, TENANT, limit))
        calls.append(call("semantic_candidates", scaled(query, -1.0), TENANT, limit))
    middle = sorted(score(query, each) for each in near)[count // 2]
    calls.append(call("semantic_candidates", query, TENANT, 30, min_score=middle))
    await compare_chunks(home, dimension, calls)


async def test_near_ties_around_a_right_angle(home: tuple[str, str]) -> None:
    # Products that cancel: a float32 sum loses what the order hangs on.
    query = [1.0] * 64
    vectors = [
        [*([2.0**exponent, -(2.0**exponent)] * 31), 2.0**-20 * step, 2.0**-30 * other]
        for exponent in (0, 12)
        for step in range(-3, 4)
        for other in range(-3, 4)
    ]
    calls = [embedded(vectors)]
    calls += [call("semantic_candidates", query, TENANT, limit) for limit in range(0, 100, 7)]
    calls += [call("semantic_candidates", query, TENANT, limit, min_score=0.5) for limit in (1, 49, 98)]
    await compare_chunks(home, 64, calls)


@pytest.mark.parametrize("dimension", [3, 1536])
async def test_thousands_of_equal_vectors_at_the_cut(home: tuple[str, str], dimension: int) -> None:
    count = 3_000 if dimension == 3 else 400
    vector = base(dimension)
    boilerplate = [make_chunk(f"boilerplate {n}", embedding=vector) for n in range(count)]
    others = [
        make_chunk(f"other {n}", source_id="doc-2", embedding=each)
        for n, each in enumerate(
            [scaled(vector, 2.0), nudged(vector, 1), nudged(vector, -1), scaled(vector, 3.0)]
        )
    ]
    calls = [call("upsert_many", [*boilerplate, *others])]
    calls += [call("semantic_candidates", vector, TENANT, limit) for limit in [1, 5, 30, count + 3]]
    calls += [call("semantic_candidates", nudged(vector, 1), TENANT, limit) for limit in [1, 2, 4, 30]]
    calls += [call("semantic_candidates", vector, TENANT, 5, min_score=1.0)]
    await compare_chunks(home, dimension, calls)


async def test_every_text_under_every_source(home: tuple[str, str]) -> None:
    calls = []
    for source in SOURCES:
        batch = [make_chunk(text, source_id=source, chunk_index=n % 3) for n, text in enumerate(TEXTS)]
        calls.append(call("replace_source", source, TENANT, batch))
    calls += [
        call("lexical_candidates", [term], TENANT, limit) for term in TERMS for limit in (0, 1, 12, ALL)
    ]
    calls += [call("lexical_candidates", [*TERMS, *TERMS[::2]], TENANT, limit) for limit in cuts(220)]
    calls += [call("get", make_chunk(text, source_id=SOURCES[5]).id, TENANT) for text in TEXTS]
    calls += [call("delete_by_source", source, TENANT) for source in SOURCES[::2]]
    await compare_chunks(home, 2, calls)


async def test_one_token_of_a_hundred_thousand_characters_is_found_by_its_pieces(
    home: tuple[str, str],
) -> None:
    text = "".join(chr(ord("a") + n * 7 % 26) for n in range(100_000))
    calls = [
        call("upsert_many", [make_chunk(text), make_chunk(LONG_TOKEN, chunk_index=1)]),
        call("lexical_candidates", [text[:255], text[255:510], "x" * 255, "x" * 40, text], TENANT, 2),
        call("upsert_many", [make_chunk("word " * 30_000), make_chunk(" ".join(map(str, range(20_000))))]),
        call("lexical_candidates", ["word", "19999"], TENANT, 2),
    ]
    await compare_chunks(home, 2, calls)


@pytest.mark.parametrize("metadata", METADATA, ids=lambda metadata: ",".join(metadata)[:30])
async def test_metadata_of_every_kind(home: tuple[str, str], metadata: Any) -> None:
    chunk = make_chunk("tie", metadata=metadata, embedding=[1.0, 0.0], entity_ids=ENTITIES[:1])
    calls = [
        call("upsert_many", [chunk]),
        call("get", chunk.id, TENANT),
        call("lexical_candidates", ["tie"], TENANT, 1),
        call("semantic_candidates", [1.0, 0.0], TENANT, 1),
        call("replace_source", "doc-1", TENANT, [chunk]),
        call("get_by_source", "doc-1", TENANT),
        call("upsert_many", [make_chunk("tie")]),
    ]
    await compare_chunks(home, 2, calls)


async def test_bm25_scores_that_differ_in_their_last_bit_only(home: tuple[str, str]) -> None:
    # Many terms whose weights are added: a sum in another order is another double.
    words = [f"w{n}" for n in range(24)]
    batch = [
        make_chunk(" ".join(words[start:] + words[:start]), source_id=f"doc-{start % 5}", chunk_index=start)
        for start in range(24)
    ]
    batch += [make_chunk(" ".join(words[:n] + ["filler"] * (24 - n)), chunk_index=n) for n in range(24)]
    terms = [word for n, word in enumerate(words) for _ in range(1 + n % 3)]
    calls = [call("upsert_many", batch)]
    calls += [call("lexical_candidates", terms, TENANT, limit) for limit in range(0, 50, 3)]
    calls += [call("lexical_candidates", terms[::-1], TENANT, limit) for limit in range(0, 50, 5)]
    await compare_chunks(home, 2, calls)


async def test_bm25_ties_whose_weights_add_up_in_another_order(home: tuple[str, str]) -> None:
    # The same five weights, each time on other terms: one exact sum, and several of a plain addition.
    counts = list(permutations(range(1, 6)))
    batch = [
        make_chunk(
            " ".join(f"{word} " * count for word, count in zip("vwxyz", each, strict=True)), chunk_index=n
        )
        for n, each in enumerate(counts)
    ]
    calls = [call("upsert_many", batch)]
    calls += [
        call("lexical_candidates", list("vwxyz"), TENANT, limit) for limit in [1, 2, 10, 40, 90, *cuts(120)]
    ]
    calls += [call("lexical_candidates", list("zyxwvv"), TENANT, limit) for limit in (1, 10, 60)]
    await compare_chunks(home, 2, calls)


async def test_repeated_terms_count_before_the_cut(home: tuple[str, str]) -> None:
    batch = [make_chunk(f"tie n{n} {'filler ' * 3}", chunk_index=n) for n in range(60)]
    batch += [
        make_chunk(f"order order order order n{n}", source_id="doc-2", chunk_index=n) for n in range(60)
    ]
    asked = [["tie", "order"], ["tie", "order", "tie", "tie", "tie", "tie"]]
    calls = [call("upsert_many", batch)]
    calls += [
        call("lexical_candidates", terms, TENANT, limit) for terms in asked for limit in (1, 5, 30, 60, 61)
    ]
    await compare_chunks(home, 2, calls)


async def test_bm25_ties_are_cut_in_id_order(home: tuple[str, str]) -> None:
    batch = [make_chunk(f"tie n{n}", source_id=f"doc-{n % 7}") for n in range(300)]
    calls = [call("upsert_many", batch), *[call("lexical_candidates", ["tie"], TENANT, n) for n in cuts(300)]]
    calls.append(call("lexical_candidates", ["tie", "n7", "n250"], TENANT, 5))
    await compare_chunks(home, 2, calls)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 513])
async def test_a_source_of_many_passages_grows_shrinks_and_goes(home: tuple[str, str], count: int) -> None:
    def passages(first: int, last: int, **fields: Any) -> list[object]:
        return [make_chunk(f"tie n{n} m{n % 9}", chunk_index=n, **fields) for n in range(first, last)]

    ask = [
        call("lexical_candidates", ["tie", "n0", "m3", f"n{count - 1}"], TENANT, limit)
        for limit in (0, 3, ALL)
    ]
    calls = [
        call("replace_source", "doc-1", TENANT, passages(0, count)),
        *ask,
        call("replace_source", "doc-1", TENANT, passages(count // 2, count + 5)),
        *ask,
        call("upsert_many", passages(0, count // 3, metadata={"again": 1})),
        *ask,
        call("replace_source", "doc-1", TENANT, Once(tuple(passages(0, count)))),
        call("replace_source", "doc-1", TENANT, passages(0, 1)),
        *ask,
        call("upsert_many", passages(0, count, embedding=[1.0, 0.0])),
        call("delete_by_source", "doc-1", TENANT),
        *ask,
        call("upsert_many", passages(0, 3)),
        call("delete_by_tenant", TENANT),
        *ask,
    ]
    await compare_chunks(home, 2, calls)


async def test_the_last_write_wins_whole_whatever_wrote_it(home: tuple[str, str]) -> None:
    full = make_chunk("tie", chunk_index=3, entity_ids=ENTITIES, metadata={"a": 1}, embedding=[1.0, 0.0])
    bare, moved = make_chunk("tie"), make_chunk("tie", chunk_index=2**31 - 1, embedding=[0.0, 1.0])
    twin = make_chunk("tie", tenant_id=OTHER_TENANT, entity_ids=ENTITIES[1:], embedding=[-1.0, 0.0])
    reads = [call("get_by_entity", entity, TENANT) for entity in ENTITIES]
    reads += [call("semantic_candidates", [1.0, 0.0], TENANT, 9), call("get_by_source", "doc-1", TENANT)]
    calls = []
    for batch in ([full, twin], [bare], [full, bare, moved], [moved, full], [bare, twin, bare], []):
        calls += [call("upsert_many", batch), *reads]
    for batch in ([full], [full, moved], [], [bare, full, bare]):
        calls += [call("replace_source", "doc-1", TENANT, batch), *reads]
    await compare_chunks(home, 2, calls)


async def test_bad_chunks_are_refused_alike_wherever_they_stand(home: tuple[str, str]) -> None:
    good = [make_chunk("tie", embedding=[1.0, 0.0]), make_chunk("order", chunk_index=1)]
    calls = [call("upsert_many", good)]
    for bad in made_invalid(2):
        changed = make_chunk("tie", metadata={"changed": True})
        calls += [call("upsert_many", [changed, bad]), call("upsert_many", [bad, None, changed])]
        calls += [call("replace_source", "doc-1", TENANT, [changed, bad, changed])]
        calls += [call("get_by_source", "doc-1", TENANT)]
    foreign = [make_chunk("tie", source_id="doc-2"), make_chunk("tie", tenant_id=OTHER_TENANT)]
    calls += [call("replace_source", "doc-1", TENANT, [good[0], each]) for each in foreign]
    for batch in (None, 1, good[0], Once((good[1],), fails=True)):
        calls += [call("upsert_many", batch), call("replace_source", "doc-1", TENANT, batch)]
    await compare_chunks(home, 2, calls)


async def test_bad_arguments_are_refused_alike_and_in_the_order_of_the_signature(
    home: tuple[str, str],
) -> None:
    calls = [call("upsert_many", [make_chunk("tie", embedding=[1.0, 0.0], entity_ids=ENTITIES)])]
    calls += bad_reads()
    for tenant in BAD_TENANTS:
        calls += [
            call("semantic_candidates", None, tenant, -1, min_score="x"),
            call("lexical_candidates", None, tenant, -1),
            call("replace_source", None, tenant, None),
            call("delete_by_source", None, tenant),
        ]
    calls.append(call("semantic_candidates", [0.0], TENANT, -1, min_score="x"))
    calls.append(call("semantic_candidates", [1.0, 0.0], TENANT, -1, min_score="x"))
    calls.append(call("lexical_candidates", "tie", TENANT, -1))
    await compare_chunks(home, 2, calls)


def bad_reads() -> list[Call]:
    """Return calls with one bad argument each."""
    calls = [call("get", bad, TENANT) for bad in BAD_IDS]
    calls += [
        call(name, bad, TENANT) for bad in BAD_SOURCES for name in ("get_by_source", "delete_by_source")
    ]
    calls += [call("replace_source", bad, TENANT, []) for bad in BAD_SOURCES]
    calls += [call("get_by_entity", bad, TENANT) for bad in BAD_ENTITIES]
    calls += [call("lexical_candidates", bad, TENANT, 1) for bad in BAD_TERMS]
    calls += [call("lexical_candidates", ["tie"], TENANT, bad) for bad in BAD_LIMITS]
    calls += [call("semantic_candidates", bad, TENANT, 1) for bad in bad_vectors(2)]
    calls += [call("semantic_candidates", [1.0, 0.0], TENANT, bad) for bad in BAD_LIMITS]
    calls += [call("semantic_candidates", [1.0, 0.0], TENANT, 1, min_score=bad) for bad in BAD_MIN_SCORES]
    calls += [call("delete_by_tenant", bad) for bad in BAD_TENANTS]
    calls += [call(name, "doc-1", bad) for bad in BAD_TENANTS for name in ("get", "get_by_source")]
    return calls


def entity_records(vectors: list[list[float]]) -> list[VectorRecord]:
    """Return one record for each vector, their ids in an order of no kind."""
    ids = [UUID(int=(n * 2_654_435_761) % 2**32 << 90 | n) for n in range(len(vectors))]
    types: list[Any] = ["person", "place", ["person"], None]
    return [
        VectorRecord(TENANT, EntityId(key), vector, {"entity_type": types[n % 4]})
        for n, (key, vector) in enumerate(zip(ids, vectors, strict=True))
    ]


@pytest.mark.parametrize("dimension", DIMENSIONS)
async def test_entity_vectors_of_every_variant_at_every_cut(home: tuple[str, str], dimension: int) -> None:
    pool = [
        *variants(dimension),
        *[jittered(base(dimension), seed) for seed in range(40)],
        *[base(dimension)] * 9,
    ]
    calls = [call("upsert_many", entity_records(pool))]
    for query in pool[:24]:
        exact = score(query, pool[3])
        calls += [call("search", query, TENANT), call("search", query, TENANT, k=ALL, min_score=exact)]
        calls += [call("search", query, TENANT, k=7, min_score=math.nextafter(exact, 2.0))]
        calls += [call("search", query, TENANT, k=k, entity_types=["person"]) for k in (1, 5, ALL)]
    calls += [call("search", pool[0], TENANT, k=k) for k in cuts(len(pool))]
    await compare_vectors(home, dimension, calls)


async def test_entity_records_of_every_kind_and_what_is_refused(home: tuple[str, str]) -> None:
    record, calls = VectorRecord(TENANT, ENTITIES[0], [1.0, 0.0]), []
    for n, metadata in enumerate(METADATA):
        of_kind = VectorRecord(TENANT, ENTITIES[n % 2], [1.0, float(n)], metadata)
        calls += [call("upsert", of_kind), call("get", of_kind.entity_id, TENANT)]
        calls += [call("search", [1.0, 0.0], TENANT, entity_types=types) for types in ENTITY_TYPES]
    for bad in bad_records(2):
        calls += [call("upsert", bad), call("upsert_many", [record, bad]), call("get", ENTITIES[0], TENANT)]
    batches: list[Any] = [None, 1, [], Once((record,), fails=True)]
    calls += [call("upsert_many", batch) for batch in batches]
    calls += [call(name, bad, TENANT) for bad in BAD_ENTITIES for name in ("get", "delete")]
    calls += [call("search", bad, TENANT) for bad in bad_vectors(2)]
    calls += [call("search", [1.0, 0.0], TENANT, k=bad) for bad in BAD_LIMITS]
    calls += [call("search", [1.0, 0.0], TENANT, k=limit) for limit in LIMITS]
    calls += [call("search", [1.0, 0.0], TENANT, min_score=bad) for bad in [*BAD_MIN_SCORES, *MIN_SCORES]]
    calls += [call("search", [1.0, 0.0], TENANT, entity_types=bad) for bad in ("person", 1, [1], ["\x00"])]
    calls += [call(name, ENTITIES[0], bad) for bad in BAD_TENANTS for name in ("get", "delete")]
    calls += [call("search", None, bad, k=-1) for bad in BAD_TENANTS]
    calls += [call("search", [1.0, 0.0], TENANT, k=-1, entity_types=1, min_score="x")]
    calls += [call("search", [1.0, 0.0], TENANT, k=1, entity_types=1, min_score="x")]
    calls += [call("delete", entity, TENANT) for entity in (ENTITIES[0], ENTITIES[0], ENTITIES[5])]
    calls += [call("delete_by_tenant", tenant) for tenant in (OTHER_TENANT, TENANT, TENANT, *BAD_TENANTS)]
    await compare_vectors(home, 2, calls)


ENTITY_TYPES: list[Any] = [
    [],
    ["person"],
    ["Person", "x"],
    Once(("person",)),
    ['\\N {"x"}'],
    ["1"],
    [""],
    None,
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chunk_stores(dsn: str) -> AsyncIterator[dict[int, PostgresChunkStore]]:
    """Yield one store of each width for all drawn sequences; a third tenant lives in each."""
    async with support.connected(dsn) as connection, support.new_pool(dsn) as pool:
        await connection.execute("CREATE SCHEMA drawn_chunks")
        stores = {
            dimension: PostgresChunkStore(
                pool, dimension=dimension, table=f"of {dimension}", schema="drawn_chunks"
            )
            for dimension in DIMENSIONS
        }
        for dimension, store in stores.items():
            await store.ensure_schema()
            third = [
                make_chunk(
                    text, tenant_id=support.BYSTANDER, embedding=base(dimension, n % 2), entity_ids=ENTITIES
                )
                for n, text in enumerate(TEXTS)
            ]
            await store.upsert_many(third)
        yield stores
        await connection.execute("DROP SCHEMA drawn_chunks CASCADE")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def vector_stores(dsn: str) -> AsyncIterator[dict[int, PgVectorStore]]:
    """Yield one store of each width for all drawn sequences; a third tenant lives in each."""
    async with support.connected(dsn) as connection, support.new_pool(dsn) as pool:
        await connection.execute("CREATE SCHEMA drawn_vectors")
        stores = {
            dimension: PgVectorStore(
                pool, dimension=dimension, table=f"of {dimension}", schema="drawn_vectors"
            )
            for dimension in DIMENSIONS
        }
        for dimension, store in stores.items():
            await store.ensure_schema()
            third = [VectorRecord(support.BYSTANDER, entity, base(dimension)) for entity in ENTITIES]
            await store.upsert_many(third)
        yield stores
        await connection.execute("DROP SCHEMA drawn_vectors CASCADE")


many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@pytest.mark.drawn
@pytest.mark.asyncio(loop_scope="module")
@given(data=st.data(), dimension=st.sampled_from(DIMENSIONS))
@many
async def test_drawn_calls_of_chunk_stores_are_answered_alike(
    chunk_stores: dict[int, PostgresChunkStore], data: st.DataObject, dimension: int
) -> None:
    calls = data.draw(chunk_calls(dimension))
    adapter = chunk_stores[dimension]
    for tenant in TENANTS:
        await adapter.delete_by_tenant(tenant)
    async with InMemoryChunkStore(dimension=dimension) as reference:
        await assert_same_answers(reference, adapter, [*calls, *brief_audit(dimension)])


@pytest.mark.drawn
@pytest.mark.asyncio(loop_scope="module")
@given(data=st.data(), dimension=st.sampled_from(DIMENSIONS))
@many
async def test_drawn_calls_of_vector_stores_are_answered_alike(
    vector_stores: dict[int, PgVectorStore], data: st.DataObject, dimension: int
) -> None:
    calls = data.draw(vector_calls(dimension))
    adapter = vector_stores[dimension]
    for tenant in TENANTS:
        await adapter.delete_by_tenant(tenant)
    everything = [
        call("search", as_vector(base(dimension)), tenant, k=k) for tenant in TENANTS for k in (1, 3, 99)
    ]
    async with InMemoryVectorStore(dimension=dimension) as reference:
        await assert_same_answers(reference, adapter, [*calls, *everything])
