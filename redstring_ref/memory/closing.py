"""How the in-memory stores close. Nothing about what they store."""

from types import TracebackType
from typing import Self

from redstring_ref.domain.errors import StoreClosedError


class Closable:
    """An `AsyncClosable` whose methods begin with `self._require_open()`.

    Spec: PRT-1.
    """

    def __init__(self) -> None:
        self._closed = False

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosedError(f"{type(self).__name__} is closed")

    async def close(self) -> None:
        """Refuse every later call; a second `close` does nothing."""
        self._closed = True

    async def __aenter__(self) -> Self:
        """Return the store itself."""
        self._require_open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store; an exception raised in the block goes on to the caller."""
        await self.close()
