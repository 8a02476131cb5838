"""The public redstring's chunk store as a peer, where `pip install 'redstring[pgvector]'` was run."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from redstring_ref import StoredChunk
from tests.benchmarks.corpus import TENANT


class PublicStore:
    """The same calls, to the other library: it has its own values and connects through asyncpg."""

    def __init__(self, module: Any, store: Any) -> None:  # Any: not installed where this is type-checked
        self._chunk = module.StoredChunk
        self._store = store

    @classmethod
    async def connect(cls, dsn: str, dimension: int) -> "PublicStore | None":
        """Return the store with its tables, `None` where the library is not installed."""
        try:
            module = import_module("redstring.chunks.adapters.postgres.postgres_chunk")
        except ImportError:
            return None
        store = await module.PostgresChunkStore.connect(dsn, dimension=dimension, table="public_chunks")
        await store.ensure_schema()
        return cls(module, store)

    def converted(self, chunks: Sequence[StoredChunk]) -> list[Any]:
        """Return the chunks as the other library's values."""
        return [
            self._chunk(
                tenant_id=each.tenant_id,
                source_id=each.source_id,
                text=each.text,
                chunk_index=each.chunk_index,
                start_char=each.start_char,
                end_char=each.end_char,
                metadata=each.metadata,
                embedding=each.embedding,
            )
            for each in chunks
        ]

    async def replace_source(self, source_id: str, chunks: Sequence[Any]) -> None:
        """Write one document of values that `converted` returned."""
        await self._store.replace_source(source_id, TENANT, chunks)

    async def semantic(self, vector: Sequence[float], limit: int) -> object:
        """Ask for the nearest chunks."""
        return await self._store.semantic_candidates(list(vector), TENANT, limit)

    async def lexical(self, terms: Sequence[str], limit: int) -> object:
        """Ask for the chunks that share terms."""
        return await self._store.lexical_candidates(list(terms), TENANT, limit)

    async def close(self) -> None:
        """Close its pool."""
        await self._store.close()
