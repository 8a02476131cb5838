"""From a document to passages that can be written: cut, and embedded. It writes nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from redstring_ref.composition.gate import embed_texts
from redstring_ref.domain.arguments import require_iterable
from redstring_ref.domain.chunks import SourceDocument, StoredChunk
from redstring_ref.domain.errors import got, shown
from redstring_ref.domain.ids import ChunkId, TenantId
from redstring_ref.domain.span import TextSpan
from redstring_ref.ports import Chunker, ChunkReader, EmbeddingProvider

# How many texts a provider is given between two reports of progress.
EMBEDDING_BATCH = 256


def cut(document: SourceDocument, tenant_id: TenantId, chunker: Chunker) -> list[StoredChunk]:
    """Return the document's passages that are not blank, each id once: the later of two equal texts.

    A chunker that gives something else than spans of the text is a `TypeError` or a `ValueError`.

    Spec: IDX-2.
    """
    spans = [span for span in _spans(document, chunker) if document.text[span.start : span.end].strip()]
    chunks: dict[ChunkId, StoredChunk] = {}
    for chunk_index, span in enumerate(spans):
        chunk = StoredChunk(
            tenant_id,
            document.source_id,
            document.text[span.start : span.end],
            chunk_index,
            span.start,
            span.end,
            metadata=document.metadata,
        )
        chunks[chunk.id] = chunk
    return list(chunks.values())


def _spans(document: SourceDocument, chunker: Chunker) -> Iterator[TextSpan]:
    """Yield the chunker's spans; Python would cut one that reaches beyond the text, but keep its offsets."""
    size = len(document.text)
    for position, span in enumerate(require_iterable("spans", chunker.chunk(document.text))):
        if not isinstance(span, TextSpan):
            raise TypeError(f"spans[{position}] must be a TextSpan, {got(span)}")
        if span.end > size:
            raise ValueError(f"spans[{position}] must end within the text, at {size}, got {shown(span.end)}")
        yield span


async def stored_embeddings(
    store: ChunkReader, document: SourceDocument, tenant_id: TenantId
) -> dict[ChunkId, list[float]]:
    """Return the embeddings that the document's source has in the store, by chunk id.

    An id is derived from the text, so its embedding is of that text still.

    Spec: IDX-4, CHK-1.
    """
    chunks = await store.get_by_source(document.source_id, tenant_id)
    return {chunk.id: chunk.embedding for chunk in chunks if chunk.embedding is not None}


async def embed_passages(
    chunks: Sequence[StoredChunk],
    known: Mapping[ChunkId, list[float]],
    embeddings: EmbeddingProvider | None,
    on_batch: Callable[[int], None] | None = None,
) -> int:
    """Set each chunk's embedding, the known one or the provider's; return how many were embedded.

    Without a provider, a chunk whose embedding is not known stays without. `on_batch` is told
    how many chunks have been embedded after each batch.

    Spec: IDX-1, IDX-4.
    """
    missing = []
    for chunk in chunks:
        chunk.embedding = known.get(chunk.id)
        if chunk.embedding is None:
            missing.append(chunk)
    if embeddings is None:
        return 0
    for start in range(0, len(missing), EMBEDDING_BATCH):
        batch = missing[start : start + EMBEDDING_BATCH]
        vectors = await embed_texts(embeddings, [chunk.text for chunk in batch])
        for chunk, vector in zip(batch, vectors, strict=True):
            chunk.embedding = vector
        if on_batch is not None:
            on_batch(start + len(batch))
    return len(missing)
