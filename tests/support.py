"""What tests share: pinned tenants, and a chunk of which only what matters is told."""

from collections.abc import Sequence
from uuid import UUID

from redstring_ref.domain import EntityId, JsonObject, SourceId, StoredChunk, TenantId

TENANT = TenantId(UUID("0000000a-0000-4000-8000-000000000001"))
OTHER_TENANT = TenantId(UUID("0000000b-0000-4000-8000-000000000002"))


def make_chunk(
    text: str,
    *,
    source_id: str = "doc-1",
    tenant_id: TenantId = TENANT,
    chunk_index: int = 0,
    entity_ids: Sequence[EntityId] = (),
    metadata: JsonObject | None = None,
    embedding: Sequence[float] | None = None,
) -> StoredChunk:
    """Return a chunk whose offsets are those of its text alone."""
    return StoredChunk(
        tenant_id,
        SourceId(source_id),
        text,
        chunk_index,
        0,
        len(text),
        list(entity_ids),
        metadata or {},
        None if embedding is None else list(embedding),
    )
