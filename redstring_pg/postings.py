"""The lexical layout: blocks of passages, and a term's packed postings in each. No SQL, no connection.

A block holds up to 256 passages of one source. A posting is one `bigint`: the passage's slot in
its block, the term's frequency in it, and the passage's number of terms.

Spec: PG-4.
"""

from collections import Counter, defaultdict
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


def block_postings(passages: Sequence[Mapping[str, int]]) -> dict[str, list[int]]:
    """Return the postings of each term of a block, slot after slot; `passages` has the counts of each slot.

    Spec: PG-4.
    """
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for slot, counts in enumerate(passages):
        # `packed(slot, frequency, doc_length)`, without a call for each posting.
        fixed = packed(slot, 0, sum(counts.values()))
        for term, frequency in counts.items():
            postings[term].append(fixed | (frequency << COUNT_BITS))
    return dict(postings)


def in_blocks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield `items` in lists of a block's size; the last may be shorter."""
    rest = list(items)
    for start in range(0, len(rest), BLOCK_SIZE):
        yield rest[start : start + BLOCK_SIZE]
