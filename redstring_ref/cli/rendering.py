"""Search results and what else is to be told, as text. It retrieves nothing."""

from collections.abc import Iterator
from typing import TextIO

from redstring_ref.cli.searching import Corpus, counted
from redstring_ref.cli.snippets import Snippet
from redstring_ref.cli.terminal import emphasis, width
from redstring_ref.composition import ChunkRetrievalTrace
from redstring_ref.domain import RetrievalMode, ScoredChunk, tokenize

UNRANKED = "-"
SKIPPED_SHOWN = 10
INDENT = "      "
MIN_SNIPPET_WIDTH = 20
NO_TERMS = "the query has no terms: it holds only stopwords and punctuation, so no word can match"


def search_lines(trace: ChunkRetrievalTrace, corpus: Corpus, stream: TextIO) -> Iterator[str]:
    """Yield the matches as a table, each with a snippet in which the words of the query are marked."""
    opening, closing = emphasis(stream)
    room = max(MIN_SNIPPET_WIDTH, width(stream) - len(INDENT))
    terms = frozenset(tokenize(trace.query))
    matches = trace.matches[: trace.k]
    if matches:
        yield f"{'rank':>4}  {'fused':>8}  {'semantic':>8}  {'lexical':>8}  source"
    for rank, match in enumerate(matches, start=1):
        fused = match.score if trace.mode is RetrievalMode.HYBRID else None
        scores = "  ".join(f"{_number(score):>8}" for score in (fused, match.semantic, match.lexical))
        yield f"{rank:>4}  {scores}  {place(match, corpus)}"
        for line in Snippet.of(match.chunk.text, terms).lines(room, opening, closing):
            yield f"{INDENT}{line}"


def skipped_lines(corpus: Corpus) -> Iterator[str]:
    """Yield what was skipped and why, up to ten."""
    for skipped in corpus.skipped[:SKIPPED_SHOWN]:
        yield f"skipped {skipped.path}: {skipped.reason}"
    more = len(corpus.skipped) - SKIPPED_SHOWN
    if more > 0:
        yield f"skipped {more} more; --json lists them all"


def status_lines(trace: ChunkRetrievalTrace, corpus: Corpus) -> Iterator[str]:
    """Yield how much was searched, and what explains that nothing was found."""
    if not tokenize(trace.query):
        yield NO_TERMS
    searched = (
        f"{counted(corpus.report.documents, 'file')}, {counted(corpus.report.chunks_written, 'passage')}"
    )
    yield f"{'' if trace.matches else 'no results: '}{searched} searched"


def place(match: ScoredChunk, corpus: Corpus) -> str:
    """Return where a passage stands: its file and its lines."""
    first, last = corpus.lines(match.chunk)
    return f"{match.chunk.source_id}:{first}" + (f"-{last}" if last > first else "")


def _number(score: float | None) -> str:
    return UNRANKED if score is None else f"{score:.6f}"
