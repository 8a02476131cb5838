"""Which part of a passage to show, and which words of it match. It decides nothing about ranks."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import groupby
from unicodedata import category

from redstring_ref.cli.terminal import one_line
from redstring_ref.domain.terms import fold, is_ignorable, tokenize

SNIPPET_LENGTH = 240
ELLIPSIS = "…"

Span = tuple[int, int]


def marked_snippet(text: str, terms: Collection[str], opening: str, closing: str) -> str:
    """Return the part of `text`, in one line, that holds the most matching words, with these marked.

    Of several such parts the first. A word that the part begins or ends in is marked by what it
    is as a whole.
    """
    line = one_line(text)
    spans = matching_spans(line, terms)
    begin, end = _window(line, [start for start, _ in spans])
    shown = [(max(start, begin), min(stop, end)) for start, stop in spans if start < end and stop > begin]
    before, after = ELLIPSIS if begin else "", ELLIPSIS if end < len(line) else ""
    return f"{before}{_marked(line, begin, end, shown, opening, closing)}{after}"


def matching_spans(text: str, terms: Collection[str]) -> list[Span]:
    """Return where words of `text` have one of `terms` among their tokens, in order, none overlapping.

    In scripts without spaces, the characters that match; elsewhere the whole word. A character
    that tokens leave out, such as a soft hyphen, belongs to the word that it stands in.
    """
    spans: list[Span] = []
    for is_word, group in groupby(enumerate(text), key=lambda each: _is_of_word(each[1])):
        if is_word:
            positions = [position for position, _ in group]
            spans += _matches_in_word(text, positions[0], positions[-1] + 1, terms)
    return spans


def _window(line: str, starts: list[int]) -> Span:
    """Return where the part to show begins and ends, in which the most of `starts` lie."""
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


def _marked(line: str, begin: int, end: int, spans: list[Span], opening: str, closing: str) -> str:
    parts, at = [], begin
    for start, stop in spans:
        parts += [line[at:start], opening, line[start:stop], closing]
        at = stop
    return "".join([*parts, line[at:end]])


def _is_of_word(character: str) -> bool:
    return category(character)[0] in "LMN" or is_ignorable(character)


def _matches_in_word(text: str, start: int, end: int, terms: Collection[str]) -> list[Span]:
    word = text[start:end]
    tokens = tokenize(word)
    found = {token for token in tokens if token in terms}
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
