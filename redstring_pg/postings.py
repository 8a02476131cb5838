"""The lexical layout: blocks of passages, and a term's packed postings in each. No SQL, no connection.

A block holds up to 256 passages of one source. A posting is one `bigint`: the passage's slot in
its block, the term's frequency in it, and the passage's number of terms.

Spec: PG-4.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

SLOT_BITS = 8
COUNT_BITS = 27
BLOCK_SIZE = 2**SLOT_BITS
MAX_TERMS = 2**COUNT_BITS - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands in the lexical index."""

    block: int
    slot: int


def term_counts(terms: Sequence[str]) -> Counter[str]:
    """Return how often each term occurs; a passage of 2**27 terms or more is a `ValueError`.

    Spec: PG-4.
    """
    if len(terms) > MAX_TERMS:
        raise ValueError(f"text must have at most {MAX_TERMS} terms, got {len(terms)}")
    return Counter(terms)


def packed(slot: int, term_frequency: int, doc_length: int) -> int:
    """Return a posting; `lexical` unpacks it.

    >>> packed(1, 2, 3) == (1 << 54) + (2 << 27) + 3
    True

    Spec: PG-4.
    """
    return (slot << (2 * COUNT_BITS)) | (term_frequency << COUNT_BITS) | doc_length


def slot_of(posting: int) -> int:
    """Return the slot of a posting."""
    return posting >> (2 * COUNT_BITS)


def block_postings(passages: Sequence[Mapping[str, int]]) -> tuple[list[str], list[int]]:
    """Return the terms of a block's passages, slot after slot, and the posting of each.

    `passages` has the term counts of each slot. Spec: PG-4.
    """
    terms: list[str] = []
    postings: list[int] = []
    for slot, counts in enumerate(passages):
        doc_length = sum(counts.values())
        terms += counts
        postings += [packed(slot, frequency, doc_length) for frequency in counts.values()]
    return terms, postings


def in_blocks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield `items` in lists of a block's size; the last may be shorter."""
    rest = list(items)
    for start in range(0, len(rest), BLOCK_SIZE):
        yield rest[start : start + BLOCK_SIZE]
