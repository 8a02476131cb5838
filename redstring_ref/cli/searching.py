"""Reads, indexes and retrieves for one command. It prints nothing but progress."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from redstring_ref.cli.progress import Progress
from redstring_ref.cli.reading import read_files
from redstring_ref.cli.request import SearchRequest
from redstring_ref.cli.walking import SkippedFile, require_paths
from redstring_ref.composition import (
    ChunkRetrievalTrace,
    ChunkRetriever,
    IndexProgress,
    IndexReport,
    index_documents,
)
from redstring_ref.domain import RetrievalMode, SourceDocument, SourceId, StoredChunk, TenantId, TextSpan
from redstring_ref.memory import InMemoryChunkStore
from redstring_ref.ports import Chunker

# One command serves one user: the tenant only has to be the same for every file.
TENANT = TenantId(UUID(int=0))


@dataclass(slots=True)
class Corpus:
    """What was read: where the lines of each file end, and what was skipped."""

    line_ends: dict[str, "array[int]"] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)
    report: IndexReport = field(default_factory=IndexReport)

    @property
    def is_unreadable(self) -> bool:
        """Whether there was something to read, and none of it could be."""
        return not self.report.documents and bool(self.skipped)

    def documents(self, paths: Sequence[str], before: Callable[[str], None]) -> Iterator[SourceDocument]:
        """Yield the files below `paths`, noting the lines of each and every file that is skipped.

        `before` is told the name of each that is opened.
        """
        for found in read_files(paths, before):
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


class _Narrator:
    """Puts into words how far a search has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._files = 0
        self._name = ""

    def reading(self, name: str) -> None:
        self._files += 1
        self._name = name
        self._progress.show(f"file {self._files}: reading {name}")

    def cut(self, passages: int) -> None:
        self._progress.show(f"file {self._files}: indexing {counted(passages, 'passage')} of {self._name}")

    def embedded(self, state: IndexProgress) -> None:
        done = f"embedded {state.chunks_done} of {counted(state.chunks, 'passage')}"
        self._progress.show(f"file {self._files}: {done} of {state.source_id}")

    def searching(self) -> None:
        self._progress.show("searching")


@dataclass(frozen=True, slots=True)
class _ToldChunker:
    """A chunker that tells how many spans it has cut."""

    chunker: Chunker
    told: Callable[[int], None]

    def chunk(self, text: str) -> list[TextSpan]:
        spans = self.chunker.chunk(text)
        self.told(len(spans))
        return spans


async def run_search(request: SearchRequest) -> tuple[ChunkRetrievalTrace, Corpus]:
    """Index the files of the request in memory and retrieve from them, with the working."""
    require_paths(request.paths)
    corpus = Corpus()
    is_lexical = request.mode is RetrievalMode.LEXICAL
    with Progress() as progress:
        narrator = _Narrator(progress)
        async with InMemoryChunkStore(dimension=request.embeddings.dimension) as store:
            corpus.report = await index_documents(
                corpus.documents(request.paths, narrator.reading),
                store=store,
                tenant_id=TENANT,
                chunker=_ToldChunker(request.chunker, narrator.cut),
                embeddings=None if is_lexical else request.embeddings,
                on_progress=None if is_lexical else narrator.embedded,
            )
            narrator.searching()
            retriever = (
                ChunkRetriever.lexical_only(chunks=store)
                if is_lexical
                else ChunkRetriever(embeddings=request.embeddings, chunks=store)
            )
            trace = await retriever.trace_chunks(request.query, TENANT, k=request.k, mode=request.mode)
    return trace, corpus


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 file` and `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
