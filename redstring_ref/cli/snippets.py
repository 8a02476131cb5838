"""Which part of a passage to show, and how: in lines, with its matching words marked. No ranks."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from redstring_ref.cli.escapes import masked
from redstring_ref.cli.highlights import Span, matching_spans

SNIPPET_LENGTH = 240
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text in one line that drives no terminal, and where the words in it match."""

    text: str
    spans: list[Span]

    @classmethod
    def of(cls, text: str, terms: Collection[str]) -> Self:
        """Return the part of `text` that holds the most matching words; the first of the best."""
        line = " ".join(text.split())
        # Words are told apart before anything in them is masked, and before any is cut in two.
        spans = matching_spans(line, terms)
        begin, end = _best_part(line, [start for start, _ in spans])
        opening, closing = ELLIPSIS if begin else "", ELLIPSIS if end < len(line) else ""
        shift = len(opening) - begin
        inside = [
            (max(start, begin), min(stop, end)) for start, stop in spans if start < end and stop > begin
        ]
        shown = masked(line[begin:end])
        return cls(f"{opening}{shown}{closing}", [(start + shift, stop + shift) for start, stop in inside])

    def lines(self, width: int, opening: str, closing: str) -> Iterator[str]:
        """Yield lines of at most `width` characters, each matching word between `opening` and `closing`.

        Marks do not count. No word is broken: one that is longer has a longer line.
        """
        for begin, end in _wrapped(self.text, width):
            parts, at = [], begin
            for start, stop in self.spans:
                if begin <= start < end:
                    parts += [self.text[at:start], opening, self.text[start:stop], closing]
                    at = stop
            yield "".join([*parts, self.text[at:end]])


def _best_part(line: str, starts: Sequence[int]) -> Span:
    """Return the part of about `SNIPPET_LENGTH` characters in which the most words start."""
    if len(line) <= SNIPPET_LENGTH:
        return 0, len(line)
    counts = [bisect_left(starts, start + SNIPPET_LENGTH) - at for at, start in enumerate(starts)]
    best = starts[counts.index(max(counts))] if starts else 0
    # A few words before the first match let it be read in its sentence.
    begin = max(0, min(best - SNIPPET_LENGTH // 6, len(line) - SNIPPET_LENGTH))
    end = begin + SNIPPET_LENGTH
    if begin > 0:
        begin = line.find(" ", begin, best) + 1 or begin
    if end < len(line):
        last_space = line.rfind(" ", best, end)
        end = last_space if last_space > best else end
    return begin, end


def _wrapped(text: str, width: int) -> Iterator[Span]:
    """Yield the spans of the lines that `text`, words with single spaces between, is broken into."""
    begin = 0
    while len(text) - begin > width:
        space = text.rfind(" ", begin, begin + width + 1)
        if space < 0:
            space = text.find(" ", begin + width)
        if space < 0:
            break
        yield begin, space
        begin = space + 1
    if begin < len(text):
        yield begin, len(text)
