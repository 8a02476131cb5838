"""Search results and their explanation, as text and as JSON. It retrieves nothing."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TextIO

from redstring_ref.cli.searching import Corpus
from redstring_ref.cli.snippets import Snippet
from redstring_ref.cli.terminal import emphasis, width
from redstring_ref.composition import (
    ChunkRetrievalTrace,
    Explanation,
    LexicalWorking,
    MatchWorking,
    SemanticWorking,
)
from redstring_ref.domain import RRF_K, JsonObject, RetrievalMode, ScoredChunk, tokenize

UNRANKED = "-"
SKIPPED_SHOWN = 10
INDENT = "      "
MIN_SNIPPET_WIDTH = 20


def search_lines(trace: ChunkRetrievalTrace, corpus: Corpus, stream: TextIO) -> Iterator[str]:
    """Yield the matches as a table, each with a snippet in which the words of the query are marked."""
    opening, closing = emphasis(stream)
    terms = frozenset(tokenize(trace.query))
    matches = trace.matches[: trace.k]
    if matches:
        yield f"{'rank':>4}  {'fused':>8}  {'semantic':>8}  {'lexical':>8}  source"
    for rank, match in enumerate(matches, start=1):
        fused = match.score if trace.mode is RetrievalMode.HYBRID else None
        scores = "  ".join(f"{_number(score):>8}" for score in (fused, match.semantic, match.lexical))
        yield f"{rank:>4}  {scores}  {_place(match, corpus)}"
        snippet = Snippet.of(match.chunk.text, terms)
        for line in snippet.lines(max(MIN_SNIPPET_WIDTH, width(stream) - len(INDENT)), opening, closing):
            yield f"{INDENT}{line}"


def search_json(trace: ChunkRetrievalTrace, corpus: Corpus) -> JsonObject:
    """Return the matches as JSON, with what was read and what was skipped."""
    matches = enumerate(trace.matches[: trace.k], start=1)
    return {
        **_head(trace, corpus),
        "results": [_match_json(rank, match, corpus) for rank, match in matches],
    }


def explain_json(trace: ChunkRetrievalTrace, explanation: Explanation, corpus: Corpus) -> JsonObject:
    """Return the matches as JSON with all of their working, and the first that missed the cut."""
    missed = explanation.missed
    return {
        **_head(trace, corpus),
        "terms": list(trace.terms),
        "results": [_working_json(working, corpus) for working in explanation.matches],
        "missed": None
        if missed is None
        else {**_working_json(missed.working, corpus), "shortfall": missed.shortfall},
    }


def explain_lines(trace: ChunkRetrievalTrace, explanation: Explanation, corpus: Corpus) -> Iterator[str]:
    """Yield the working of each match, and for the first that missed the cut, by how much it did."""
    for working in explanation.matches:
        yield from _working_lines(f"{working.rank}.", trace.mode, working, corpus)
        yield ""
    if explanation.missed is not None:
        missed = explanation.missed
        yield from _working_lines("First below the cut:", trace.mode, missed.working, corpus)
        if missed.shortfall:
            yield f"  missed by {missed.shortfall:.6g}"
        else:
            yield "  missed by 0: the scores are equal, and its id is the greater"


def status_lines(trace: ChunkRetrievalTrace, corpus: Corpus) -> Iterator[str]:
    """Yield what was read and skipped, and why there is no result if there is none."""
    for skipped in corpus.skipped[:SKIPPED_SHOWN]:
        yield f"skipped {skipped.path}: {skipped.reason}"
    more = len(corpus.skipped) - SKIPPED_SHOWN
    if more > 0:
        yield f"skipped {more} more; --json lists them all"
    report = corpus.report
    if not trace.matches:
        yield f"no results: {report.documents} files, {report.chunks_written} passages searched"


def _working_lines(title: str, mode: RetrievalMode, working: MatchWorking, corpus: Corpus) -> Iterator[str]:
    match = working.match
    yield f"{title} {_place(match, corpus)}  score {match.score:.6f}"
    if working.lexical is None:
        yield "  lexical   not ranked"
    else:
        yield from _lexical_lines(working.lexical)
    if working.semantic is None:
        yield "  semantic  not ranked"
    else:
        yield from _semantic_lines(working.semantic)
    if mode is RetrievalMode.HYBRID:
        channels = [each for each in (working.lexical, working.semantic) if each is not None]
        parts = [f"1/({RRF_K} + {each.rank}) [{each.reciprocal_rank:.6f}]" for each in channels]
        yield f"  fused     {' + '.join(parts)} = {match.score:.6f}"


def _lexical_lines(lexical: LexicalWorking) -> Iterator[str]:
    yield (
        f"  lexical   rank {lexical.rank}, BM25 {lexical.score:.6f}: {lexical.doc_length} terms, "
        f"average {lexical.average_doc_length:.2f} in {lexical.n_docs} passages"
    )
    term_width = max(len(weight.term) for weight in lexical.terms)
    yield f"            {'term':<{term_width}}  {'tf':>4}  {'df':>6}  {'idf':>9}  {'adds':>9}"
    for weight in lexical.terms:
        counts = f"{weight.term_frequency:>4}  {weight.doc_frequency:>6}"
        yield f"            {weight.term:<{term_width}}  {counts}  {weight.idf:>9.6f}  {weight.weight:>9.6f}"


def _semantic_lines(semantic: SemanticWorking) -> Iterator[str]:
    yield f"  semantic  rank {semantic.rank}, score (1 + cosine) / 2 = {semantic.score:.6f}"
    yield (
        f"            cosine = dot / sqrt(|q|² · |v|²) = {semantic.dot:.6f} / "
        f"sqrt({semantic.query_squared_norm:.6f} · {semantic.chunk_squared_norm:.6f}) = {semantic.cosine:.6f}"
    )


def _head(trace: ChunkRetrievalTrace, corpus: Corpus) -> JsonObject:
    return {
        "query": trace.query,
        "mode": trace.mode.value,
        "k": trace.k,
        "files": corpus.report.documents,
        "passages": corpus.report.chunks_written,
        "skipped": [{"path": skipped.path, "reason": skipped.reason} for skipped in corpus.skipped],
    }


def _match_json(rank: int, match: ScoredChunk, corpus: Corpus) -> JsonObject:
    first, last = corpus.lines(match.chunk)
    return {
        "rank": rank,
        "source": match.chunk.source_id,
        "first_line": first,
        "last_line": last,
        "start_char": match.chunk.start_char,
        "end_char": match.chunk.end_char,
        "id": match.chunk.id,
        "text": match.chunk.text,
        "score": match.score,
        "semantic": match.semantic,
        "lexical": match.lexical,
    }


def _working_json(working: MatchWorking, corpus: Corpus) -> JsonObject:
    return {
        **_match_json(working.rank, working.match, corpus),
        "semantic_working": None if working.semantic is None else asdict(working.semantic),
        "lexical_working": None if working.lexical is None else asdict(working.lexical),
    }


def _place(match: ScoredChunk, corpus: Corpus) -> str:
    first, last = corpus.lines(match.chunk)
    return f"{match.chunk.source_id}:{first}" + (f"-{last}" if last > first else "")


def _number(score: float | None) -> str:
    return UNRANKED if score is None else f"{score:.6f}"
