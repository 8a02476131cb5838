"""The in-memory chunk store: the reference that every other adapter is held against."""

from collections.abc import Iterable, Sequence

from redstring_ref.domain.arguments import (
    require_dimension,
    require_limit,
    require_min_score,
    require_strings,
)
from redstring_ref.domain.chunks import StoredChunk, require_chunks, require_chunks_of
from redstring_ref.domain.ids import (
    ChunkId,
    EntityId,
    SourceId,
    TenantId,
    require_chunk_id,
    require_source_id,
    require_tenant,
    require_uuid,
)
from redstring_ref.domain.ranking import LexicalCandidate, LexicalCandidates, SemanticCandidate
from redstring_ref.domain.vectors import as_vector, require_width
from redstring_ref.memory.closing import Closable
from redstring_ref.memory.keyed_sets import KeyedSets
from redstring_ref.memory.lexical_index import LexicalIndex
from redstring_ref.memory.vector_index import VectorIndex


class InMemoryChunkStore(Closable):
    """A `ChunkStore` in the memory of one process, for one event loop.

    No method awaits anything between its first and its last change, so each is one step for
    every other task. An invalid `dimension` is a `TypeError` or a `ValueError`.
    """

    def __init__(self, *, dimension: int) -> None:
        super().__init__()
        self._dimension = require_dimension(dimension)
        self._tenants: dict[TenantId, _TenantChunks] = {}

    @property
    def dimension(self) -> int:
        """The number of components of every embedding."""
        return self._dimension

    async def upsert_many(self, chunks: Iterable[StoredChunk]) -> None:
        """Write `chunks`, of any tenants, whole and all together. Spec: CHK-6."""
        self._require_open()
        for chunk in require_chunks(chunks, self._dimension):
            self._put(chunk)

    async def replace_source(
        self, source_id: SourceId, tenant_id: TenantId, chunks: Iterable[StoredChunk]
    ) -> int:
        """Make `chunks` the whole of this source; return how many others went. Spec: CHK-7."""
        self._require_open()
        require_tenant(tenant_id)
        source_id = require_source_id(source_id)
        checked = require_chunks_of(source_id, tenant_id, chunks, self._dimension)
        tenant = self._of(tenant_id)
        orphans = tenant.ids_of_source(source_id) - {chunk.id for chunk in checked}
        for orphan in orphans:
            tenant.remove(orphan)
        for chunk in checked:
            self._put(chunk)
        return len(orphans)

    async def get(self, chunk_id: ChunkId, tenant_id: TenantId) -> StoredChunk | None:
        """Return the chunk, or `None` if this tenant has no chunk with this id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).get(require_chunk_id(chunk_id))

    async def get_by_source(self, source_id: SourceId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks of one source, by `chunk_index`, then id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).of_source(require_source_id(source_id))

    async def get_by_entity(self, entity_id: EntityId, tenant_id: TenantId) -> list[StoredChunk]:
        """Return the chunks that name an entity, by `source_id`, `chunk_index`, then id. Spec: CHK-8."""
        self._require_open()
        require_tenant(tenant_id)
        return self._of(tenant_id).of_entity(EntityId(require_uuid("entity_id", entity_id)))

    async def lexical_candidates(
        self, terms: Sequence[str], tenant_id: TenantId, limit: int
    ) -> LexicalCandidates:
        """Return the `limit` best chunks by BM25, and the statistics. Spec: LEX-4, LEX-5."""
        self._require_open()
        require_tenant(tenant_id)
        checked = require_strings("terms", terms)
        return self._of(tenant_id).lexical_candidates(checked, require_limit("limit", limit))

    async def semantic_candidates(
        self,
        vector: Sequence[float],
        tenant_id: TenantId,
        limit: int,
        *,
        min_score: float | None = None,
    ) -> list[SemanticCandidate]:
        """Return the `limit` best chunks by exact cosine score. Spec: VEC-4, ORD-1 to ORD-3."""
        self._require_open()
        require_tenant(tenant_id)
        query = as_vector(vector, "vector")
        require_width(self._dimension, query, "vector")
        cutoff = require_limit("limit", limit)
        return self._of(tenant_id).semantic_candidates(query, cutoff, require_min_score(min_score))

    async def delete_by_source(self, source_id: SourceId, tenant_id: TenantId) -> int:
        """Delete the chunks of exactly this source; return how many there were. Spec: CHK-9."""
        self._require_open()
        require_tenant(tenant_id)
        tenant = self._of(tenant_id)
        doomed = tenant.ids_of_source(require_source_id(source_id))
        for chunk_id in doomed:
            tenant.remove(chunk_id)
        return len(doomed)

    async def delete_by_tenant(self, tenant_id: TenantId) -> int:
        """Delete every chunk of the tenant; return how many there were. Spec: CHK-9."""
        self._require_open()
        gone = self._tenants.pop(require_tenant(tenant_id), None)
        return 0 if gone is None else len(gone)

    def _of(self, tenant_id: TenantId) -> "_TenantChunks":
        # A tenant that was only asked about leaves nothing behind.
        return self._tenants.get(tenant_id) or _TenantChunks(self._dimension)

    def _put(self, chunk: StoredChunk) -> None:
        if chunk.tenant_id not in self._tenants:
            self._tenants[chunk.tenant_id] = _TenantChunks(self._dimension)
        self._tenants[chunk.tenant_id].put(chunk)


class _TenantChunks:
    """The chunks of one tenant, and the indexes that every change keeps in step."""

    def __init__(self, dimension: int) -> None:
        # The embedding of a row lives in the vector index alone, as float32.
        self._rows: dict[ChunkId, StoredChunk] = {}
        self._by_source: KeyedSets[SourceId, ChunkId] = KeyedSets()
        self._by_entity: KeyedSets[EntityId, ChunkId] = KeyedSets()
        self._lexical = LexicalIndex()
        self._vectors: VectorIndex[ChunkId] = VectorIndex(dimension)

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, chunk: StoredChunk) -> None:
        """Take over `chunk`, a copy that nobody else holds."""
        chunk_id, embedding = chunk.id, chunk.embedding
        chunk.embedding = None
        self._forget(chunk_id)
        self._rows[chunk_id] = chunk
        self._by_source.add(chunk.source_id, chunk_id)
        for entity_id in chunk.entity_ids:
            self._by_entity.add(entity_id, chunk_id)
        self._lexical.add(chunk_id, chunk.text)
        if embedding is None:
            self._vectors.discard(chunk_id)
        else:
            self._vectors.put(chunk_id, embedding)

    def remove(self, chunk_id: ChunkId) -> None:
        self._lexical.remove(chunk_id, self._rows[chunk_id].text)
        self._vectors.discard(chunk_id)
        self._forget(chunk_id)

    def get(self, chunk_id: ChunkId) -> StoredChunk | None:
        return self._copy(chunk_id) if chunk_id in self._rows else None

    def ids_of_source(self, source_id: SourceId) -> set[ChunkId]:
        return self._by_source.of(source_id)

    def of_source(self, source_id: SourceId) -> list[StoredChunk]:
        return self._read(self._by_source.of(source_id))

    def of_entity(self, entity_id: EntityId) -> list[StoredChunk]:
        return self._read(self._by_entity.of(entity_id))

    def lexical_candidates(self, terms: Sequence[str], limit: int) -> LexicalCandidates:
        index = self._lexical
        candidates = [
            LexicalCandidate(self._copy(key), index.doc_length(key), index.term_frequencies(key, terms))
            for key in index.best(terms, limit)
        ]
        return LexicalCandidates(index.stats(terms), candidates)

    def semantic_candidates(
        self, query: Sequence[float], limit: int, min_score: float | None
    ) -> list[SemanticCandidate]:
        nearest = self._vectors.nearest(query, limit, min_score)
        return [SemanticCandidate(self._copy(key), score) for key, score in nearest]

    def _read(self, chunk_ids: Iterable[ChunkId]) -> list[StoredChunk]:
        """Return copies in one order for both lists: those of a source agree on its first key."""

        def position(chunk_id: ChunkId) -> tuple[SourceId, int, ChunkId]:
            row = self._rows[chunk_id]
            return row.source_id, row.chunk_index, chunk_id

        return [self._copy(chunk_id) for chunk_id in sorted(chunk_ids, key=position)]

    def _copy(self, chunk_id: ChunkId) -> StoredChunk:
        copy = self._rows[chunk_id].copy()
        copy.embedding = self._vectors.get(chunk_id)
        return copy

    def _forget(self, chunk_id: ChunkId) -> None:
        """Take a row out of the indexes by entity and by source; the row may be unknown."""
        row = self._rows.pop(chunk_id, None)
        if row is not None:
            for entity_id in row.entity_ids:
                self._by_entity.discard(entity_id, chunk_id)
            self._by_source.discard(row.source_id, chunk_id)
