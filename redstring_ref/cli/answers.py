"""Search results and their explanation as JSON. It retrieves nothing."""

from dataclasses import asdict

from redstring_ref.cli.searching import Corpus
from redstring_ref.composition import ChunkRetrievalTrace, Explanation, MatchWorking
from redstring_ref.domain import JsonObject, ScoredChunk


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
