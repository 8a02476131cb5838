"""What tests share: pinned tenants, chunks of which only what matters is told, scripted collaborators."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from redstring_ref.domain import (
    EmbeddingProviderError,
    EntityId,
    Extraction,
    JsonObject,
    SourceId,
    StoredChunk,
    TenantId,
    TextSpan,
)

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


class FakeEmbeddings:
    """A provider of pinned vectors, by text, that notes every call and fails when it is told to."""

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]] | None = None,
        *,
        dimension: int = 2,
        fails_on: str | None = None,
    ) -> None:
        self._vectors = vectors
        self._dimension = dimension
        self._fails_on = fails_on
        self.documents: list[list[str]] = []
        self.queries: list[list[str]] = []

    @property
    def model(self) -> str:
        return "fake"

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.documents.append(list(texts))
        return self._answer(texts)

    async def embed_query(self, texts: Sequence[str]) -> list[list[float]]:
        self.queries.append(list(texts))
        return self._answer(texts)

    def _answer(self, texts: Sequence[str]) -> list[list[float]]:
        if self._fails_on in texts:
            raise EmbeddingProviderError(f"cannot embed {self._fails_on!r}")
        if self._vectors is None:
            return [[1.0] * self._dimension for _ in texts]
        return [list(self._vectors[text]) for text in texts]


class ScriptedLlm:
    """A model that answers each text with the extraction written for it, and notes every call."""

    def __init__(self, script: Mapping[str, Extraction]) -> None:
        self._script = script
        self.texts: list[str] = []

    @property
    def model(self) -> str:
        return "scripted"

    async def extract(self, text: str) -> Extraction:
        self.texts.append(text)
        return self._script[text]


class ParagraphChunker:
    """Cuts after every newline, so that a test can write its passages as lines."""

    def chunk(self, text: str) -> list[TextSpan]:
        spans, start = [], 0
        for line in text.splitlines(keepends=True):
            spans.append(TextSpan(start, start + len(line)))
            start += len(line)
        return spans
