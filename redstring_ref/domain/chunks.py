"""The passage that is stored, and the document that it is cut from. Nothing here ranks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from redstring_ref.domain.arguments import require_at_least, require_iterable
from redstring_ref.domain.errors import got, shown
from redstring_ref.domain.ids import (
    ChunkId,
    EntityId,
    SourceId,
    TenantId,
    chunk_id,
    require_source_id,
    require_tenant,
    require_uuid,
)
from redstring_ref.domain.storable import JsonObject, json_object, require_text
from redstring_ref.domain.vectors import as_vector, require_width

MAX_POSITION = 2**31 - 1


@dataclass(slots=True)
class StoredChunk:
    """One passage of one source of one tenant, checked and copied as it is made.

    `chunk_index` counts the passages of the source from 0; `start_char` and `end_char` are
    offsets into the source's text. `embedding=None` means not embedded yet, never zero;
    `entity_ids=[]` means that no entities were found. Two chunks are equal when every field is.

    A field of the wrong type is a `TypeError`, a value that cannot be stored a `ValueError`
    (`InvalidVectorError` for the embedding), and both name the field.

    Spec: CHK-1 to CHK-5, VEC-1, VEC-2.
    """

    tenant_id: TenantId
    source_id: SourceId
    text: str
    chunk_index: int
    start_char: int
    end_char: int
    entity_ids: list[EntityId] = field(default_factory=list)
    metadata: JsonObject = field(default_factory=dict)
    embedding: list[float] | None = None

    def __post_init__(self) -> None:
        require_tenant(self.tenant_id)
        self.source_id = require_source_id(self.source_id)
        self.text = require_text("text", self.text)
        self.chunk_index = _require_position("chunk_index", self.chunk_index)
        self.start_char = _require_position("start_char", self.start_char)
        self.end_char = _require_position("end_char", self.end_char)
        if self.start_char > self.end_char:
            raise ValueError(f"start_char must be at most end_char {self.end_char}, got {self.start_char}")
        self.entity_ids = _require_entity_ids(self.entity_ids)
        self.metadata = json_object("metadata", self.metadata)
        if self.embedding is not None:
            self.embedding = as_vector(self.embedding)

    @property
    def id(self) -> ChunkId:
        """The id, derived from `source_id` and `text` each time it is read."""
        return chunk_id(self.source_id, self.text)

    def copy(self) -> Self:
        """Return an independent copy, checked again: the fields of this one may have been set since."""
        return type(self)(
            self.tenant_id,
            self.source_id,
            self.text,
            self.chunk_index,
            self.start_char,
            self.end_char,
            self.entity_ids,
            self.metadata,
            self.embedding,
        )


@dataclass(slots=True)
class SourceDocument:
    """A text to be chunked and indexed; its metadata goes onto each of its chunks.

    Raises as `StoredChunk` does.

    Spec: CHK-2 to CHK-4, IDX-1.
    """

    source_id: SourceId
    text: str
    metadata: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source_id = require_source_id(self.source_id)
        self.text = require_text("text", self.text)
        self.metadata = json_object("metadata", self.metadata)


def require_document(field: str, value: object) -> SourceDocument:
    """Return a checked, independent copy of a `SourceDocument`; anything else is a `TypeError`."""
    if not isinstance(value, SourceDocument):
        raise TypeError(f"{field} must be a SourceDocument, {got(value)}")
    return replace(value)


def require_chunks(chunks: Iterable[StoredChunk], dimension: int) -> list[StoredChunk]:
    """Return checked, independent copies of `chunks`, consumed once: the door of every chunk store.

    An element that is not a `StoredChunk` is a `TypeError`, an embedding of another width than
    `dimension` a `DimensionMismatchError`; the first bad element raises.

    Spec: PRT-2, PRT-3, PRT-4, VEC-5.
    """
    return list(_checked(chunks, dimension))


def require_chunks_of(
    source_id: SourceId, tenant_id: TenantId, chunks: Iterable[StoredChunk], dimension: int
) -> list[StoredChunk]:
    """Return `require_chunks(chunks, dimension)`; one of another source or tenant is a `ValueError`.

    Spec: CHK-7.
    """
    copies = []
    for position, chunk in enumerate(_checked(chunks, dimension)):
        if chunk.tenant_id != tenant_id:
            raise ValueError(f"chunks[{position}] is of tenant {chunk.tenant_id}, not of {tenant_id}")
        if chunk.source_id != source_id:
            raise ValueError(f"chunks[{position}] is of source {chunk.source_id!r}, not of {source_id!r}")
        copies.append(chunk)
    return copies


def _checked(chunks: Iterable[StoredChunk], dimension: int) -> Iterator[StoredChunk]:
    for position, chunk in enumerate(require_iterable("chunks", chunks)):
        if not isinstance(chunk, StoredChunk):
            raise TypeError(f"chunks[{position}] must be a StoredChunk, {got(chunk)}")
        copy = chunk.copy()
        if copy.embedding is not None:
            require_width(dimension, copy.embedding, f"chunks[{position}].embedding")
        yield copy


def _require_position(field: str, value: object) -> int:
    number = require_at_least(0, field, value)
    if number > MAX_POSITION:
        raise ValueError(f"{field} must be at most {MAX_POSITION}, got {shown(number)}")
    return number


def _require_entity_ids(values: object) -> list[EntityId]:
    # A set would come back in an order that nobody chose.
    if not isinstance(values, list | tuple):
        raise TypeError(f"entity_ids must be a list of UUIDs, {got(values)}")
    return [EntityId(require_uuid(f"entity_ids[{position}]", value)) for position, value in enumerate(values)]
