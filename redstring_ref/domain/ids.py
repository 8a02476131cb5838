"""Identifiers: their types, how they are derived, how they are checked. No values that carry them."""

from hashlib import sha256
from typing import NewType
from uuid import UUID, uuid5

from redstring_ref.domain.errors import got
from redstring_ref.domain.storable import require_text

TenantId = NewType("TenantId", UUID)
EntityId = NewType("EntityId", UUID)
RelationshipId = NewType("RelationshipId", UUID)
SourceId = NewType("SourceId", str)
ChunkId = NewType("ChunkId", str)

MAX_SOURCE_ID_BYTES = 2048


def chunk_id(source_id: str, text: str) -> ChunkId:
    r"""Return the id of `text` in `source_id`: hexadecimal SHA-256 of both, a NUL between.

    >>> chunk_id("doc-1", "Ties are broken by id.")[:16]
    'f59ee8969f7d82ee'

    Spec: CHK-1.
    """
    return ChunkId(sha256(source_id.encode() + b"\x00" + text.encode()).hexdigest())


def entity_id(tenant_id: TenantId, entity_type: str, normalized_name: str) -> EntityId:
    """Return the id of a name of one type in one tenant: a version 5 UUID within the tenant.

    Spec: GRF-1.
    """
    return EntityId(uuid5(require_tenant(tenant_id), f"{entity_type}\x00{normalized_name}"))


def relationship_id(
    tenant_id: TenantId, source: EntityId, target: EntityId, relationship_type: str
) -> RelationshipId:
    """Return the id of one typed, directed edge in one tenant: a version 5 UUID within the tenant.

    Spec: GRF-1.
    """
    return RelationshipId(uuid5(require_tenant(tenant_id), f"{source}\x00{target}\x00{relationship_type}"))


def require_tenant(value: object) -> TenantId:
    """Return `value` if it is a `UUID`; anything else is a `TypeError`: nothing is ever unscoped.

    Spec: TEN-1.
    """
    return TenantId(require_uuid("tenant_id", value))


def require_uuid(field: str, value: object) -> UUID:
    """Return `value` if it is a `UUID`, else raise a `TypeError` that names `field`."""
    if not isinstance(value, UUID):
        raise TypeError(f"{field} must be a UUID, {got(value)}")
    return value


def require_source_id(value: object) -> SourceId:
    """Return `value` if it can name a source: storable, not empty, at most 2,048 UTF-8 bytes.

    Spec: CHK-2.
    """
    source_id = require_text("source_id", value)
    if not source_id:
        raise ValueError("source_id must not be empty")
    size = len(source_id.encode())
    if size > MAX_SOURCE_ID_BYTES:
        raise ValueError(f"source_id must be at most {MAX_SOURCE_ID_BYTES} UTF-8 bytes, got {size}")
    return SourceId(source_id)


def require_chunk_id(value: object) -> ChunkId:
    """Return `value` if it is storable text; an id of another form is simply never found."""
    return ChunkId(require_text("chunk_id", value))
