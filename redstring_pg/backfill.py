"""The backfill of the lexical index: what is not indexed as `tokenize` says is indexed again, in batches.

Spec: PG-3.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import groupby

from psycopg import sql

from redstring_pg.chunk_schema import ChunkTables
from redstring_pg.cursor import Cursor
from redstring_pg.lexical_index import delete_blocks, insert_blocks
from redstring_pg.locks import lock_for_write, share_tenants
from redstring_pg.postings import Place, in_blocks, packed, slot_of, term_counts
from redstring_pg.schema import row_security_applies
from redstring_ref.domain import ChunkId, SourceId, TenantId
from redstring_ref.domain.terms import tokenize

# What `get_by_source` orders by, which is unique within a tenant.
Position = tuple[SourceId, int, ChunkId]
# A term and its posting.
Entry = tuple[str, int]

_BEFORE_ALL: Position = (SourceId(""), -1, ChunkId(""))


@dataclass(frozen=True, slots=True)
class _Row:
    """A stored chunk as the index should have it, and where it stands."""

    id: ChunkId
    source_id: SourceId
    doc_length: int
    place: Place | None
    counts: Mapping[str, int]

    @property
    def terms(self) -> int:
        return sum(self.counts.values())

    def entries(self) -> list[Entry]:
        """Return the entries that the index must have at the row's place, sorted."""
        slot = 0 if self.place is None else self.place.slot
        return sorted((term, packed(slot, frequency, self.terms)) for term, frequency in self.counts.items())


