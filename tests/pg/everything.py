"""Calls that use every method of a store for several tenants, and reads that show all it holds. No tests."""

from collections.abc import Iterator

from redstring_ref.domain import EntityId, JsonObject, StoredChunk, TenantId, VectorRecord
from tests.pg.answers import Call, call
from tests.pg.hurts import ENTITIES
from tests.pg.support import BYSTANDER
from tests.support import OTHER_TENANT, TENANT, make_chunk

TENANTS = [TENANT, OTHER_TENANT, BYSTANDER]
SOURCES = ["long", "short", "Short", "empty"]
ALL = 10_000

# Of these passages the plain ones are equal to each other in all but their last word.
WORDS = ["tie", "Tie order", "order tie tie", "the rank of a tie", "検索 tie", "na\u00efve"]
QUERIES = [["tie"], ["order", "tie", "n3", "order"], ["検索", "naïve", "absent"], ["n299"], ["the", "Tie"]]


def corpus(tenant: TenantId, edition: int = 0) -> list[StoredChunk]:
    """Return a tenant's passages: a source of more than one block, small ones, empty texts, no embeddings."""
    number = TENANTS.index(tenant)
    found = []
    for source, size in zip(SOURCES, [300 - number, 7, 5 + number, 3], strict=True):
        for n in range(size):
            words = "" if source == "empty" else f"{WORDS[(n + edition) % len(WORDS)]} n{n}"
            found.append(
                make_chunk(
                    words if source != "empty" or n else "tie",
                    source_id=source,
                    tenant_id=tenant,
                    chunk_index=n // 2,
                    entity_ids=entities(n),
                    metadata={"n": n, "edition": edition, "of": str(tenant)},
                    embedding=None if n % 7 == 6 else [1.0, float(n % 5 - 2)],
                )
            )
    # Two empty passages of one source are one chunk.
    return list({chunk.id: chunk for chunk in found}.values())


def entities(n: int) -> list[EntityId]:
    """Return none, one or two entities."""
    return ENTITIES[n % 3 : n % 3 + n % 2 + (n % 4 == 2)]


def chunk_reads(tenants: list[TenantId] = TENANTS) -> Iterator[Call]:
    """Yield reads that together show everything that a chunk store holds, its statistics and scores too."""
    for tenant in tenants:
        yield from (call("get_by_source", source, tenant) for source in [*SOURCES, "absent"])
        yield from (call("get_by_entity", entity, tenant) for entity in ENTITIES[:4])
        yield call("get", corpus(tenant)[0].id, tenant)
        yield call("get", "absent", tenant)
        for limit in (0, 3, ALL):
            yield from (call("lexical_candidates", terms, tenant, limit) for terms in QUERIES)
            yield call("semantic_candidates", [1.0, 0.5], tenant, limit)
            yield call("semantic_candidates", [1.0, 2.0], tenant, limit, min_score=0.75)


def chunk_calls(tenants: list[TenantId] = TENANTS) -> list[Call]:
    """Return calls of every method of a chunk store."""
    everyone = [chunk for tenant in tenants for chunk in corpus(tenant)]
    later = [chunk for tenant in tenants for chunk in corpus(tenant, edition=1)]
    calls = [call("upsert_many", everyone), call("upsert_many", later[::3])]
    for tenant in tenants:
        # Some stay as they are, some change, some go.
        kept = [each for each in corpus(tenant) if each.source_id == "long"][:260]
        changed = [each for each in corpus(tenant, edition=2) if each.source_id == "long"][250:280]
        calls.append(call("replace_source", "long", tenant, kept + changed))
    calls += [*chunk_reads(tenants), call("delete_by_source", "short", tenants[0])]
    calls += [call("delete_by_tenant", tenants[-1]), *chunk_reads(tenants)]
    return [*calls, call("upsert_many", later), *chunk_reads(tenants[:1])]


def records(tenant: TenantId) -> list[VectorRecord]:
    """Return a tenant's entities, with ties."""
    kinds: list[JsonObject] = [{"entity_type": "person"}, {"entity_type": "place", "x": 1e22}, {}]
    return [
        VectorRecord(tenant, entity, [1.0, float(n % 3)], kinds[n % 3]) for n, entity in enumerate(ENTITIES)
    ]


def vector_reads(tenants: list[TenantId] = TENANTS) -> Iterator[Call]:
    """Yield reads that together show everything that an entity vector store holds."""
    for tenant in tenants:
        yield from (call("get", entity, tenant) for entity in ENTITIES)
        for k in (0, 1, 3, ALL):
            yield call("search", [1.0, 0.5], tenant, k=k)
            yield call("search", [1.0, 0.5], tenant, k=k, entity_types=["person", "place"], min_score=0.9)


def vector_calls(tenants: list[TenantId] = TENANTS) -> list[Call]:
    """Return calls of every method of an entity vector store."""
    calls = [call("upsert_many", [record for tenant in tenants for record in records(tenant)])]
    calls += [*vector_reads(tenants)]
    calls += [call("upsert", VectorRecord(tenant, ENTITIES[1], [0.5, 1.0])) for tenant in tenants]
    calls += [call("delete", ENTITIES[0], tenant) for tenant in tenants]
    return [*calls, *vector_reads(tenants), call("delete_by_tenant", tenants[-1]), *vector_reads(tenants)]
