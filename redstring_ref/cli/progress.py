"""The line that tells how far long work has come. It knows no work."""

import sys
from threading import Event, Thread
from types import TracebackType
from typing import Self, TextIO

from redstring_ref.cli.escapes import escaped
from redstring_ref.cli.terminal import columns, fitted

PROGRESS_AFTER = 0.5
PROGRESS_EVERY = 0.1


class Progress:
    """One line on a terminal's stderr that is rewritten while work goes on, and wiped at its end.

    Work of less than half a second shows nothing, and neither does a stream that is no terminal.
    A thread writes the line, so that a step which takes long is shown while it lasts.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._text = ""
        self._written = 0
        self._ended = Event()
        self._writer = Thread(target=self._write, daemon=True) if self._stream.isatty() else None

    def __enter__(self) -> Self:
        if self._writer is not None:
            self._writer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._writer is not None:
            self._writer.join()

    def show(self, text: str) -> None:
        """Set what the line says."""
        self._text = text

    def _write(self) -> None:
        try:
            wait = PROGRESS_AFTER
            while not self._ended.wait(wait):
                self._rewrite(self._text)
                wait = PROGRESS_EVERY
            if self._written:
                self._rewrite("")
                self._stream.write("\r")
                self._stream.flush()
        except OSError:
            return  # The terminal has gone; the work goes on.

    def _rewrite(self, text: str) -> None:
        # What the stream cannot encode takes the columns of its number.
        encoding = self._stream.encoding or "utf-8"
        shown = escaped(text).encode(encoding, "backslashreplace").decode(encoding)
        # A character in the last column would start another line on some terminals.
        line, taken = fitted(shown, columns(self._stream) - 1)
        self._stream.write(f"\r{line}{' ' * (self._written - taken)}")
        self._stream.flush()
        self._written = taken
