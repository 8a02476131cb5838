"""What every store shares: it can be closed. Nothing about what it stores."""

from types import TracebackType
from typing import Protocol, Self, runtime_checkable


@runtime_checkable
class AsyncClosable(Protocol):
    """Something that is used with `async with`, or closed by hand."""

    async def close(self) -> None:
        """Release what the object holds; a second call does nothing.

        Every other method of a closed store raises `StoreClosedError`.

        Spec: PRT-1.
        """
        ...

    async def __aenter__(self) -> Self:
        """Return the object itself."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the object; an exception raised in the block goes on to the caller."""
        ...


@runtime_checkable
class Dimensioned(Protocol):
    """Something that holds or makes vectors of one width."""

    @property
    def dimension(self) -> int:
        """The number of components of every vector, at least 1.

        Spec: VEC-5.
        """
        ...
