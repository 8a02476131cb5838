"""What a write changes: the plan, by hand, for chunks that come, stay, differ or go. No server."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_pg import postings
from redstring_pg.change import Change, NewBlock, StoredRow, change, content
from redstring_pg.encoding import uuid_array, vector
from redstring_pg.postings import Place
from redstring_ref.domain import ChunkId, EntityId, StoredChunk
from redstring_ref.domain.terms import tokenize
from tests.pg.hurts import ENTITIES
from tests.support import TENANT, make_chunk

NOTHING = Change()
Rows = dict[ChunkId, StoredRow]


def row(chunk: StoredChunk, block: int | None = None, slot: int = 0) -> StoredRow:
    """Return the row of a chunk that is stored, indexed at a place or nowhere."""
    place = None if block is None else Place(block, slot)
    return StoredRow(content(chunk), len(tokenize(chunk.text)), place)


def keyed(*chunks: StoredChunk) -> dict[ChunkId, StoredChunk]:
    return {chunk.id: chunk for chunk in chunks}


def stored(*placed: tuple[StoredChunk, int | None, int]) -> Rows:
    return {chunk.id: row(chunk, block, slot) for chunk, block, slot in placed}


A, B, C = (make_chunk(f"tie tie {letter}x", chunk_index=n) for n, letter in enumerate("abc"))
ABC = stored((A, 7, 0), (B, 7, 1), (C, 8, 0))


def test_the_content_of_a_row_is_everything_but_its_key_text_and_source() -> None:
    chunk = StoredChunk(TENANT, A.source_id, "tie", 3, 1, 4, ENTITIES[:2], {"b": 1.0, "a": None}, [1.0, -2.5])
    assert content(chunk) == (
        3,
        1,
        4,
        uuid_array(ENTITIES[:2]),
        '{"a":null,"b":1.0}',
        vector([1.0, -2.5]),
    )
    assert content(make_chunk("")) == (0, 0, 0, uuid_array([]), "{}", None)


# Nothing to do


def test_nothing_given_and_nothing_stored_changes_nothing() -> None:
    assert change({}, {}, ()) == NOTHING


def test_what_is_stored_as_it_is_given_changes_nothing() -> None:
    assert change(keyed(A, B, C), ABC, ()) == NOTHING
    assert change(keyed(B), ABC, ()) == NOTHING
    assert change({}, ABC, ()) == NOTHING


def test_the_order_of_metadata_changes_nothing() -> None:
    before = make_chunk("tie", metadata={"a": 1, "b": {"c": 1e22, "d": 2}})
    after = make_chunk("tie", metadata={"b": {"d": 2, "c": 1e22}, "a": 1})
    assert change(keyed(after), stored((before, 1, 0)), ()) == NOTHING


# New chunks


def test_new_chunks_are_written_in_one_block_with_their_terms_counted() -> None:
    (block,) = change(keyed(A, B), {}, ()).blocks
    assert block.chunks == [A, B]
    assert block.counts == [{"tie": 2, "ax": 1}, {"tie": 2, "bx": 1}]
    assert change(keyed(A, B), {}, ()) == Change(blocks=[block])


def test_a_new_chunk_leaves_what_is_stored_alone() -> None:
    new = make_chunk("new")
    expected = Change(blocks=[NewBlock([new], [{"new": 1}])])
    assert change(keyed(A, B, C, new), ABC, ()) == expected
    assert change(keyed(new), ABC, ()) == expected


def test_a_chunk_without_terms_has_a_place_too() -> None:
    empty = make_chunk("... the")
    assert change(keyed(empty), {}, ()) == Change(blocks=[NewBlock([empty], [{}])])


@pytest.mark.parametrize(
    ("number", "sizes"), [(1, [1]), (256, [256]), (257, [256, 1]), (600, [256, 256, 88])]
)
def test_many_new_chunks_fill_blocks_in_their_order(number: int, sizes: list[int]) -> None:
    chunks = [make_chunk(f"n{n}", chunk_index=n) for n in range(number)]
    blocks = change(keyed(*chunks), {}, ()).blocks
    assert [len(block.chunks) for block in blocks] == sizes
    assert [chunk for block in blocks for chunk in block.chunks] == chunks
    assert [counts for block in blocks for counts in block.counts] == [{f"n{n}": 1} for n in range(number)]


def test_a_block_has_chunks_of_one_source() -> None:
    sources = ["b", "a", "B", "\u00e9", "a"]
    chunks = [make_chunk(f"n{n}", source_id=source) for n, source in enumerate(sources)]
    found = change(keyed(*chunks), {}, ())
    blocks = [[chunk.text for chunk in block.chunks] for block in found.blocks]
    assert blocks == [["n2"], ["n1", "n4"], ["n0"], ["n3"]]
    assert found == Change(blocks=found.blocks)


def test_the_same_text_in_two_sources_is_two_chunks() -> None:
    twins = [make_chunk("tie", source_id=source) for source in ("a", "b")]
    assert [block.chunks for block in change(keyed(*twins), {}, ()).blocks] == [twins[:1], twins[1:]]


def test_of_one_key_given_twice_the_later_is_written_once() -> None:
    later = replace(A, chunk_index=9)
    (block,) = change(keyed(A, B, later), {}, ()).blocks
    assert block.chunks == [later, B]
    assert change(keyed(later, A), ABC, ()) == NOTHING
    assert change(keyed(A, later), ABC, ()).rows == [(later, 3, Place(7, 0))]


def test_a_text_of_too_many_terms_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "MAX_TERMS", 3)
    assert len(change(keyed(A), {}, ()).blocks) == 1
    with pytest.raises(ValueError, match=r"^text must have at most 3 terms, got 4$"):
        change(keyed(A, make_chunk("one two three four")), {}, ())


# Changed chunks

FIRST = EntityId(UUID(int=1))
WHOLE = StoredChunk(
    TENANT, A.source_id, "tie ax", 1, 2, 8, [FIRST, ENTITIES[0]], {"x": 1, "y": [True]}, [1.0, 0.5]
)
CHANGES: dict[str, dict[str, Any]] = {
    "chunk_index": {"chunk_index": 2},
    "start_char": {"start_char": 3},
    "end_char": {"end_char": 9},
    "entity added": {"entity_ids": [FIRST, ENTITIES[0], ENTITIES[1]]},
    "entity removed": {"entity_ids": [FIRST]},
    "no entities": {"entity_ids": []},
    "order of entities": {"entity_ids": [ENTITIES[0], FIRST]},
    "entity twice": {"entity_ids": [FIRST, ENTITIES[0], ENTITIES[0]]},
    "metadata value": {"metadata": {"x": 2, "y": [True]}},
    "metadata int to float": {"metadata": {"x": 1.0, "y": [True]}},
    "metadata int to bool": {"metadata": {"x": True, "y": [True]}},
    "metadata bool to int": {"metadata": {"x": 1, "y": [1]}},
    "metadata key": {"metadata": {"X": 1, "y": [True]}},
    "no metadata": {"metadata": {}},
    "embedding component": {"embedding": [1.0, 0.25]},
    "embedding one step": {"embedding": [1.0, 0.5 + 2.0**-24]},
    "embedding sign of zero": {"embedding": [1.0, -0.0]},
    "no embedding": {"embedding": None},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_chunk_that_differs_in_one_field_is_written_again_at_its_place(name: str) -> None:
    before = replace(WHOLE, embedding=[1.0, 0.0]) if name == "embedding sign of zero" else WHOLE
    after = replace(WHOLE, **CHANGES[name])
    assert after.id == before.id
    rows = {**stored((before, 3, 200)), **ABC}
    assert change(keyed(after), rows, ()) == Change(deleted=[after.id], rows=[(after, 2, Place(3, 200))])
    # And back again.
    rows = stored((after, 3, 200))
    assert change(keyed(before), rows, ()) == Change(deleted=[after.id], rows=[(before, 2, Place(3, 200))])


def test_the_number_of_terms_that_is_stored_goes_with_the_place() -> None:
    # Only a backfill counts the terms of a place anew.
    older = {WHOLE.id: StoredRow(content(WHOLE), 99, Place(1, 0))}
    moved = replace(WHOLE, chunk_index=5)
    assert change(keyed(moved), older, ()).rows == [(moved, 99, Place(1, 0))]


# Rows that are not indexed


def test_a_row_without_a_place_is_written_again_in_a_new_block_even_if_it_is_unchanged() -> None:
    expected = Change(deleted=[A.id], blocks=[NewBlock([A], [{"tie": 2, "ax": 1}])])
    assert change(keyed(A), stored((A, None, 0)), ()) == expected
    moved = replace(A, chunk_index=9)
    (block,) = change(keyed(moved), stored((A, None, 0)), ()).blocks
    assert block.chunks == [moved]


def test_an_orphan_without_a_place_breaks_no_block() -> None:
    rows = {**ABC, **stored((A, None, 0))}
    assert change(keyed(B, C), rows, [A.id]) == Change(deleted=[A.id])


# Orphans


def test_an_orphan_takes_its_block_with_it_and_the_rest_of_the_block_is_written_again() -> None:
    assert change(keyed(B, C), ABC, [A.id]) == Change(
        deleted=[A.id, B.id], deleted_blocks=[7], blocks=[NewBlock([B], [{"tie": 2, "bx": 1}])]
    )


def test_an_orphan_alone_in_its_block_leaves_the_other_blocks_alone() -> None:
    assert change(keyed(A, B), ABC, [C.id]) == Change(deleted=[C.id], deleted_blocks=[8])


def test_all_orphans_leave_nothing() -> None:
    assert change({}, ABC, iter([C.id, A.id, B.id, A.id])) == Change(
        deleted=sorted([A.id, B.id, C.id]), deleted_blocks=[7, 8]
    )


def test_survivors_and_new_chunks_share_a_new_block() -> None:
    new, moved = make_chunk("new"), replace(B, chunk_index=9)
    found = change(keyed(new, moved, C), ABC, [A.id])
    assert [block.chunks for block in found.blocks] == [[new, moved]]
    assert (found.deleted, found.deleted_blocks, found.rows) == ([A.id, B.id], [7], [])


def test_a_changed_chunk_of_a_whole_block_keeps_its_place_beside_a_broken_one() -> None:
    moved = replace(C, chunk_index=9)
    found = change(keyed(B, moved), ABC, [A.id])
    assert found.rows == [(moved, 3, Place(8, 0))]
    assert found.deleted == [A.id, B.id, C.id]
    assert found.deleted_blocks == [7]


# Drawn: the plan carried out on a table in memory

POOL = [make_chunk(f"t{n} tie", source_id=source) for source in ("a", "b") for n in range(5)]


def carried_out(plan: Change, rows: Rows) -> Rows:
    """Return what the plan makes of the rows, as the database would, or fail where it would."""
    after, blocks = dict(rows), {each.place.block for each in rows.values() if each.place is not None}
    assert len(set(plan.deleted)) == len(plan.deleted)
    assert set(plan.deleted_blocks) <= blocks
    for key in plan.deleted:
        del after[key]
    new: list[tuple[StoredChunk, int, Place]] = list(plan.rows)
    for number, block in enumerate(plan.blocks, 1_000):
        assert 1 <= len(block.chunks) == len(block.counts) <= postings.BLOCK_SIZE
        assert len({chunk.source_id for chunk in block.chunks}) == 1
        pairs = zip(block.chunks, block.counts, strict=True)
        new += [
            (chunk, sum(counts.values()), Place(number, slot)) for slot, (chunk, counts) in enumerate(pairs)
        ]
    for chunk, length, place in new:
        assert chunk.id not in after, "the primary key"
        after[chunk.id] = StoredRow(content(chunk), length, place)
    return after


def places(rows: Iterable[StoredRow]) -> list[Place]:
    return [each.place for each in rows if each.place is not None]


def numbers(rows: Collection[StoredRow]) -> set[int]:
    return {place.block for place in places(rows)}


@pytest.mark.drawn
@given(
    st.dictionaries(st.sampled_from(range(len(POOL))), st.none() | st.integers(0, 1), max_size=10),
    st.lists(st.tuples(st.sampled_from(POOL), st.integers(0, 1)), max_size=12),
    st.booleans(),
)
def test_any_plan_makes_exactly_what_is_given_indexed_once(
    indexed: dict[int, int | None], written: list[tuple[StoredChunk, int]], whole: bool
) -> None:
    # Stored are some chunks of both sources, in two blocks for each source, or in none.
    rows: Rows = {}
    for slot, (number, block) in enumerate(sorted(indexed.items())):
        chunk = POOL[number]
        named = None if block is None else block + 2 * (chunk.source_id == "b")
        rows[chunk.id] = row(chunk, named, slot)
    wanted = keyed(*(replace(chunk, chunk_index=index) for chunk, index in written))
    orphans = rows.keys() - wanted.keys() if whole else set()
    plan = change(wanted, rows, orphans)
    after = carried_out(plan, rows)
    assert after.keys() == (rows.keys() | wanted.keys()) - orphans
    assert {key: after[key].content for key in wanted} == {key: content(wanted[key]) for key in wanted}
    assert all(after[key] == rows[key] for key in after.keys() - wanted.keys())
    assert all(after[key].place is not None for key in wanted)
    assert all(after[key].doc_length == 2 for key in wanted)
    assert len(set(places(after.values()))) == len(places(after.values()))
    # No row stands in a block that went, and no block stays with a posting of a chunk that went.
    assert not numbers(after.values()) & set(plan.deleted_blocks)
    kept = numbers(rows.values()) - set(plan.deleted_blocks)
    before = {each.place for each in rows.values() if each.place is not None and each.place.block in kept}
    assert before <= set(places(after.values()))
    # The same write again finds nothing to do.
    assert change(wanted, after, ()) == NOTHING
