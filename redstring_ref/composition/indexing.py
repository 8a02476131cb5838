"""Indexes documents: splits, embeds, writes, one document at a time. It extracts nothing."""

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import partial

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.composition.gate import require_same_dimension
from redstring_ref.composition.passages import cut, embed_passages, stored_embeddings
from redstring_ref.domain.arguments import require_iterable
from redstring_ref.domain.chunks import SourceDocument, require_document
from redstring_ref.domain.errors import got
from redstring_ref.domain.ids import SourceId, TenantId, require_tenant
from redstring_ref.ports import Chunker, ChunkReader, ChunkWriter, Dimensioned, EmbeddingProvider


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far `index_documents` has come: whole documents, and passages of the one in hand.

    `documents` is `None` where the number of documents is not known beforehand.
    """

    source_id: SourceId
    documents_done: int
    documents: int | None
    chunks_done: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What `index_documents` did, in numbers of distinct chunks."""

    documents: int = 0
    chunks_written: int = 0
    orphans_removed: int = 0
    chunks_embedded: int = 0


async def index_documents(
    documents: Iterable[SourceDocument],
    *,
    store: ChunkWriter,
    tenant_id: TenantId,
    chunker: Chunker | None = None,
    embeddings: EmbeddingProvider | None = None,
    reuse_embeddings: bool = False,
    on_progress: Callable[[IndexProgress], None] | None = None,
) -> IndexReport:
    """Make each document's passages the whole of its source in `store`, embedded if a provider is given.

    Documents are consumed one by one, and each is written by one `replace_source` after all of
    its texts are embedded: a failure leaves the earlier documents indexed, and the old passages
    of the others. With `reuse_embeddings`, passages stored with an embedding keep it, whichever
    model it is from.

    Raises `DimensionMismatchError` before anything is embedded if the provider's vectors are not
    the store's; `ValueError` for a source id that comes twice, and for a store that cannot do
    what is asked (it holds no embeddings, or cannot be read); and what provider and store raise.

    Spec: IDX-1 to IDX-4, RET-5.
    """
    require_tenant(tenant_id)
    if embeddings is not None:
        if not isinstance(store, Dimensioned):
            raise ValueError(f"embeddings need a store that holds them, {got(store)}")
        require_same_dimension(embeddings, store)
    if reuse_embeddings and not isinstance(store, ChunkReader):
        raise ValueError(f"reuse_embeddings needs a store that can be read, {got(store)}")
    reader = store if reuse_embeddings and isinstance(store, ChunkReader) else None
    chunker = SlidingWindowChunker() if chunker is None else chunker
    total = len(documents) if isinstance(documents, Sized) else None
    report = IndexReport()
    for document in _each_once(documents):
        chunks = cut(document, tenant_id, chunker)
        tell = partial(_tell, on_progress, document.source_id, total, len(chunks))
        known = {} if reader is None else await stored_embeddings(reader, document, tenant_id)
        embedded = await embed_passages(chunks, known, embeddings, partial(tell, report.documents))
        orphans = await store.replace_source(document.source_id, tenant_id, chunks)
        report = IndexReport(
            report.documents + 1,
            report.chunks_written + len(chunks),
            report.orphans_removed + orphans,
            report.chunks_embedded + embedded,
        )
        tell(report.documents, len(chunks))
    return report


def _tell(
    on_progress: Callable[[IndexProgress], None] | None,
    source_id: SourceId,
    documents: int | None,
    chunks: int,
    documents_done: int,
    chunks_done: int,
) -> None:
    if on_progress is not None:
        on_progress(IndexProgress(source_id, documents_done, documents, chunks_done, chunks))


def _each_once(documents: Iterable[SourceDocument]) -> Iterator[SourceDocument]:
    """Yield checked copies of the documents; refuse a source id that came before."""
    seen: set[SourceId] = set()
    for position, document in enumerate(require_iterable("documents", documents)):
        copy = require_document(f"documents[{position}]", document)
        if copy.source_id in seen:
            raise ValueError(f"documents[{position}] has the source_id of an earlier one: {copy.source_id!r}")
        seen.add(copy.source_id)
        yield copy
