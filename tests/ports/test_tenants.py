"""No other tenant shows: one test for each chunk-returning method, found by a gate, and for writes."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from redstring_ref.domain import EntityId, SourceId, TenantId
from redstring_ref.ports import ChunkStore
from tests.support import OTHER_TENANT, TENANT, make_chunk

ENTITY = EntityId(UUID("000000e1-0000-4000-8000-000000000001"))
DOC = SourceId("doc-1")


@pytest.fixture
async def shared(store: ChunkStore) -> ChunkStore:
    """Return a store in which both tenants hold the same id, and the other one holds more."""
    await store.upsert_many(
        [
            make_chunk("tie order", entity_ids=[ENTITY], metadata={"of": "mine"}, embedding=[1.0, 0.0]),
            make_chunk(
                "tie order",
                tenant_id=OTHER_TENANT,
                entity_ids=[ENTITY],
                metadata={"of": "other"},
                embedding=[0.0, 1.0],
            ),
            make_chunk(
                "tie tie tie",
                tenant_id=OTHER_TENANT,
                chunk_index=1,
                entity_ids=[ENTITY],
                embedding=[1.0, 0.0],
            ),
        ]
    )
    return store


MINE = make_chunk("tie order", entity_ids=[ENTITY], metadata={"of": "mine"}, embedding=[1.0, 0.0])
ONLY_OTHER = make_chunk("tie tie tie").id


async def test_get_never_crosses_tenants(shared: ChunkStore) -> None:
    assert await shared.get(MINE.id, TENANT) == MINE
    assert await shared.get(ONLY_OTHER, TENANT) is None


async def test_get_by_source_never_crosses_tenants(shared: ChunkStore) -> None:
    assert await shared.get_by_source(DOC, TENANT) == [MINE]


async def test_get_by_entity_never_crosses_tenants(shared: ChunkStore) -> None:
    assert await shared.get_by_entity(ENTITY, TENANT) == [MINE]


async def test_lexical_candidates_never_crosses_tenants(shared: ChunkStore) -> None:
    found = await shared.lexical_candidates(["tie"], TENANT, 10)
    assert [candidate.chunk for candidate in found.candidates] == [MINE]
    assert (found.stats.n_docs, found.stats.total_doc_length) == (1, 2)
    assert found.stats.doc_frequencies == {"tie": 1}


async def test_semantic_candidates_never_crosses_tenants(shared: ChunkStore) -> None:
    found = await shared.semantic_candidates([1.0, 0.0], TENANT, 10)
    assert [(candidate.chunk, candidate.score) for candidate in found] == [(MINE, 1.0)]


async def test_replacing_a_source_leaves_the_other_tenant_alone(shared: ChunkStore) -> None:
    assert await shared.replace_source(DOC, TENANT, []) == 1
    assert len(await shared.get_by_source(DOC, OTHER_TENANT)) == 2


async def test_deleting_leaves_the_other_tenant_alone(shared: ChunkStore) -> None:
    assert await shared.delete_by_source(DOC, TENANT) == 1
    assert await shared.delete_by_tenant(TENANT) == 0
    assert len(await shared.get_by_source(DOC, OTHER_TENANT)) == 2
    assert await shared.delete_by_tenant(OTHER_TENANT) == 2


NOT_A_TENANT = ["0000000a-0000-4000-8000-000000000001", None, 1, b"\x00" * 16]


@pytest.mark.parametrize("tenant", NOT_A_TENANT, ids=repr)
async def test_a_tenant_that_is_not_a_uuid_is_refused_by_every_method(
    store: ChunkStore, tenant: TenantId
) -> None:
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.get(MINE.id, tenant),
        lambda: store.get_by_source(DOC, tenant),
        lambda: store.get_by_entity(ENTITY, tenant),
        lambda: store.lexical_candidates(["tie"], tenant, 1),
        lambda: store.semantic_candidates([1.0, 0.0], tenant, 1),
        lambda: store.replace_source(DOC, tenant, []),
        lambda: store.delete_by_source(DOC, tenant),
        lambda: store.delete_by_tenant(tenant),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="tenant_id must be a UUID"):
            await call()
