"""Which writes wait for which: advisory locks that end with the transaction. No data.

Every write shares the lock of its tenants, then takes those of its sources; only a purge of a
tenant takes a tenant's alone. All are taken in one order, so that no two writers wait for each
other. The keys are hashed into a fixed number of stripes: a batch of any size stays within the
server's lock table, and two sources of one stripe only wait a little more often.

Spec: PG-7.
"""

from collections.abc import Iterable
from hashlib import blake2b
from uuid import UUID

from psycopg import sql

from redstring_pg.cursor import Cursor

TENANT_STRIPES = 256
SOURCE_STRIPES = 1024

# The two-key form of advisory locks keeps these apart from an application's own one-key locks.
_TENANT_SPACE = 0x7265_6401
_SOURCE_SPACE = 0x7265_6402


async def lock_for_write(cursor: Cursor, sources: Iterable[tuple[UUID, str]]) -> None:
    """Wait until no one else writes these `(tenant, source)`, nor purges their tenants. Spec: PG-7."""
    wanted = list(sources)
    await share_tenants(cursor, (tenant for tenant, _ in wanted))
    stripes = {_stripe(SOURCE_STRIPES, tenant.bytes + source.encode()) for tenant, source in wanted}
    await _take(cursor, "pg_advisory_xact_lock", _SOURCE_SPACE, stripes)


async def share_tenants(cursor: Cursor, tenants: Iterable[UUID]) -> None:
    """Wait until no one purges these tenants. Spec: PG-7."""
    stripes = {_stripe(TENANT_STRIPES, tenant.bytes) for tenant in tenants}
    await _take(cursor, "pg_advisory_xact_lock_shared", _TENANT_SPACE, stripes)


async def lock_for_purge(cursor: Cursor, tenant: UUID) -> None:
    """Wait until no one else writes this tenant. Spec: PG-7."""
    await _take(cursor, "pg_advisory_xact_lock", _TENANT_SPACE, {_stripe(TENANT_STRIPES, tenant.bytes)})


async def _take(cursor: Cursor, function: str, space: int, stripes: Iterable[int]) -> None:
    # unnest yields its elements in their order, and nothing sorts them again.
    statement = sql.SQL("SELECT {}({}, stripe) FROM unnest(%s::integer[]) AS stripe")
    await cursor.run(statement.format(sql.SQL(function), sql.Literal(space)), [sorted(stripes)])


def _stripe(stripes: int, key: bytes) -> int:
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") % stripes
