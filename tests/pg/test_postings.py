"""The lexical layout: what a posting holds up to its limits, how passages fall into blocks. No server."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_pg import postings
from redstring_pg.postings import (
    BLOCK_SIZE,
    MAX_TERMS,
    Place,
    block_postings,
    in_blocks,
    packed,
    slot_of,
    term_counts,
)

MAX = 2**27 - 1


def unpacked(posting: int) -> tuple[int, int, int]:
    """Return a posting's parts by division, as the rule says it: `slot · 2**54 + tf · 2**27 + length`."""
    slot, rest = divmod(posting, 2**54)
    return (slot, *divmod(rest, 2**27))


def test_the_sizes_are_those_of_the_rule() -> None:
    assert (BLOCK_SIZE, MAX_TERMS) == (256, MAX)


@pytest.mark.parametrize(
    ("slot", "frequency", "length", "posting"),
    [
        (0, 0, 0, 0),
        (0, 1, 1, 0x0000_0000_0800_0001),
        (1, 0, 0, 0x0040_0000_0000_0000),
        (1, 2, 3, 0x0040_0000_1000_0003),
        (0, MAX, MAX, 0x003F_FFFF_FFFF_FFFF),
        (0, 1, MAX, 0x0000_0000_0FFF_FFFF),
        (255, 0, 0, 0x3FC0_0000_0000_0000),
        (255, 1, 1, 0x3FC0_0000_0800_0001),
        (255, MAX, MAX, 0x3FFF_FFFF_FFFF_FFFF),
    ],
)
def test_a_posting_holds_its_parts_side_by_side(slot: int, frequency: int, length: int, posting: int) -> None:
    assert packed(slot, frequency, length) == posting
    assert unpacked(posting) == (slot, frequency, length)
    assert slot_of(posting) == slot


def test_every_posting_is_a_positive_bigint() -> None:
    assert packed(255, MAX, MAX) < 2**63


def test_terms_are_counted() -> None:
    assert term_counts([]) == {}
    assert term_counts(["b", "a", "b"]) == {"a": 1, "b": 2}


def test_as_many_terms_as_a_posting_can_tell_are_counted_and_one_more_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postings, "MAX_TERMS", 3)
    assert term_counts(["a", "b", "a"]) == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match=r"^text must have at most 3 terms, got 4$"):
        term_counts(["a"] * 4)


def test_a_block_without_terms_has_no_postings() -> None:
    assert block_postings([]) == {}
    assert block_postings([{}, {}]) == {}


def test_a_term_has_a_posting_for_each_slot_that_holds_it() -> None:
    found = block_postings([{"a": 2, "b": 1}, {}, {"b": 4}])
    assert found == {"a": [packed(0, 2, 3)], "b": [packed(0, 1, 3), packed(2, 4, 4)]}


def test_a_full_block_has_postings_from_slot_0_to_slot_255() -> None:
    found = block_postings([{"a": 1}] * 255 + [{"a": MAX - 1, "z": 1}])
    assert found["a"] == [*(packed(slot, 1, 1) for slot in range(255)), packed(255, MAX - 1, MAX)]
    assert found["z"] == [packed(255, 1, MAX)]


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (0, []),
        (1, [1]),
        (255, [255]),
        (256, [256]),
        (257, [256, 1]),
        (512, [256, 256]),
        (600, [256, 256, 88]),
    ],
)
def test_blocks_are_full_but_the_last(number: int, sizes: list[int]) -> None:
    blocks = list(in_blocks(iter(range(number))))
    assert [len(block) for block in blocks] == sizes
    assert [item for block in blocks for item in block] == list(range(number))


def test_places_are_equal_by_value() -> None:
    assert {Place(1, 2), Place(1, 2), Place(2, 1)} == {Place(1, 2), Place(2, 1)}


# Drawn

counts = st.integers(0, MAX)
passages = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 1_000), max_size=3), max_size=20)


@pytest.mark.drawn
@given(st.integers(0, 255), counts, counts)
def test_any_posting_is_unpacked_to_its_parts(slot: int, frequency: int, length: int) -> None:
    posting = packed(slot, frequency, length)
    assert unpacked(posting) == (slot, frequency, length)
    assert slot_of(posting) == slot


@pytest.mark.drawn
@given(passages)
def test_any_block_can_be_read_back_from_its_postings(given_counts: list[dict[str, int]]) -> None:
    read: list[Counter[str]] = [Counter() for _ in given_counts]
    for term, found in block_postings(given_counts).items():
        assert found == sorted(found)
        for slot, frequency, length in map(unpacked, found):
            read[slot][term] = frequency
            assert length == sum(given_counts[slot].values())
    assert read == given_counts
