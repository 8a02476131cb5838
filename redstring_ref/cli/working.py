"""The working of search results as text: every number with its formula. It computes none."""

from collections.abc import Iterator

from redstring_ref.cli.rendering import place
from redstring_ref.cli.searching import Corpus
from redstring_ref.composition import (
    ChunkRetrievalTrace,
    Explanation,
    LexicalWorking,
    MatchWorking,
    SemanticWorking,
)
from redstring_ref.domain import BM25_B, BM25_K1, RRF_K, RetrievalMode

INDENT = " " * 12
TOTAL = "total"


def explain_lines(trace: ChunkRetrievalTrace, explanation: Explanation, corpus: Corpus) -> Iterator[str]:
    """Yield the working of each match, and for the first that missed the cut, by how much it did."""
    for working in explanation.matches:
        yield from _working_lines(f"{working.rank}.", trace.mode, working, corpus)
        yield ""
    if explanation.missed is not None:
        missed = explanation.missed
        yield from _working_lines("First below the cut:", trace.mode, missed.working, corpus)
        if missed.shortfall:
            yield f"  missed by {missed.shortfall:.9g}"
        else:
            yield "  missed by 0: the scores are equal, and its id is the greater"
    elif explanation.matches:
        yield "Nothing missed the cut."


def _working_lines(title: str, mode: RetrievalMode, working: MatchWorking, corpus: Corpus) -> Iterator[str]:
    match = working.match
    yield f"{title} {place(match, corpus)}  score {match.score:.9g}"
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
        parts = [f"1/({RRF_K} + {each.rank}) [{each.reciprocal_rank:.9g}]" for each in channels]
        yield f"  fused     {' + '.join(parts)} = {match.score:.9g}"


def _lexical_lines(lexical: LexicalWorking) -> Iterator[str]:
    length, average = lexical.doc_length, f"{lexical.average_doc_length:.9g}"
    yield (
        f"  lexical   rank {lexical.rank}, BM25 {lexical.score:.6f}: length {length} terms, "
        f"average {average} in {lexical.n_docs} passages"
    )
    yield f"{INDENT}adds = idf · tf / (tf + k1 · (1 - b + b · length / average))"
    yield f"{INDENT}     = idf · tf / (tf + {BM25_K1} · (1 - {BM25_B} + {BM25_B} · {length} / {average}))"
    term_width = max(len(TOTAL), *(len(weight.term) for weight in lexical.terms))
    yield f"{INDENT}{'term':<{term_width}}  {'tf':>4}  {'df':>6}  {'idf':>9}  {'adds':>9}"
    for weight in lexical.terms:
        counts = f"{weight.term_frequency:>4}  {weight.doc_frequency:>6}"
        yield f"{INDENT}{weight.term:<{term_width}}  {counts}  {weight.idf:>9.6f}  {weight.weight:>9.6f}"
    yield f"{INDENT}{TOTAL:<{term_width}}  {'':>4}  {'':>6}  {'':>9}  {lexical.score:>9.6f}"


def _semantic_lines(semantic: SemanticWorking) -> Iterator[str]:
    yield f"  semantic  rank {semantic.rank}, score (1 + cosine) / 2 = {semantic.score:.9g}"
    yield (
        f"{INDENT}cosine = dot / sqrt(|q|² · |v|²) = {semantic.dot:.9g} / "
        f"sqrt({semantic.query_squared_norm:.9g} · {semantic.chunk_squared_norm:.9g}) = {semantic.cosine:.9g}"
    )
