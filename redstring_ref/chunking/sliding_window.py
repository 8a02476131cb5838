"""The splitter for plain text: overlapping windows that end where paragraphs, sentences or words do."""

from redstring_ref.chunking.boundaries import first_word, last_end
from redstring_ref.chunking.clusters import edge_after, first_edge, last_edge
from redstring_ref.domain.arguments import require_at_least
from redstring_ref.domain.errors import got, shown
from redstring_ref.domain.span import TextSpan


class SlidingWindowChunker:
    """Cuts a text into spans of at most `size` characters that share at most `overlap` with the next.

    A span ends after a paragraph, else a sentence, else a word, that ends in the last half of its
    window; the next starts at the first word in the overlap. Text without such places is cut between
    clusters, and only a cluster longer than `size` makes a longer span.

    >>> text = "One two. Three four five."
    >>> [text[span.start : span.end] for span in SlidingWindowChunker(14, 5).chunk(text)]
    ['One two. ', 'two. Three ', 'four five.']

    `size` is at least 1, `overlap` at least 0 and less than `size`, else `ValueError`.

    Spec: SPL-1 to SPL-3.
    """

    def __init__(self, size: int = 1000, overlap: int = 200) -> None:
        self._size = require_at_least(1, "size", size)
        self._overlap = require_at_least(0, "overlap", overlap)
        if self._overlap >= self._size:
            raise ValueError(
                f"overlap must be less than size {shown(self._size)}, got {shown(self._overlap)}"
            )

    @property
    def size(self) -> int:
        """The most characters that a span has, unless one cluster has more."""
        return self._size

    @property
    def overlap(self) -> int:
        """The most characters that a span shares with the one before it."""
        return self._overlap

    def chunk(self, text: str) -> list[TextSpan]:
        """Return spans that together cover `text`, by start; none for an empty text.

        Any `str` is accepted, lone surrogates included; anything else is a `TypeError`.

        Spec: SPL-1 to SPL-3.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, {got(text)}")
        spans = []
        start = end = 0
        while end < len(text):
            start = self._next_start(text, start, end)
            end = self._next_end(text, start, end)
            spans.append(TextSpan(start, end))
        return spans

    def _next_start(self, text: str, start: int, end: int) -> int:
        """Return where the span after `text[start:end]` starts, so that it can end after `end`."""
        low = max(start + 1, end - self._overlap, edge_after(text, end) - self._size)
        if low >= end:
            return end
        word = first_word(text, start, low, end)
        return first_edge(text, start, low, end) if word is None else word

    def _next_end(self, text: str, start: int, previous: int) -> int:
        """Return where the span from `start` ends: after `previous`, the end of the one before it."""
        if len(text) - start <= self._size:
            return len(text)
        limit = last_edge(text, start, previous, start + self._size)
        if limit == previous:
            return edge_after(text, start)
        end = last_end(text, start, max(start + self._size // 2, previous), limit)
        return limit if end is None else end

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self._size}, overlap={self._overlap})"
