"""Chunks and documents: what each field accepts, what a copy shares, what equality sees."""

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EntityId,
    InvalidVectorError,
    SourceDocument,
    SourceId,
    StoredChunk,
    chunk_id,
)
from redstring_ref.domain.chunks import require_chunks, require_chunks_of, require_document
from tests.support import OTHER_TENANT, TENANT, make_chunk

DOC = SourceId("doc-1")
ADA = EntityId(UUID("0000000c-0000-4000-8000-000000000003"))
BOB = EntityId(UUID("0000000d-0000-4000-8000-000000000004"))
HUGE = 10**5000
LAST = 2147483647


def full() -> StoredChunk:
    """Return a chunk with something in every field, new each time."""
    return StoredChunk(
        TENANT, DOC, "text", 2, 3, 7, [BOB, ADA, BOB], {"tags": ["a", {"b": [1]}], "page": 1}, [0.5, -2.0]
    )


# What a chunk is


def test_the_constructor_takes_its_fields_in_this_order() -> None:
    assert [field.name for field in fields(StoredChunk)] == [
        *("tenant_id", "source_id", "text", "chunk_index", "start_char", "end_char"),
        *("entity_ids", "metadata", "embedding"),
    ]
    chunk = full()
    assert (chunk.tenant_id, chunk.source_id, chunk.text) == (TENANT, "doc-1", "text")
    assert (chunk.chunk_index, chunk.start_char, chunk.end_char) == (2, 3, 7)
    assert chunk.entity_ids == [BOB, ADA, BOB]
    assert chunk.metadata == {"tags": ["a", {"b": [1]}], "page": 1}
    assert chunk.embedding == [0.5, -2.0]


def test_a_chunk_without_more_has_no_entities_no_metadata_and_is_not_embedded() -> None:
    first, second = (StoredChunk(TENANT, DOC, "text", 0, 0, 4) for _ in range(2))
    assert (first.entity_ids, first.metadata, first.embedding) == ([], {}, None)
    assert first.entity_ids is not second.entity_ids
    assert first.metadata is not second.metadata


def test_an_empty_text_is_a_text() -> None:
    assert StoredChunk(TENANT, DOC, "", 0, 0, 0).text == ""


def test_the_id_follows_source_and_text_alone() -> None:
    chunk = full()
    assert chunk.id == chunk_id("doc-1", "text")
    assert replace(chunk, tenant_id=OTHER_TENANT, chunk_index=9, metadata={}, embedding=None).id == chunk.id
    assert replace(chunk, text="another").id == chunk_id("doc-1", "another")
    chunk.text = "set"
    assert chunk.id == chunk_id("doc-1", "set")


def test_the_id_is_never_passed_in_and_never_set() -> None:
    arguments: dict[str, Any] = {"id": "mine"}
    with pytest.raises(TypeError, match="id"):
        StoredChunk(TENANT, DOC, "text", 0, 0, 4, **arguments)
    with pytest.raises(TypeError, match="id"):
        replace(full(), **arguments)
    with pytest.raises(AttributeError):
        full().id = "mine"  # type: ignore[misc, assignment]


def test_a_chunk_has_no_other_fields() -> None:
    with pytest.raises(AttributeError):
        full().score = 1.0  # type: ignore[attr-defined]


OTHERS: dict[str, Any] = {
    "tenant_id": OTHER_TENANT,
    "source_id": "doc-2",
    "text": "texts",
    "chunk_index": 3,
    "start_char": 4,
    "end_char": 8,
    "entity_ids": [ADA, BOB, BOB],
    "metadata": {"tags": ["a", {"b": [2]}], "page": 1},
    "embedding": [0.5, 2.0],
}


@pytest.mark.parametrize("field", OTHERS)
def test_chunks_are_equal_when_every_field_is(field: str) -> None:
    assert full() == full()
    changes: dict[str, Any] = {field: OTHERS[field]}
    assert replace(full(), **changes) != full()


def test_an_embedded_chunk_differs_from_one_that_is_not() -> None:
    assert replace(full(), embedding=None) != full()


# Fields


