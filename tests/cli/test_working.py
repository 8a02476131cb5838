"""Explanations: every number beside its formula."""

from pathlib import Path

import pytest

from redstring_ref.composition import ChunkRetrievalTrace, explain_chunks
from redstring_ref.domain import (
    ChunkId,
    CorpusStats,
    LexicalCandidate,
    LexicalCandidates,
    RankedChunk,
    RetrievalMode,
    ScoredChunk,
    SemanticCandidate,
    SourceId,
    StoredChunk,
)
from tests.cli.conftest import Run
from tests.support import TENANT


def test_explain_shows_arithmetic_that_adds_up(run: Run) -> None:
    answer = run("explain", "a tie broken tie", ".", "-k", "1", "--json").json
    assert answer["terms"] == ["tie", "broken", "tie"]
    (top,) = answer["results"]
    lexical, semantic = top["lexical_working"], top["semantic_working"]
    assert [term["term"] for term in lexical["terms"]] == ["tie", "broken", "tie"]
    assert sum(term["weight"] for term in lexical["terms"]) == pytest.approx(top["lexical"], rel=1e-15)
    assert lexical["terms"][0]["term_frequency"] == 1
    assert semantic["cosine"] == pytest.approx(
        semantic["dot"] / (semantic["query_squared_norm"] * semantic["chunk_squared_norm"]) ** 0.5
    )
    assert top["semantic"] == (1 + semantic["cosine"]) / 2
    assert lexical["reciprocal_rank"] + semantic["reciprocal_rank"] == pytest.approx(top["score"])
    assert answer["missed"]["rank"] == 2
    assert answer["missed"]["shortfall"] == pytest.approx(top["score"] - answer["missed"]["score"])


def test_explain_prints_each_number_with_its_formula(run: Run) -> None:
    outcome = run("explain", "tie", ".", "-k", "1")
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    # Lengths 7, 3 and 3 terms; idf = ln(1 + 2.5 / 1.5).
    assert lines[:11] == [
        "1. notes/ties.md:1-4 score 0.0327868852",
        "lexical rank 1, BM25 0.356167: length 7 terms, average 4.33333333 in 3 passages",
        "adds = idf · tf / (tf + k1 · (1 - b + b · length / average))",
        "= idf · tf / (tf + 1.2 · (1 - 0.75 + 0.75 · 7 / 4.33333333))",
        "term tf df idf adds",
        "tie 1 1 0.980829 0.356167",
        "total 0.356167",
        "semantic rank 1, score (1 + cosine) / 2 = 0.688982237",
        "cosine = dot / sqrt(|q|² · |v|²) = 0.377964467 / sqrt(1 · 0.999999967) = 0.377964473",
        "fused 1/(60 + 1) [0.0163934426] + 1/(60 + 1) [0.0163934426] = 0.0327868852",
        "",
    ]
    assert lines[11].startswith("First below the cut: ")
    assert "lexical not ranked" in lines
    assert lines[-2:] == [
        "fused 1/(60 + 2) [0.0161290323] = 0.0161290323",
        "missed by 0.016657853",
    ]


def test_explain_says_when_only_the_id_decided(run: Run) -> None:
    for name in ("a", "b"):
        Path(name).write_text("twins of a tie", encoding="utf-8")
    outcome = run("explain", "twins", "a", "b", "-k", "1", "--mode", "lexical")
    assert outcome.out.splitlines()[-1] == "  missed by 0: the scores are equal, and its id is the greater"
    outcome = run("explain", "twins", "a", "--mode", "semantic")
    assert "First below" not in outcome.out
    assert outcome.out.splitlines()[-1] == "Nothing missed the cut."
    assert run("explain", "zebra", "a", "--mode", "lexical").out == ""
    assert run("explain", "twins", "a", "-k", "0").out == ""
    assert "lexical   not ranked" in outcome.out
    assert "fused" not in outcome.out


def test_the_total_is_the_sum_of_what_the_terms_add(run: Run) -> None:
    lines = [line.split() for line in run("explain", "a tie broken tie", ".", "-k", "1").out.splitlines()]
    rows = [line for line in lines if line and line[0] in ("tie", "broken")]
    (total,) = [line for line in lines if line and line[0] == "total"][:1]
    assert [row[0] for row in rows[:3]] == ["tie", "broken", "tie"]
    assert sum(float(row[-1]) for row in rows[:3]) == pytest.approx(float(total[-1]), abs=2e-6)


class CountedChunk(StoredChunk):
    """A chunk that counts how often any id is derived."""

    derived = 0

    @property
    def id(self) -> ChunkId:
        CountedChunk.derived += 1
        return super().id


def test_an_explanation_looks_each_passage_up_once() -> None:
    chunks = [
        CountedChunk(TENANT, SourceId(f"doc-{at}"), "tie", 0, 0, 3, embedding=[1.0]) for at in range(300)
    ]
    stats = CorpusStats(300, 300, {"tie": 300})
    trace = ChunkRetrievalTrace(
        "tie",
        RetrievalMode.HYBRID,
        300,
        query_vector=[1.0],
        semantic=[SemanticCandidate(chunk, 1.0) for chunk in chunks],
        terms=["tie"],
        candidates=LexicalCandidates(stats, [LexicalCandidate(chunk, 1, {"tie": 1}) for chunk in chunks]),
        lexical=[RankedChunk(chunk, 0.5) for chunk in chunks],
        matches=[ScoredChunk(chunk, 0.5, 1.0, 0.5) for chunk in chunks],
    )
    CountedChunk.derived = 0
    workings = explain_chunks(trace).matches
    assert [
        (each.lexical.rank, each.semantic.rank) for each in workings if each.lexical and each.semantic
    ] == [(rank, rank) for rank in range(1, 301)]
    assert CountedChunk.derived <= 5 * len(chunks)
