"""What a retrieval is asked and what it answers. How channels are joined is not here."""

from dataclasses import dataclass
from enum import StrEnum

from redstring_ref.domain.chunks import StoredChunk
from redstring_ref.domain.graph import Entity
from redstring_ref.domain.storable import require_text


class RetrievalMode(StrEnum):
    """Which channels answer: both fused by rank, or one alone."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk and the score that it is ordered by, beside the scores of the channels.

    `semantic` is its cosine score and `lexical` its BM25 score; `None` means that the channel
    did not rank the chunk, never zero. `score` is the fused score in hybrid mode and the
    channel's own otherwise.

    Spec: RET-3.
    """

    chunk: StoredChunk
    score: float
    semantic: float | None = None
    lexical: float | None = None


@dataclass(frozen=True, slots=True)
class ChunkRetrievalResult:
    """The passages that answer a query, best first."""

    query: str
    matches: list[ScoredChunk]


@dataclass(frozen=True, slots=True)
class ScoredEntity:
    """An entity and the score that it is ordered by, beside the scores of the channels.

    `semantic` is its cosine score and `lexical` the similarity of its name to the query;
    `None` means that the channel did not rank the entity, never zero.

    Spec: RET-3, ENT-3.
    """

    entity: Entity
    score: float
    semantic: float | None = None
    lexical: float | None = None


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The entities that answer a query, best first."""

    query: str
    matches: list[ScoredEntity]


def require_query(value: object) -> str:
    """Return `value` if it is a query: text with something other than white space in it.

    Spec: RET-1.
    """
    query = require_text("query", value)
    if not query.strip():
        raise ValueError(f"query must not be blank, got {query!r}")
    return query