@pytest.mark.parametrize("field", ["chunk_index", "start_char", "end_char"])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        *[
            (value, TypeError, "must be an integer")
            for value in (None, True, False, 1.0, "1", numpy.float64(1))
        ],
        (-1, ValueError, "must be at least 0, got -1"),
        (LAST + 1, ValueError, "must be at most 2147483647, got 2147483648"),
        (2**63, ValueError, "must be at most 2147483647, got 9223372036854775808"),
        pytest.param(HUGE, ValueError, "must be at most 2147483647, got <16610 bits>", id="huge"),
        pytest.param(-HUGE, ValueError, "must be at least 0, got -<16610 bits>", id="-huge"),
    ],
)
def test_a_position_is_an_integer_of_31_bits(
    field: str, value: Any, error: type[Exception], message: str
) -> None:
    positions = {"chunk_index": 0, "start_char": 0, "end_char": 0, field: value}
    with pytest.raises(error, match=f"^{field} {message}"):
        StoredChunk(TENANT, DOC, "text", **positions)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, LAST), (LAST, LAST), (LAST - 1, LAST), (5, 5)])
def test_the_offsets_may_be_equal_and_reach_the_last_position(start: int, end: int) -> None:
    chunk = StoredChunk(TENANT, DOC, "text", LAST, start, end)
    assert (chunk.chunk_index, chunk.start_char, chunk.end_char) == (LAST, start, end)


@pytest.mark.parametrize(("start", "end"), [(1, 0), (LAST, LAST - 1), (LAST, 0)])
def test_a_chunk_does_not_end_before_it_starts(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"^start_char must be at most end_char {end}, got {start}$"):
        StoredChunk(TENANT, DOC, "text", 0, start, end)


def test_positions_become_plain_integers() -> None:
    positions: list[Any] = [numpy.int64(1), numpy.uint8(2), numpy.array(3)]
    chunk = StoredChunk(TENANT, DOC, "text", *positions)
    assert [(chunk.chunk_index, int), (chunk.start_char, int), (chunk.end_char, int)] == [
        (1, type(chunk.chunk_index)),
        (2, type(chunk.start_char)),
        (3, type(chunk.end_char)),
    ]


def test_text_and_source_id_become_plain_strings() -> None:
    chunk = StoredChunk(TENANT, numpy.str_("doc-1"), numpy.str_("text"), 0, 0, 4)  # type: ignore[arg-type]
    assert {type(chunk.source_id), type(chunk.text)} == {str}
    assert chunk.id == chunk_id("doc-1", "text")


BAD_FIELDS: list[tuple[str, Any, type[Exception], str]] = [
    *[
        ("tenant_id", value, TypeError, "tenant_id must be a UUID")
        for value in (None, str(TENANT), 1, TENANT.bytes)
    ],
    *[("source_id", value, TypeError, "source_id must be a str") for value in (None, b"doc", 1)],
    ("source_id", "", ValueError, "source_id must not be empty"),
    ("source_id", "s" * 2049, ValueError, "source_id must be at most 2048 UTF-8 bytes, got 2049"),
    ("source_id", "é" * 1024 + "s", ValueError, "source_id must be at most 2048 UTF-8 bytes, got 2049"),
    ("source_id", "a\x00", ValueError, r"source_id holds U\+0000 at index 1"),
    *[("text", value, TypeError, "text must be a str") for value in (None, b"text", 1, ["text"])],
    ("text", "ab\x00", ValueError, r"text holds U\+0000 at index 2"),
    ("text", "\udcff", ValueError, r"text holds U\+DCFF at index 0"),
    *[
        ("entity_ids", value, TypeError, "entity_ids must be a list of UUIDs")
        for value in (None, {ADA}, {ADA: 1})
    ],
    *[
        ("entity_ids", value, TypeError, "entity_ids must be a list of UUIDs")
        for value in (iter([ADA]), ADA, "ab")
    ],
    ("entity_ids", [ADA, str(BOB)], TypeError, r"entity_ids\[1\] must be a UUID"),
    ("entity_ids", [None], TypeError, r"entity_ids\[0\] must be a UUID, got None"),
    *[("metadata", value, TypeError, "metadata must be a dict") for value in (None, [], "{}", [("a", 1)])],
    ("metadata", {"a": {"b": (1,)}}, TypeError, r"metadata\['a'\]\['b'\] must be JSON, got \(1,\) \(tuple\)"),
    ("metadata", {1: 2}, TypeError, r"metadata must have str keys, got 1 \(int\)"),
    ("metadata", {"a": math.nan}, ValueError, r"metadata\['a'\] must be finite, got nan"),
    ("metadata", {"a": "\x00"}, ValueError, r"metadata\['a'\] holds U\+0000 at index 0"),
    *[
        ("embedding", value, TypeError, "embedding must be a sequence of real numbers")
        for value in ("12", 1.0, {1.0})
    ],
    ("embedding", [1.0, True], TypeError, r"embedding\[1\] must be a real number, got True \(bool\)"),
    ("embedding", [[1.0]], TypeError, r"embedding\[0\] must be a real number"),
    *[
        ("embedding", value, InvalidVectorError, "embedding must have a norm")
        for value in ([], [0.0], [1e-16], [2e15])
    ],
    ("embedding", [1.0, math.nan], InvalidVectorError, r"embedding\[1\] must be a finite float32, got nan"),
]