@dataclass(frozen=True, slots=True)
class Backfill:
    """One run over a store's tables; `transaction` opens a transaction of a tenant, or of none."""

    transaction: Callable[[TenantId | None], AbstractAsyncContextManager[Cursor]]
    tables: ChunkTables
    batch_size: int

    async def run(self, tenant_id: TenantId | None) -> int:
        """Index one tenant, or all, and return how many chunks were not indexed as they should be.

        All of them, where policies show only one, is a `ValueError`.
        """
        if tenant_id is not None:
            return await self._tenant(tenant_id)
        changed, tenant = 0, await self._next_tenant(None)
        while tenant is not None:
            changed += await self._tenant(tenant)
            tenant = await self._next_tenant(tenant)
        return changed

    async def _next_tenant(self, after: TenantId | None) -> TenantId | None:
        async with self.transaction(None) as cursor:
            if await row_security_applies(cursor, self.tables.chunks):
                raise ValueError("tenant_id must be given: row-level security hides all tenants but one")
            statement = (
                "SELECT tenant_id FROM {} WHERE %(after)s::uuid IS NULL OR tenant_id > %(after)s::uuid"
                " ORDER BY tenant_id LIMIT 1"
            )
            row = await cursor.row(sql.SQL(statement).format(self.tables.chunks.identifier), {"after": after})
            return None if row is None else TenantId(row[0])

    async def _tenant(self, tenant_id: TenantId) -> int:
        changed, after = 0, _BEFORE_ALL
        while batch := await self._batch(tenant_id, after):
            async with self.transaction(tenant_id) as cursor:
                await lock_for_write(cursor, {(tenant_id, source_id) for source_id, _, _ in batch})
                changed += await self._index(cursor, tenant_id, [key for _, _, key in batch])
            after = batch[-1]
        async with self.transaction(tenant_id) as cursor:
            await share_tenants(cursor, [tenant_id])
            await self._delete_blocks_without_chunks(cursor, tenant_id)
        return changed

    async def _batch(self, tenant_id: TenantId, after: Position) -> list[Position]:
        statement = (
            "SELECT source_id, chunk_index, id FROM {} WHERE tenant_id = %s"
            ' AND (source_id COLLATE "C", chunk_index, id COLLATE "C") > (%s, %s, %s)'
            ' ORDER BY source_id COLLATE "C", chunk_index, id COLLATE "C" LIMIT %s'
        )
        async with self.transaction(tenant_id) as cursor:
            await cursor.run(
                sql.SQL(statement).format(self.tables.chunks.identifier), [tenant_id, *after, self.batch_size]
            )
            return [(SourceId(row[0]), row[1], ChunkId(row[2])) async for row in cursor]

    async def _index(self, cursor: Cursor, tenant_id: TenantId, keys: list[ChunkId]) -> int:
        """Put chunks, whose sources are locked, right, with all that share a wrong block with them."""
        rows = await self._rows(cursor, tenant_id, keys)
        blocks = sorted({row.place.block for row in rows if row.place is not None})
        entries = await self._entries(cursor, tenant_id, blocks)
        unsound = set(blocks) - await self._sound(cursor, tenant_id, blocks, rows)
        unsound |= {place.block for place in entries.keys() - {row.place for row in rows}}
        wrong = [row for row in rows if not _is_right(row, entries, unsound)]
        broken = unsound | {row.place.block for row in wrong if row.place is not None}
        await delete_blocks(cursor, self.tables, tenant_id, sorted(broken))
        unplaced = [row for row in rows if row.place is None or row.place.block in broken]
        await self._place(cursor, tenant_id, unplaced)
        return len(wrong)

    async def _rows(self, cursor: Cursor, tenant_id: TenantId, keys: list[ChunkId]) -> list[_Row]:
        """Return the rows with these ids and those that share a block with them, source by source."""
        statement = (
            "SELECT id, source_id, text, doc_length, lexical_block, lexical_slot FROM {chunks}"
            " WHERE tenant_id = %(tenant)s AND (id = ANY(%(keys)s) OR lexical_block IN"
            " (SELECT lexical_block FROM {chunks} WHERE tenant_id = %(tenant)s AND id = ANY(%(keys)s)))"
            ' ORDER BY source_id COLLATE "C", chunk_index, id COLLATE "C"'
        )
        await cursor.run(
            sql.SQL(statement).format(chunks=self.tables.chunks.identifier),
            {"tenant": tenant_id, "keys": keys},
        )
        return [
            _Row(
                ChunkId(key),
                SourceId(source_id),
                doc_length,
                None if block is None or slot is None else Place(block, slot),
                term_counts(tokenize(text)),
            )
            async for key, source_id, text, doc_length, block, slot in cursor
        ]

    async def _entries(
        self, cursor: Cursor, tenant_id: TenantId, blocks: list[int]
    ) -> dict[Place, list[Entry]]:
        """Return what the index has at each place of these blocks, sorted."""
        statement = "SELECT term, block, postings FROM {} WHERE tenant_id = %s AND block = ANY(%s)"
        await cursor.run(sql.SQL(statement).format(self.tables.postings.identifier), [tenant_id, blocks])
        found: defaultdict[Place, list[Entry]] = defaultdict(list)
        async for term, block, postings in cursor:
            for posting in postings:
                found[Place(block, slot_of(posting))].append((term, posting))
        return {place: sorted(entries) for place, entries in found.items()}

    async def _sound(
        self, cursor: Cursor, tenant_id: TenantId, blocks: list[int], rows: Iterable[_Row]
    ) -> set[int]:
        """Return those of the blocks whose statistics are those of their rows."""
        # A length that is wrong in its row is the row's fault, whichever of the two the block has counted.
        lengths: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for row in rows:
            if row.place is not None:
                lengths[row.place.block].append((row.terms, row.doc_length))
        statement = "SELECT block, chunks, terms FROM {} WHERE tenant_id = %s AND block = ANY(%s)"
        await cursor.run(sql.SQL(statement).format(self.tables.blocks.identifier), [tenant_id, blocks])
        return {
            block
            async for block, chunks, terms in cursor
            if chunks == len(lengths[block]) and terms in map(sum, zip(*lengths[block], strict=True))
        }

    async def _place(self, cursor: Cursor, tenant_id: TenantId, rows: Sequence[_Row]) -> None:
        """Write new blocks for the rows, and note their places."""
        blocks = [
            block
            for _, of_source in groupby(rows, key=lambda row: row.source_id)
            for block in in_blocks(of_source)
        ]
        counts = [[row.counts for row in block] for block in blocks]
        numbers = await insert_blocks(cursor, self.tables, tenant_id, counts)
        placed = [
            (row.id, row.terms, number, slot)
            for number, block in zip(numbers, blocks, strict=True)
            for slot, row in enumerate(block)
        ]
        if placed:
            statement = (
                "UPDATE {} AS c SET doc_length = u.terms, lexical_block = u.block, lexical_slot = u.slot"
                " FROM unnest(%s::text[], %s::integer[], %s::bigint[], %s::integer[])"
                " AS u(id, terms, block, slot) WHERE c.tenant_id = %s AND c.id = u.id"
            )
            columns = [list(column) for column in zip(*placed, strict=True)]
            await cursor.run(sql.SQL(statement).format(self.tables.chunks.identifier), [*columns, tenant_id])

    async def _delete_blocks_without_chunks(self, cursor: Cursor, tenant_id: TenantId) -> None:
        """Delete what rows that were deleted by other means than the store left behind."""
        names = {
            "blocks": self.tables.blocks.identifier,
            "chunks": self.tables.chunks.identifier,
            "postings": self.tables.postings.identifier,
        }
        for statement in (
            "DELETE FROM {blocks} AS b WHERE b.tenant_id = %(tenant)s AND NOT EXISTS"
            " (SELECT 1 FROM {chunks} WHERE tenant_id = %(tenant)s AND lexical_block = b.block)",
            "DELETE FROM {postings} AS p WHERE p.tenant_id = %(tenant)s AND NOT EXISTS"
            " (SELECT 1 FROM {blocks} WHERE tenant_id = %(tenant)s AND block = p.block)",
        ):
            await cursor.run(sql.SQL(statement).format(**names), {"tenant": tenant_id})


def _is_right(row: _Row, entries: Mapping[Place, list[Entry]], unsound: set[int]) -> bool:
    if row.place is None or row.place.block in unsound or row.doc_length != row.terms:
        return False
    return entries.get(row.place, []) == row.entries()
