"""Reciprocal rank fusion. It knows ranks and ids only, so it fuses chunks and entities alike."""

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TypeVar

RRF_K = 60

Id = TypeVar("Id", bound=Hashable)


def reciprocal_rank(rank: int) -> Fraction:
    """Return what one ranking adds to the id at `rank`, counted from 1: `1 / (60 + rank)`, exactly.

    Spec: FUS-1.
    """
    return Fraction(1, RRF_K + rank)


def reciprocal_rank_fusion(rankings: Iterable[Iterable[Id]]) -> list[tuple[Id, float]]:
    """Fuse rankings, best first, into one list of `(id, score)`, best first.

    A score is the correctly rounded value of the exact sum, so the order of the rankings shows
    nowhere. An id repeated within a ranking counts at its best rank, and those after it keep
    their ranks. Equal scores are ordered by `str(id).lower()`, then `str(id)`.

    Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (SIGIR 2009).

    >>> [id for id, score in reciprocal_rank_fusion([["b", "c"], ["a", "d"]])]
    ['a', 'b', 'c', 'd']

    Spec: FUS-1 to FUS-4.
    """
    sums: dict[Id, Fraction] = {}
    # Of ids that are equal but print differently, such as 1 and True, the first in order stands for all.
    printed: dict[Id, Id] = {}
    for ranking in rankings:
        best_ranks: dict[Id, int] = {}
        for rank, ranked in enumerate(ranking, start=1):
            best_ranks.setdefault(ranked, rank)
        for ranked, rank in best_ranks.items():
            sums[ranked] = sums.get(ranked, Fraction()) + reciprocal_rank(rank)
            printed[ranked] = min(printed.get(ranked, ranked), ranked, key=_tie_key)
    scores = [(printed[ranked], float(total)) for ranked, total in sums.items()]
    return sorted(scores, key=lambda pair: (-pair[1], *_tie_key(pair[0])))


def _tie_key(ranked: Hashable) -> tuple[str, str, str]:
    text = str(ranked)
    # The last key tells apart ids of different types that print alike, such as 1 and "1".
    return text.lower(), text, repr(ranked)
