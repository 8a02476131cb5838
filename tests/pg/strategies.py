"""Strategies for sequences of calls in which tenants, sources, texts and vectors collide. No tests."""

import math
from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from redstring_ref.domain import (
    JsonObject,
    JsonValue,
    SourceId,
    StoredChunk,
    TenantId,
    VectorRecord,
    as_vector,
    score,
)
from tests.pg.answers import Call, Once, call
from tests.pg.hurts import (
    BAD_ENTITIES,
    BAD_IDS,
    BAD_LIMITS,
    BAD_MIN_SCORES,
    BAD_SOURCES,
    BAD_TENANTS,
    BAD_TERMS,
    ENTITIES,
    LIMITS,
    METADATA,
    MIN_SCORES,
    SOURCES,
    TERMS,
    TEXTS,
    VARIANTS,
    Vector,
    bad_vectors,
    base,
    made_invalid,
)
from tests.support import OTHER_TENANT, TENANT

TENANTS = [TENANT, OTHER_TENANT]

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5),
    lambda items: (
        st.lists(items, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", ""]), items, max_size=3)
    ),
    max_leaves=6,
)
metadata: st.SearchStrategy[JsonObject] = st.sampled_from(METADATA) | st.dictionaries(
    st.sampled_from(["entity_type", "x", "\u00e9"]), json_values, max_size=3
)
texts = st.sampled_from(TEXTS) | st.lists(
    st.sampled_from(["tie", "order", "rank", "a", "\u691c\u7d22", "-"]), max_size=5
).map(" ".join)


def rarely(
    usual: st.SearchStrategy[object], odd: st.SearchStrategy[object], once_in: int
) -> st.SearchStrategy[object]:
    """Draw from `odd` about once in so many times."""
    return st.integers(1, once_in).flatmap(lambda number: odd if number == once_in else usual)


def sampled(usual: Sequence[object], odd: Sequence[object], once_in: int = 12) -> st.SearchStrategy[object]:
    """Draw one of `usual`, and one of the bad values once in a while."""
    return rarely(st.sampled_from(usual), st.sampled_from(odd), once_in)


def vectors(dimension: int) -> st.SearchStrategy[Vector]:
    """Draw variants of two base vectors, so that ties and near-ties are the rule."""
    return st.builds(
        lambda variant, seed: variant(base(dimension, seed)), st.sampled_from(VARIANTS), st.integers(0, 1)
    )


def queries(dimension: int) -> st.SearchStrategy[object]:
    """Draw a query vector, rarely a bad one."""
    return rarely(vectors(dimension), st.sampled_from(bad_vectors(dimension)), 12)


def chunks(
    dimension: int, tenant: st.SearchStrategy[TenantId], source: st.SearchStrategy[str]
) -> st.SearchStrategy[StoredChunk]:
    """Draw a chunk that is valid."""
    return st.builds(
        lambda tenant_id, source_id, text, index, entity_ids, values, embedding: StoredChunk(
            tenant_id, SourceId(source_id), text, index, 0, len(text), entity_ids, values, embedding
        ),
        tenant,
        source,
        texts,
        st.sampled_from([0, 1, 2, 10, 2**31 - 1]),
        st.lists(st.sampled_from(ENTITIES), max_size=3),
        metadata,
        st.none() | vectors(dimension),
    )


def batches(items: st.SearchStrategy[object], bad: Sequence[object]) -> st.SearchStrategy[object]:
    """Draw a list, or what can be read once, with at most one bad element anywhere."""

    def spoiled(batch: list[object], element: object, position: int) -> list[object]:
        at = position % (len(batch) + 1)
        return [*batch[:at], element, *batch[at:]]

    good = st.lists(items, max_size=8)
    mixed = rarely(good, st.builds(spoiled, good, st.sampled_from(bad), st.integers(0, 8)), 6)
    once = st.builds(
        lambda batch, fails: Once(tuple(batch), fails), good, st.integers(1, 4).map(lambda n: n == 4)
    )
    return rarely(mixed, once | st.sampled_from([None, 1]), 6)


@st.composite
def semantic(draw: st.DrawFn, dimension: int, method: str) -> Call:
    """Draw a search by vector whose threshold is often the exact score of a vector, or its neighbour."""
    vector = draw(queries(dimension))
    min_score = draw(sampled(MIN_SCORES, BAD_MIN_SCORES))
    if draw(st.booleans()):
        exact = score(as_vector(draw(vectors(dimension))), as_vector(draw(vectors(dimension))))
        min_score = draw(st.sampled_from([exact, math.nextafter(exact, 2.0), math.nextafter(exact, -1.0)]))
    tenant, limit = draw(tenants), draw(sampled(LIMITS, BAD_LIMITS))
    if method == "semantic_candidates":
        return call(method, vector, tenant, limit, min_score=min_score)
    types = draw(entity_types)
    return call(method, vector, tenant, k=limit, entity_types=types, min_score=min_score)


