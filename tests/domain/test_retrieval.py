"""What a retrieval is asked and what it answers."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    ChunkRetrievalResult,
    Entity,
    EntityId,
    RetrievalMode,
    RetrievalResult,
    ScoredChunk,
    ScoredEntity,
)
from redstring_ref.domain.retrieval import require_query
from tests.support import TENANT, make_chunk

ADA = Entity(TENANT, EntityId(UUID("0000000c-0000-4000-8000-000000000003")), "Ada", "person")


def test_the_modes_are_three_strings() -> None:
    assert [mode.value for mode in RetrievalMode] == ["hybrid", "semantic", "lexical"]
    assert RetrievalMode("lexical") is RetrievalMode.LEXICAL
    assert f"{RetrievalMode.HYBRID}" == "hybrid"


@pytest.mark.parametrize("mode", ["", "HYBRID", "both"])
def test_there_is_no_other_mode(mode: str) -> None:
    with pytest.raises(ValueError, match="not a valid RetrievalMode"):
        RetrievalMode(mode)


def test_a_channel_that_did_not_rank_is_none_and_not_zero() -> None:
    scored = ScoredChunk(make_chunk("text"), 0.0)
    assert (scored.score, scored.semantic, scored.lexical) == (0.0, None, None)
    assert scored != ScoredChunk(make_chunk("text"), 0.0, 0.0, 0.0)
    entity = ScoredEntity(ADA, 0.0)
    assert (entity.score, entity.semantic, entity.lexical) == (0.0, None, None)
    assert entity != ScoredEntity(ADA, 0.0, semantic=0.0)


def test_results_are_values() -> None:
    chunks = ChunkRetrievalResult("query", [ScoredChunk(make_chunk("text"), 0.5, 0.5)])
    entities = RetrievalResult("query", [ScoredEntity(ADA, 0.5, lexical=0.5)])
    assert chunks == copy.deepcopy(chunks) == pickle.loads(pickle.dumps(chunks))  # noqa: S301
    assert entities == copy.deepcopy(entities) == pickle.loads(pickle.dumps(entities))  # noqa: S301
    with pytest.raises(FrozenInstanceError):
        chunks.query = "another"  # type: ignore[misc]


@pytest.mark.parametrize(
    "query", ["a", " a ", "?!", "\u200b", "the", "\U0001f9f5", "x" * 2**20, numpy.str_("a")]
)
def test_a_query_with_anything_but_white_space_is_a_query(query: str) -> None:
    assert require_query(query) == query
    assert type(require_query(query)) is str


@pytest.mark.parametrize("query", ["", " ", "\n\t\r", "\u00a0\u3000\u2003", "\x1c\x85"])
def test_a_blank_query_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match="query must not be blank"):
        require_query(query)


@pytest.mark.parametrize("query", [None, 1, b"a", ["a"]])
def test_a_query_is_a_str(query: object) -> None:
    with pytest.raises(TypeError, match="query must be a str"):
        require_query(query)


@pytest.mark.parametrize("query", ["a\x00", "a\ud800"])
def test_an_unstorable_query_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match=r"^query holds U\+.* at index 1"):
        require_query(query)
