"""Reads, indexes and retrieves for one command. It prints nothing but progress."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.cli.reading import read_files
from redstring_ref.cli.terminal import Progress
from redstring_ref.cli.walking import SkippedFile, require_paths
from redstring_ref.composition import (
    ChunkRetrievalTrace,
    ChunkRetriever,
    IndexProgress,
    IndexReport,
    index_documents,
)
from redstring_ref.domain import RetrievalMode, SourceDocument, SourceId, StoredChunk, TenantId
from redstring_ref.memory import InMemoryChunkStore
from redstring_ref.ports import EmbeddingProvider

# One command serves one user: the tenant only has to be the same for every file.
TENANT = TenantId(UUID(int=0))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search, how, and for what."""

    query: str
    paths: Sequence[str]
    mode: RetrievalMode
    k: int
    chunker: SlidingWindowChunker
    embeddings: EmbeddingProvider


@dataclass(slots=True)
class Corpus:
    """What was read: where the lines of each file end, and what was skipped."""

    line_ends: dict[str, "array[int]"] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)
    report: IndexReport = field(default_factory=IndexReport)

    def documents(self, paths: Sequence[str]) -> Iterator[SourceDocument]:
        """Yield the files below `paths`, noting the lines of each and every file that is skipped."""
        for found in read_files(paths):
            if isinstance(found, SkippedFile):
                self.skipped.append(found)
                continue
            # A NUL makes a file binary and UTF-8 has no surrogates, so the text can be stored.
            line_ends = (match.start() for match in re.finditer("\n", found.text))
            self.line_ends[found.path] = array("q", line_ends)
            yield SourceDocument(SourceId(found.path), found.text)

    def lines(self, chunk: StoredChunk) -> tuple[int, int]:
        """Return the numbers of the first and last line of a chunk's text, white space at its ends aside."""
        ends = self.line_ends[chunk.source_id]
        first = chunk.start_char + len(chunk.text) - len(chunk.text.lstrip())
        last = chunk.start_char + len(chunk.text.rstrip()) - 1
        return bisect_left(ends, first) + 1, bisect_left(ends, last) + 1


async def run_search(request: SearchRequest) -> tuple[ChunkRetrievalTrace, Corpus]:
    """Index the files of the request in memory and retrieve from them, with the working."""
    require_paths(request.paths)
    corpus, progress = Corpus(), Progress()

    def show(state: IndexProgress) -> None:
        progress.show(
            f"{state.documents_done} files indexed; {state.source_id}: "
            f"{state.chunks_done} of {state.chunks} passages"
        )

    is_lexical = request.mode is RetrievalMode.LEXICAL
    async with InMemoryChunkStore(dimension=request.embeddings.dimension) as store:
        try:
            corpus.report = await index_documents(
                corpus.documents(request.paths),
                store=store,
                tenant_id=TENANT,
                chunker=request.chunker,
                embeddings=None if is_lexical else request.embeddings,
                on_progress=show,
            )
        finally:
            progress.clear()
        retriever = (
            ChunkRetriever.lexical_only(chunks=store)
            if is_lexical
            else ChunkRetriever(embeddings=request.embeddings, chunks=store)
        )
        trace = await retriever.trace_chunks(request.query, TENANT, k=request.k, mode=request.mode)
    return trace, corpus
