"""What a write changes, decided before anything is written. No SQL, no connection.

Whatever differs from what is stored is deleted and written anew; whatever does not is left alone. The
terms of a chunk never change, for its id is derived from its text: only chunks that come or go
touch the lexical index, and a block that loses a chunk is written again without it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from redstring_pg.encoding import json_text, uuid_array, vector
from redstring_pg.postings import Place, in_blocks, term_counts
from redstring_ref.domain import ChunkId, StoredChunk
from redstring_ref.domain.terms import tokenize

# Everything of a row but its key, its text and its source, which the id is derived from.
Content = tuple[int, int, int, bytes, str, bytes | None]


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored chunk's content, its number of terms, and its place, `None` where it is not indexed."""

    content: Content
    doc_length: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block to be written: its chunks in the order of their slots, and the term counts of each."""

    chunks: list[StoredChunk]
    counts: list[Mapping[str, int]]


@dataclass(slots=True)
class Change:
    """What one write does to one tenant: deletes first, then new blocks, then rows at their places."""

    deleted: list[ChunkId] = field(default_factory=list)
    deleted_blocks: list[int] = field(default_factory=list)
    blocks: list[NewBlock] = field(default_factory=list)
    rows: list[tuple[StoredChunk, int, Place]] = field(default_factory=list)


def content(chunk: StoredChunk) -> Content:
    """Return what a chunk's row holds, in a form in which equal means equal in value and type."""
    return (
        chunk.chunk_index,
        chunk.start_char,
        chunk.end_char,
        uuid_array(chunk.entity_ids),
        json_text(chunk.metadata),
        None if chunk.embedding is None else vector(chunk.embedding),
    )


def change(
    given: Mapping[ChunkId, StoredChunk], stored: Mapping[ChunkId, StoredRow], orphans: Iterable[ChunkId]
) -> Change:
    """Return what turns `stored` into `given`, with `orphans`, stored chunks that are not given, gone.

    Spec: PG-4.
    """
    gone = set(orphans)
    places = (stored[key].place for key in gone)
    broken = {place.block for place in places if place is not None}
    result = Change(deleted=sorted(gone), deleted_blocks=sorted(broken))
    unplaced = []
    for key, chunk in given.items():
        row: StoredRow | None = stored.get(key)
        if row is None or row.place is None or row.place.block in broken:
            unplaced.append(chunk)
        elif row.content != content(chunk):
            result.rows.append((chunk, row.doc_length, row.place))
        else:
            continue
        if row is not None:
            result.deleted.append(key)
    result.blocks = _new_blocks(unplaced)
    return result


def _new_blocks(chunks: Iterable[StoredChunk]) -> list[NewBlock]:
    """Return blocks of the chunks, each of one source, with their terms counted."""
    by_source = groupby(sorted(chunks, key=lambda chunk: chunk.source_id), key=lambda chunk: chunk.source_id)
    return [
        NewBlock(block, [term_counts(tokenize(chunk.text)) for chunk in block])
        for _, of_source in by_source
        for block in in_blocks(of_source)
    ]
