"""The errors of the family. What a plain `ValueError` or `TypeError` says well is not here."""

from reprlib import Repr

# Python may refuse to print an integer of more than 640 digits; one of so many bits has fewer.
_MAX_PRINTED_BITS = 2000


class _Repr(Repr):
    def repr1(self, x: object, level: int) -> str:
        # `Repr` goes by a type's name alone, which a type of another library may share.
        known = type(x).__module__ in ("builtins", "collections", "array")
        return super().repr1(x, level) if known else self.repr_instance(x, level)

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > _MAX_PRINTED_BITS:
            return f"{'-' if x < 0 else ''}<{x.bit_length()} bits>"
        return super().repr_int(x, level)


# Long enough for an id or a vector's head, short enough for one line of a log.
_REPR = _Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80


def shown(value: object) -> str:
    """Return `value` as an error message shows it: cut to one line, whatever it is."""
    return " ".join(_REPR.repr(value).splitlines())


def got(value: object) -> str:
    """Return how an error message ends: what came instead, cut to one line, and its type."""
    return f"got {shown(value)} ({type(value).__name__})"


class RedstringError(Exception):
    """The family: catch it to catch every error that this library names itself."""


class DimensionMismatchError(RedstringError):
    """Two widths that must agree do not: the one type for it, on every path.

    Spec: VEC-5.
    """

    def __init__(self, expected: int, actual: int, what: str = "vector") -> None:
        super().__init__(f"{what}: expected {shown(expected)} dimensions, got {shown(actual)}")
        self.expected = expected
        self.actual = actual
        self.what = what

    def __reduce__(self) -> tuple[type["DimensionMismatchError"], tuple[int, int, str]]:
        return type(self), (self.expected, self.actual, self.what)


class InvalidVectorError(RedstringError, ValueError):
    """A vector of numbers that no store can rank: NaN, infinite, too small or too large.

    Spec: VEC-1, VEC-2.
    """


class EmbeddingProviderError(RedstringError):
    """An embedding provider failed, or did not answer one vector per text.

    `expected` and `actual` are the counts; `None` where there was nothing to count.

    Spec: EMB-2.
    """

    def __init__(self, message: str, *, expected: int | None = None, actual: int | None = None) -> None:
        super().__init__(message)
        self.expected = expected
        self.actual = actual


class LlmProviderError(RedstringError):
    """A language model did not answer with an extraction.

    Spec: GRF-5.
    """


class UnknownEntityError(RedstringError, ValueError):
    """A relationship names an entity that its tenant does not hold.

    Spec: GRF-3.
    """

    def __init__(self, entity_id: object, relationship_id: object) -> None:
        super().__init__(f"relationship {relationship_id}: unknown entity {entity_id}")
        self.entity_id = entity_id
        self.relationship_id = relationship_id

    def __reduce__(self) -> tuple[type["UnknownEntityError"], tuple[object, object]]:
        return type(self), (self.entity_id, self.relationship_id)


class StoreClosedError(RedstringError):
    """A store was used after `close()`.

    Spec: PRT-1.
    """
