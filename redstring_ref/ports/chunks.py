"""Ports of the chunk store, one small capability each. Entities and their vectors have their own.

Rules that hold for every method, so that no docstring repeats them (Spec: TEN-1, TEN-2, PRT-2 to PRT-5):
`tenant_id` is a `UUID` or it is a `TypeError`; other tenants change no answer. A rejected call
changes nothing. Arguments may be mutated after a call, results at any time. Iterables are
consumed once. What was written is read by the next call.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from redstring_ref.domain.chunks import StoredChunk
from redstring_ref.domain.ids import ChunkId, EntityId, SourceId, TenantId
from redstring_ref.domain.ranking import LexicalCandidates, SemanticCandidate
from redstring_ref.ports.closing import AsyncClosable, Dimensioned


@runtime_checkable
class ChunkWriter(AsyncClosable, Protocol):
    """Puts chunks in."""

    async def upsert_many(self, chunks: Iterable[StoredChunk]) -> None:
        """Write `chunks`, of any tenants, whole and all together.

        A chunk replaces the one with its tenant and id in every field: the metadata, the
        entity ids, the embedding, `None` included. The later of two in one batch wins. No
        chunks, no effect.

        Raises `TypeError` for an element that is not a `StoredChunk`, what `StoredChunk` raises
        for one that was made invalid, and `DimensionMismatchError` for an embedding of another
        width than the store's.

        Spec: CHK-6.
        """
        ...

    async def replace_source(
        self, source_id: SourceId, tenant_id: TenantId, chunks: Iterable[StoredChunk]
    ) -> int:
        """Make `chunks` the whole of this source; return how many others went.

        All or nothing. No chunks empty the source. Two calls at once end as exactly one of the
        two sets, and a reader sees the old set or the new one, never a mixture.

        Raises what `upsert_many` raises, and `ValueError` for a chunk of another source or
        tenant and for a source id that is empty, not storable or above 2,048 UTF-8 bytes.

        Spec: CHK-7.
        """
        ...


@runtime_checkable
class ChunkReader(AsyncClosable, Protocol):
    """Reads chunks back by key."""

    async def get(self, chunk_id: ChunkId, tenant_id: TenantId) -> StoredChunk | None:
        """Return the chunk, or `None` if this tenant has no chunk with this id.

        Raises `TypeError` or `ValueError` for an id that is not storable text.

        Spec: CHK-8.
        """
        ...

    async def get_by_source(self, source_id: SourceId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks of one source, by `chunk_index`, then id. An unknown source has none.

        Raises `TypeError` or `ValueError` for an id that cannot name a source.

        Spec: CHK-8.
        """
        ...

    async def get_by_entity(self, entity_id: EntityId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks that name an entity, by `source_id`, `chunk_index`, then id.

        Raises `TypeError` for an id that is not a `UUID`.

        Spec: CHK-8.
        """
        ...


@runtime_checkable
class ChunkReadWriter(ChunkReader, ChunkWriter, Protocol):
    """Reads chunks back by key and puts chunks in."""


@runtime_checkable
class LexicalCandidateSource(AsyncClosable, Protocol):
    """Finds chunks by their words."""

    async def lexical_candidates(
        self, terms: Sequence[str], tenant_id: TenantId, limit: int
    ) -> LexicalCandidates:
        """Return the `limit` best chunks by BM25, and the statistics to score them by.

        `terms` are terms as `tokenize` returns them; a repeated one counts again. The order is
        score descending, then id ascending; a chunk that holds none of the terms is not among
        them. The statistics describe the tenant's whole corpus, whatever the limit, and cover
        exactly the requested terms. No terms: no candidates, and zeros.

        Raises `TypeError` for a `terms` that is a string or holds anything else than strings,
        for a bool or non-integer `limit`; `ValueError` for a term that is not storable, for a
        negative `limit`.

        Spec: LEX-4, LEX-5.
        """
        ...


@runtime_checkable
class SemanticCandidateSource(AsyncClosable, Dimensioned, Protocol):
    """Finds chunks by their embedding."""

    async def semantic_candidates(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        limit: int,
        *,
        min_score: float | None = None,
    ) -> list[SemanticCandidate]:
        """Return the `limit` best chunks by exact cosine score, those below `min_score` left out.

        The order is score descending, then id ascending. The threshold is inclusive and comes
        before the limit. Chunks without an embedding are skipped.

        Raises `TypeError` or `InvalidVectorError` for a query that is not a vector,
        `DimensionMismatchError` for one of another width; `TypeError` for a bool or non-integer
        `limit`, a bool or non-number `min_score`; `ValueError` for a negative `limit`, a NaN.

        Spec: VEC-4, VEC-5, ORD-1 to ORD-3.
        """
        ...


@runtime_checkable
class HybridCandidateSource(LexicalCandidateSource, SemanticCandidateSource, Protocol):
    """Finds chunks by their words and by their embedding."""


@runtime_checkable
class ChunkPurge(AsyncClosable, Protocol):
    """Takes chunks out."""

    async def delete_by_source(self, source_id: SourceId, tenant_id: TenantId) -> int:
        """Delete the chunks of exactly this source; return how many there were.

        Raises `TypeError` or `ValueError` for an id that cannot name a source.

        Spec: CHK-9.
        """
        ...

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every chunk of the tenant; return how many there were.

        Spec: CHK-9.
        """
        ...


@runtime_checkable
class ChunkStore(ChunkReadWriter, HybridCandidateSource, ChunkPurge, Protocol):
    """Everything that a chunk store does. Ask for less where less is enough."""
