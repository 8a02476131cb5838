"""Passages, documents and queries for benchmarks: real English where the corpora are there. No timing."""

import gzip
import json
import random
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from redstring_ref import SourceId, StoredChunk, TenantId, tokenize

TENANT = TenantId(UUID("0000000a-0000-4000-8000-000000000001"))
DOCUMENT_SIZE = 200
# So many terms, 85 in the mean, give about 70 distinct ones.
FEWEST_TERMS, MOST_TERMS = 60, 110

_CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
_NAMES = ("scifact", "cranfield", "cacm", "npl")


def documents(chunks: int, dimension: int, seed: int = 1) -> Iterator[list[StoredChunk]]:
    """Yield documents of 200 chunks, the last perhaps shorter, with random vectors of this width."""
    terms, draw = _terms(), random.Random(seed)  # noqa: S311 (not for secrets)
    for number, start in enumerate(range(0, chunks, DOCUMENT_SIZE)):
        size = min(DOCUMENT_SIZE, chunks - start)
        at = draw.randrange(len(terms) - DOCUMENT_SIZE * MOST_TERMS)
        yield [
            StoredChunk(
                TENANT,
                SourceId(f"doc-{number}"),
                f"{number} {index} {' '.join(passage)}",
                index,
                index * 500,
                index * 500 + 500,
                metadata={"title": f"Document {number}", "page": index},
                embedding=random_vector(draw, dimension).tolist(),
            )
            for index, passage in enumerate(_passages(terms, at, size, draw))
        ]


def random_vector(draw: random.Random, dimension: int) -> "array[float]":
    """Return a vector of a direction that is as likely as any other."""
    return array("f", [draw.gauss(0.0, 1.0) for _ in range(dimension)])


def queries(count: int, seed: int = 2) -> list[list[str]]:
    """Return the terms of so many queries: real ones, or triples of terms where the corpora are not there."""
    draw = random.Random(seed)  # noqa: S311 (not for secrets)
    paths = [_CORPORA / name / "queries.jsonl" for name in _NAMES]
    texts = [
        json.loads(line)["text"] for path in paths if path.exists() for line in path.open(encoding="utf-8")
    ]
    found = [terms for terms in map(tokenize, texts) if terms]
    return draw.sample(found, count) if found else [draw.sample(_terms(), 3) for _ in range(count)]


def _passages(terms: Sequence[str], start: int, count: int, draw: random.Random) -> Iterator[Sequence[str]]:
    for _ in range(count):
        stop = start + draw.randint(FEWEST_TERMS, MOST_TERMS)
        yield terms[start:stop]
        start = stop


def _terms() -> list[str]:
    """Return the corpora's terms one after the other, or a million drawn by Zipf's law without them."""
    paths = [_CORPORA / name / "corpus.jsonl.gz" for name in _NAMES]
    found: list[str] = []
    for path in paths:
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for document in map(json.loads, lines):
                    found += tokenize(f"{document.get('title', '')} {document['text']}")
    if found:
        return found
    draw = random.Random(3)  # noqa: S311 (not for secrets)
    ranks = range(1, 50_001)
    return draw.choices([f"w{rank}" for rank in ranks], [1.0 / (rank + 25) for rank in ranks], k=1_000_000)
