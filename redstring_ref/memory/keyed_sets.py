"""The secondary index of the in-memory stores: a set of items for each key."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


@dataclass(slots=True)
class KeyedSets(Generic[Key, Item]):
    """Sets of items by key; a key whose last item goes leaves nothing behind."""

    _sets: dict[Key, set[Item]] = field(default_factory=dict, init=False)

    def add(self, key: Key, item: Item) -> None:
        """Put `item` into the set of `key`; one that is in it already stays once."""
        self._sets.setdefault(key, set()).add(item)

    def discard(self, key: Key, item: Item) -> None:
        """Take `item` out of the set of `key`, if it is in it."""
        items = self._sets.get(key)
        if items is not None:
            items.discard(item)
            if not items:
                del self._sets[key]

    def of(self, key: Key) -> set[Item]:
        """Return a copy of the set of `key`, empty for an unknown one."""
        return set(self._sets.get(key, ()))
