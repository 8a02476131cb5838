"""Which part of a passage to show, and which words of it match. It decides nothing about ranks."""

import re
from collections.abc import Collection, Iterator
from itertools import groupby
from unicodedata import category

from redstring_ref.cli.escapes import one_line
from redstring_ref.domain.terms import fold, tokenize

SNIPPET_LENGTH = 240
ELLIPSIS = "…"

Span = tuple[int, int]


def snippet(text: str, terms: Collection[str]) -> str:
    """Return the part of `text`, in one line, that holds the most matching words; the first of the best."""
    line = one_line(text)
    if len(line) <= SNIPPET_LENGTH:
        return line
    starts = [start for start, _ in matching_spans(line, terms)]
    counts = [sum(start <= other < start + SNIPPET_LENGTH for other in starts) for start in starts]
    best = starts[counts.index(max(counts))] if starts else 0
    # A few words before the first match let it be read in its sentence.
    begin = max(0, min(best - SNIPPET_LENGTH // 6, len(line) - SNIPPET_LENGTH))
    end = begin + SNIPPET_LENGTH
    if begin > 0:
        begin = line.find(" ", begin, best) + 1 or begin
    if end < len(line):
        last_space = line.rfind(" ", best, end)
        end = last_space if last_space > best else end
    return f"{ELLIPSIS if begin else ''}{line[begin:end]}{ELLIPSIS if end < len(line) else ''}"


def marked(text: str, terms: Collection[str], opening: str, closing: str) -> str:
    """Return `text` with each matching word between `opening` and `closing`."""
    parts = []
    end = 0
    for start, stop in matching_spans(text, terms):
        parts += [text[end:start], opening, text[start:stop], closing]
        end = stop
    return "".join([*parts, text[end:]])


def matching_spans(text: str, terms: Collection[str]) -> list[Span]:
    """Return where words of `text` have one of `terms` among their tokens, in order, none overlapping.

    In scripts without spaces, the characters that match; elsewhere the whole word.
    """
    spans: list[Span] = []
    for is_word, group in groupby(enumerate(text), key=lambda each: category(each[1])[0] in "LMN"):
        if is_word:
            positions = [position for position, _ in group]
            spans += _matches_in_word(text, positions[0], positions[-1] + 1, terms)
    return spans


def _matches_in_word(text: str, start: int, end: int, terms: Collection[str]) -> list[Span]:
    word = text[start:end]
    tokens = tokenize(word)
    found = [token for token in tokens if token in terms]
    folded = fold(word)
    if not found:
        return []
    if len(tokens) == 1 or len(folded) != len(word):
        return [(start, end)]
    covered = {position for token in found for position in _positions(token, folded)}
    runs = groupby(enumerate(sorted(covered)), key=lambda each: each[1] - each[0])
    blocks = [[position for _, position in run] for _, run in runs]
    return [(start + block[0], start + block[-1] + 1) for block in blocks]


def _positions(token: str, text: str) -> Iterator[int]:
    """Yield the positions of `text` that an occurrence of `token` covers, overlapping ones too."""
    for match in re.finditer(f"(?={re.escape(token)})", text):
        yield from range(match.start(), match.start() + len(token))
