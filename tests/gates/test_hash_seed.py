"""No answer depends on the hash seed: the same bytes come out of an interpreter under each."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from uuid import UUID

from redstring_ref.domain import (
    CorpusStats, RetrievalMode, StoredChunk, TenantId, best_first, blocking_keys, bm25_score, chunk_id,
    entity_id, rank_vectors, reciprocal_rank_fusion, tokenize,
)

TENANT = TenantId(UUID("0000000a-0000-4000-8000-000000000001"))
TEXT = "Ties of the tied: ﬁve naïve ÉLAN, 検索エンジン한글 हिन्दी snake_case C++ " + "x" * 300
IDS = [1, "1", True, 1.0, "a", "A", TENANT, str(TENANT), "é", "e\\u0301", (1, "a"), None]
IDS += [RetrievalMode.HYBRID, "hybrid"]
KEYS = {f"{n * 7919 % 101:x}" for n in range(60)}
STATS = CorpusStats(60, 600, {key: 1 + n for n, key in enumerate(sorted(KEYS))})

answers = [
    reciprocal_rank_fusion([IDS, IDS[::-1], IDS[7:], [each for each in IDS if isinstance(each, str)]]),
    reciprocal_rank_fusion([[each] for each in IDS]),
    reciprocal_rank_fusion([[key] for key in KEYS]),
    tokenize(TEXT),
    best_first((key, len(key) / 3) for key in KEYS),
    best_first(((key, 0.5) for key in KEYS), 7),
    rank_vectors([1.0, 0.0], ((key, [1.0, float(len(key))]) for key in KEYS), 9),
    bm25_score(list(KEYS), {key: 1 + len(key) for key in KEYS}, 12, STATS),
    sorted(blocking_keys(["Bank of America", "The BofA", "検索 エンジン", "the"])),
    [chunk_id("doc-1", term) for term in tokenize(TEXT)],
    StoredChunk(TENANT, "doc-1", TEXT, 0, 0, len(TEXT), metadata={key: 1 for key in sorted(KEYS)}),
    entity_id(TENANT, "person", "ada lovelace"),
]
for answer in answers:
    sys.stdout.buffer.write(ascii(answer).encode() + b"\\n")
"""


@cache
def output(seed: str) -> bytes:
    """Return what the program prints under `PYTHONHASHSEED=seed`."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    # The interpreter and the program are this test's own.
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True).stdout  # noqa: S603


def test_the_program_prints_every_answer() -> None:
    assert len(output("0").splitlines()) == 12


@pytest.mark.parametrize("seed", ["1", "2", "12345", "4294967295", "random"])
def test_no_answer_depends_on_the_hash_seed(seed: str) -> None:
    assert output(seed) == output("0")
