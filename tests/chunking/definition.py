"""SPL-1 to SPL-3 as a slow program: every place in the text is tried, every answer is a list."""

import re
import unicodedata

CLOSING = "\"'”’»›)]}」』）】〉》〕］｝＂＇"
STOPS = "。！？"
CONTINUES = {0x200C, 0x200D, 0x0E33, 0x0EB3, 0xFF9E, 0xFF9F}.union(
    range(0x1160, 0x1200), range(0xD7B0, 0xD800), range(0x1F3FB, 0x1F400), range(0xE0020, 0xE0080)
)

ENDS = [
    r"\n\s*\n\s*\Z",
    rf"([.!?…][{re.escape(CLOSING)}]*\s+|[。！？][{re.escape(CLOSING)}]*\s*)\Z",
    r"\s\Z",
]


def edges(text: str) -> list[int]:
    """Return every place where a cut may fall, 0 and the text's end included."""
    found, flags = [], 0
    for at, character in enumerate(text):
        joined = at > 0 and belong_together(text[at - 1], character)
        if 0x1F1E6 <= ord(character) <= 0x1F1FF:
            flags = 1 if joined or flags != 1 else 2
            joined = joined or flags == 2
        else:
            flags = 0
        if not joined:
            found.append(at)
    return [*found, len(text)]


def belong_together(before: str, after: str) -> bool:
    return (
        unicodedata.category(after) in {"Mn", "Mc", "Me"}
        or ord(after) in CONTINUES
        or before == "\u200d"
        or (before == "\r" and after == "\n")
        or (0xD800 <= ord(before) < 0xDC00 <= ord(after) < 0xE000)
    )


def starts_word(text: str, low: int, at: int) -> bool:
    before, after = text[low - 1 : at], text[at]
    if re.search(r"\s\Z", before):
        return not after.isspace()
    is_stop = re.search(rf"[。！？][。！？{re.escape(CLOSING)}]*\Z", before)
    return bool(is_stop) and not (after.isspace() or after in CLOSING + STOPS)


def slow_spans(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the spans of `text` as (start, end)."""
    cuts = edges(text)
    spans: list[tuple[int, int]] = []
    start = end = 0
    while end < len(text):
        if spans:
            start = slow_start(text, cuts, spans[-1], size, overlap)
        end = slow_end(text, cuts, start, end, size)
        spans.append((start, end))
    return spans


def slow_start(text: str, cuts: list[int], span: tuple[int, int], size: int, overlap: int) -> int:
    start, end = span
    following = next(cut for cut in cuts if cut > end)
    # Where the next span would reach beyond the end of this one.
    low = max(end - overlap, following - size)
    places = [cut for cut in cuts if cut > start and low <= cut < end]
    if not places:
        return end
    first = max(low, start + 1)
    return next((cut for cut in [*places, end] if starts_word(text, first, cut)), places[0])


def slow_end(text: str, cuts: list[int], start: int, previous: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    places = [cut for cut in cuts if previous < cut <= start + size]
    if not places:
        return next(cut for cut in cuts if cut > start)
    low = max(start + size // 2, previous)
    for kind in ENDS:
        for cut in reversed(places):
            if re.search(kind, text[low:cut]):
                return cut
    return places[-1]