tenants = sampled(TENANTS, BAD_TENANTS, once_in=25)
sources = sampled(SOURCES, BAD_SOURCES)
entities = sampled(ENTITIES, BAD_ENTITIES)
entity_types: st.SearchStrategy[object] = rarely(
    st.none()
    | st.lists(st.sampled_from(["person", "Person", '\\N {"x"}', "1"]), max_size=3).map(
        lambda x: Once(tuple(x))
    ),
    st.sampled_from(["person", 1, [1], [None], ["a\x00"]]),
    12,
)


@cache
def chunk_calls(dimension: int) -> st.SearchStrategy[list[Call]]:
    """Draw calls of a chunk store of this width."""
    some_tenant: st.SearchStrategy[TenantId] = st.sampled_from(TENANTS)
    any_chunk = chunks(dimension, some_tenant, st.sampled_from(SOURCES))
    bad = made_invalid(dimension)

    def replace(tenant: object, source: object) -> st.SearchStrategy[Call]:
        own: st.SearchStrategy[object] = any_chunk
        if tenant in TENANTS and source in SOURCES:
            mine = chunks(dimension, st.just(TenantId(tenant)), st.just(str(source)))  # type: ignore[arg-type]  # it is one
            own = rarely(mine, any_chunk, 30)
        return st.builds(lambda batch: call("replace_source", source, tenant, batch), batches(own, bad))

    stored_ids = st.builds(lambda chunk: chunk.id, any_chunk)
    one = st.one_of(
        st.builds(lambda batch: call("upsert_many", batch), batches(any_chunk, bad)),
        st.tuples(tenants, sources).flatmap(lambda both: replace(*both)),
        st.builds(lambda source, tenant: call("delete_by_source", source, tenant), sources, tenants),
        st.builds(lambda tenant: call("delete_by_tenant", tenant), tenants),
        st.builds(
            lambda key, tenant: call("get", key, tenant),
            rarely(stored_ids, st.sampled_from(BAD_IDS), 8),
            tenants,
        ),
        st.builds(lambda source, tenant: call("get_by_source", source, tenant), sources, tenants),
        st.builds(lambda entity, tenant: call("get_by_entity", entity, tenant), entities, tenants),
        st.builds(
            lambda terms, tenant, limit: call("lexical_candidates", terms, tenant, limit),
            rarely(st.lists(st.sampled_from(TERMS), max_size=6), st.sampled_from(BAD_TERMS), 12),
            tenants,
            sampled(LIMITS, BAD_LIMITS),
        ),
        semantic(dimension, "semantic_candidates"),
    )
    return st.lists(one, min_size=1, max_size=12)


def records(dimension: int) -> st.SearchStrategy[VectorRecord]:
    """Draw an entity's record."""
    return st.builds(
        VectorRecord, st.sampled_from(TENANTS), st.sampled_from(ENTITIES), vectors(dimension), metadata
    )


def bad_records(dimension: int) -> list[object]:
    """Return what no vector store may take."""
    bad: list[object] = [None, {"vector": [1.0]}, "record"]
    values = [("vector", value) for value in bad_vectors(dimension)]
    values += [
        ("entity_id", "x"),
        ("tenant_id", None),
        ("metadata", {"x": float("nan")}),
        ("metadata", {"x": "\x00"}),
    ]
    for name, value in values:
        record = VectorRecord(TENANT, ENTITIES[0], base(dimension))
        setattr(record, name, value)
        bad.append(record)
    return bad


@cache
def vector_calls(dimension: int) -> st.SearchStrategy[list[Call]]:
    """Draw calls of an entity vector store of this width."""
    bad = bad_records(dimension)
    one = st.one_of(
        st.builds(lambda record: call("upsert", record), rarely(records(dimension), st.sampled_from(bad), 8)),
        st.builds(lambda batch: call("upsert_many", batch), batches(records(dimension), bad)),
        st.builds(lambda entity, tenant: call("get", entity, tenant), entities, tenants),
        st.builds(lambda entity, tenant: call("delete", entity, tenant), entities, tenants),
        st.builds(lambda tenant: call("delete_by_tenant", tenant), tenants),
        semantic(dimension, "search"),
        semantic(dimension, "search"),
    )
    return st.lists(one, min_size=1, max_size=12)
