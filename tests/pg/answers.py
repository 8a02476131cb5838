"""How two stores are held against each other: calls, their strict answers, the first difference."""

import copy
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass

from redstring_ref.domain.errors import shown


@dataclass(frozen=True, slots=True)
class Once:
    """An iterable argument that can be read once; `fails` raises after the last item."""

    items: tuple[object, ...]
    fails: bool = False

    def __iter__(self) -> Iterator[object]:
        yield from self.items
        if self.fails:
            raise RuntimeError("the source went away")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method, to be made on several stores: each gets copies of the arguments."""

    name: str
    arguments: tuple[object, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        options = (f"{name}={shown(value)}" for name, value in self.options.items())
        return f"{self.name}({', '.join([*map(shown, self.arguments), *options])})"

    async def on(self, store: object) -> object:
        """Return what the store answers, strictly, or how it refuses."""
        arguments = [_fresh(argument) for argument in self.arguments]
        options = {name: _fresh(value) for name, value in self.options.items()}
        try:
            return {"returns": strict(await getattr(store, self.name)(*arguments, **options))}
        except Exception as error:
            return {"raises": type(error), "message": str(error), "attributes": strict(vars(error))}


def call(name: str, *arguments: object, **options: object) -> Call:
    """Return a call, written as it is made."""
    return Call(name, arguments, options)


def _fresh(argument: object) -> object:
    return iter(copy.deepcopy(argument)) if isinstance(argument, Once) else copy.deepcopy(argument)


def strict(value: object) -> object:
    """Return what is equal only for values equal in type and to the last bit; a dict has no order.

    >>> strict([1, 1.0, True]) == strict([1.0, 1.0, True]), strict(0.0) == strict(-0.0)
    (False, False)
    """
    if is_dataclass(value) and not isinstance(value, type):
        return (
            type(value).__name__,
            {each.name: strict(getattr(value, each.name)) for each in fields(value)},
        )
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    if type(value) is list and set(map(type, value)) == {float}:
        return ("floats", array("d", value).tobytes())  # a vector: the fast way to say the same
    if isinstance(value, list | tuple):
        return (type(value).__name__, [strict(item) for item in value])
    return (type(value).__name__, value.hex() if isinstance(value, float) else value)


async def assert_same_answers(reference: object, adapter: object, calls: Iterable[Call]) -> None:
    """Make the calls on both stores, one after the other, and stop at the first that differs."""
    for position, each in enumerate(calls):
        expected, actual = await each.on(reference), await each.on(adapter)
        assert actual == expected, f"call {position}: {each}"


async def answers(store: object, calls: Sequence[Call]) -> list[object]:
    """Return what the store answers to each call."""
    return [await each.on(store) for each in calls]