@pytest.mark.parametrize(("field", "value", "error", "message"), BAD_FIELDS)
def test_a_bad_field_is_refused_by_name(field: str, value: Any, error: type[Exception], message: str) -> None:
    changes: dict[str, Any] = {field: value}
    with pytest.raises(error, match=f"^{message}"):
        replace(full(), **changes)


@pytest.mark.parametrize("source_id", ["s" * 2048, "é" * 1024, "検" * 682 + "ab", "\U0001f9f5" * 512])
def test_a_source_id_of_2048_bytes_is_stored(source_id: str) -> None:
    assert make_chunk("text", source_id=source_id).source_id == source_id


# Copies


def test_a_chunk_shares_nothing_with_what_it_was_made_from() -> None:
    entity_ids, tags, embedding = [ADA], ["a"], [1.0, 2.0]
    metadata: dict[str, Any] = {"tags": tags}
    chunk = StoredChunk(TENANT, DOC, "text", 0, 0, 4, entity_ids, metadata, embedding)
    entity_ids.append(BOB)
    tags.append("b")
    metadata["more"] = 1
    embedding[0] = 9.0
    assert (chunk.entity_ids, chunk.metadata, chunk.embedding) == ([ADA], {"tags": ["a"]}, [1.0, 2.0])


def test_entity_ids_given_as_a_tuple_become_a_list() -> None:
    chunk = StoredChunk(TENANT, DOC, "text", 0, 0, 4, (ADA, ADA))  # type: ignore[arg-type]
    assert chunk.entity_ids == [ADA, ADA]


@pytest.mark.parametrize(
    "copied",
    [
        StoredChunk.copy,
        copy.deepcopy,
        replace,
        lambda chunk: pickle.loads(pickle.dumps(chunk)),  # noqa: S301
        lambda chunk: require_chunks([chunk], 2)[0],
        lambda chunk: require_chunks_of(DOC, TENANT, [chunk], 2)[0],
    ],
)
def test_a_copy_is_equal_and_independent(copied: Callable[[StoredChunk], StoredChunk]) -> None:
    original = full()
    found: Any = copied(original)
    assert found == original
    found.entity_ids.clear()
    found.metadata["tags"][1]["b"].append(2)
    found.embedding[0] = 9.0
    found.text = "another"
    assert original == full()
    assert type(found) is StoredChunk


@pytest.mark.parametrize(("field", "value", "error", "message"), BAD_FIELDS)
def test_a_copy_is_checked_again(field: str, value: Any, error: type[Exception], message: str) -> None:
    chunk = full()
    setattr(chunk, field, value)
    with pytest.raises(error, match=f"^{message}"):
        chunk.copy()
    with pytest.raises(error, match=f"^{message}"):
        require_chunks([full(), chunk], 2)


def test_nested_values_that_were_set_to_something_bad_are_found_again() -> None:
    chunk: Any = full()
    chunk.metadata["tags"][1]["b"].append({1})
    with pytest.raises(TypeError, match=r"metadata\['tags'\]\[1\]\['b'\]\[1\] must be JSON"):
        chunk.copy()


