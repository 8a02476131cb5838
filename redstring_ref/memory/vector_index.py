"""The vectors of one tenant, as float32 in one block, ranked exactly. It knows keys, not chunks."""

from array import array
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Generic, TypeVar

from redstring_ref.domain.ranking import rank_vectors
from redstring_ref.domain.vectors import cosine_error_bound, squared_norm
from redstring_ref.memory.proposal import Proposal, fastest

Key = TypeVar("Key", bound=str)


class VectorIndex(Generic[Key]):
    """Maps keys to vectors of one width and finds the nearest ones to a query."""

    def __init__(self, dimension: int, proposal: Proposal | None = None) -> None:
        self._dimension = dimension
        self._proposal = proposal
        self._slots: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._vectors = array("f")
        self._squared_norms = array("d")

    def put(self, key: Key, vector: Sequence[float]) -> None:
        """Set the vector of `key`, one that `as_vector` returned and that has the index's width."""
        slot = self._slots.setdefault(key, len(self._keys))
        if slot == len(self._keys):
            self._keys.append(key)
            self._vectors.extend(vector)
            self._squared_norms.append(squared_norm(vector))
        else:
            self._vectors[self._range(slot)] = array("f", vector)
            self._squared_norms[slot] = squared_norm(vector)

    def discard(self, key: Key) -> None:
        """Remove the vector of `key`, if it has one; the last row moves into the gap."""
        slot = self._slots.pop(key, None)
        if slot is None:
            return
        last = self._keys.pop()
        last_square = self._squared_norms.pop()
        last_row = self._vectors[-self._dimension :]
        del self._vectors[-self._dimension :]
        if last != key:
            self._slots[last] = slot
            self._keys[slot] = last
            self._squared_norms[slot] = last_square
            self._vectors[self._range(slot)] = last_row

    def get(self, key: Key) -> list[float] | None:
        """Return a copy of the vector of `key`, or `None` if it has none."""
        slot = self._slots.get(key)
        return None if slot is None else self._row(slot)

    def nearest(
        self,
        query: Sequence[float],
        limit: int,
        min_score: float | None = None,
        among: Iterable[Key] | None = None,
    ) -> list[tuple[Key, float]]:
        """Return the `limit` best `(key, score)`, `among` these keys if given: `rank_vectors`, but fast.

        Spec: VEC-6, ORD-1, ORD-3.
        """
        slots = range(len(self._keys)) if among is None else [self._slots[key] for key in among]
        if limit == 0 or not slots:
            return []
        proposed = self._proposed(query, slots, limit, min_score)
        return rank_vectors(
            query, ((self._keys[slot], self._row(slot)) for slot in proposed), limit, min_score
        )

    def _proposed(
        self, query: Sequence[float], slots: Sequence[int], limit: int, min_score: float | None
    ) -> list[int]:
        """Return every slot that may be in the answer: those not provably below the cut."""
        proposal = self._proposal or fastest(self._dimension)
        cosines = proposal.cosines(query, self._vectors, self._squared_norms)
        error = cosine_error_bound(self._dimension, proposal.roundoff)
        floor = -float("inf")
        if min_score is not None:
            floor = 2.0 * min_score - 1.0 - error
        if limit < len(slots):
            cut = nlargest(limit, (cosines[slot] for slot in slots))[-1]
            floor = max(floor, cut - 2.0 * error)
        return [slot for slot in slots if cosines[slot] >= floor]

    def _range(self, slot: int) -> slice:
        return slice(slot * self._dimension, (slot + 1) * self._dimension)

    def _row(self, slot: int) -> list[float]:
        return self._vectors[self._range(slot)].tolist()