def test_a_copy_keeps_the_subclass() -> None:
    class Passage(StoredChunk):
        pass

    assert type(Passage(TENANT, DOC, "text", 0, 0, 4).copy()) is Passage


# Batches


def test_a_batch_is_consumed_once_and_keeps_its_order_and_repeats() -> None:
    chunks = [make_chunk("b"), make_chunk("a", embedding=[1.0, 2.0]), make_chunk("b", chunk_index=1)]
    assert require_chunks(iter(chunks), 2) == chunks
    assert require_chunks_of(DOC, TENANT, iter(chunks), 2) == chunks
    assert require_chunks([], 2) == require_chunks_of(DOC, TENANT, (), 2) == []


@pytest.mark.parametrize("bad", [None, "text", {"text": "t"}, SourceDocument(DOC, "text"), StoredChunk])
def test_what_is_no_chunk_is_a_type_error_by_position(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^chunks\[1\] must be a StoredChunk, got "):
        require_chunks([make_chunk("a"), bad], 2)
    with pytest.raises(TypeError, match=r"^chunks\[0\] must be a StoredChunk, got "):
        require_chunks_of(DOC, TENANT, [bad], 2)


@pytest.mark.parametrize("width", [1, 3])
def test_an_embedding_of_another_width_is_told_by_position(width: int) -> None:
    chunks = [
        make_chunk("a"),
        make_chunk("b", embedding=[1.0, 1.0]),
        make_chunk("c", embedding=[1.0] * width),
    ]
    expected = rf"^chunks\[2\]\.embedding: expected 2 dimensions, got {width}$"
    with pytest.raises(DimensionMismatchError, match=expected) as caught:
        require_chunks(chunks, 2)
    assert (caught.value.expected, caught.value.actual) == (2, width)
    with pytest.raises(DimensionMismatchError, match=expected):
        require_chunks_of(DOC, TENANT, chunks, 2)


def test_a_chunk_of_another_tenant_or_source_is_refused_by_position() -> None:
    with pytest.raises(ValueError, match=rf"^chunks\[1\] is of tenant {OTHER_TENANT}, not of {TENANT}$"):
        require_chunks_of(DOC, TENANT, [make_chunk("a"), make_chunk("b", tenant_id=OTHER_TENANT)], 2)
    with pytest.raises(ValueError, match=r"^chunks\[0\] is of source 'doc-2', not of 'doc-1'$"):
        require_chunks_of(DOC, TENANT, [make_chunk("a", source_id="doc-2")], 2)


def test_the_first_bad_chunk_raises() -> None:
    def chunks() -> Any:
        yield make_chunk("a", source_id="doc-2")
        raise AssertionError("read on")

    with pytest.raises(ValueError, match=r"chunks\[0\]"):
        require_chunks_of(DOC, TENANT, chunks(), 2)


# Documents


def test_a_document_is_checked_and_copied() -> None:
    tags: list[Any] = ["a"]
    document = SourceDocument(DOC, "text", {"tags": tags, "zero": -0.0})
    tags.append("b")
    assert document.metadata == {"tags": ["a"], "zero": 0.0}
    assert SourceDocument(DOC, "") == SourceDocument(source_id=DOC, text="", metadata={})
    found: Any = require_document("documents[0]", document)
    assert found == document
    found.metadata["tags"].append("c")
    assert document.metadata["tags"] == ["a"]


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [each for each in BAD_FIELDS if each[0] in ("source_id", "text", "metadata")],
)
def test_a_bad_document_is_refused_as_a_chunk_is(
    field: str, value: Any, error: type[Exception], message: str
) -> None:
    document = SourceDocument(DOC, "text")
    changes: dict[str, Any] = {field: value}
    with pytest.raises(error, match=f"^{message}"):
        replace(document, **changes)
    setattr(document, field, value)
    with pytest.raises(error, match=f"^{message}"):
        require_document("document", document)


@pytest.mark.parametrize("value", [None, "text", make_chunk("text"), ("doc-1", "text")])
def test_what_is_no_document_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match=r"^documents\[3\] must be a SourceDocument, got "):
        require_document("documents[3]", value)
