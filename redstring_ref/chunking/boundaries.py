"""Where a text is best cut: after paragraphs, sentences and words, and before words."""

import re

from redstring_ref.chunking.clusters import is_edge

_CLOSING = r"\"'”’»›)\]}」』）】〉》〕］｝＂＇"
_SPACED_STOP = rf"[.!?…][{_CLOSING}]*\s+"
_SPACELESS_STOP = rf"[。！？][{_CLOSING}]*\s*"
_BLANK_LINE = r"\n\s*\n\s*"

# Each matches up to the end of the last one of its kind.
_ENDS = [
    re.compile(f"(?s:.*)(?:{kind})") for kind in (_BLANK_LINE, f"{_SPACED_STOP}|{_SPACELESS_STOP}", r"\s")
]
_BEFORE_WORD = re.compile(rf"\s+|[。！？][。！？{_CLOSING}]*\s*")


def last_end(text: str, known: int, low: int, high: int) -> int | None:
    r"""Return the last paragraph end in `text[low:high]`, else sentence end, else word end, else None.

    A paragraph ends with a blank line; a sentence with one of `.!?…`, closing quotes or
    brackets and white space, or with one of `。！？` and closing ones; a word with white space.
    White space stays before the cut. All of an end lies in `text[low:high]`; a place that is
    no edge is none. `known` is an edge at or before `low`.

    >>> last_end("One. Two three", 0, 0, 11), last_end("One. Two three", 0, 4, 11)
    (5, 9)

    Spec: SPL-2.
    """
    for kind in _ENDS:
        match = kind.match(text, low, high)
        while match:
            if is_edge(text, match.end(), known):
                return match.end()
            match = kind.match(text, low, match.end() - 1)
    return None


def first_word(text: str, known: int, low: int, high: int) -> int | None:
    """Return the first place in `low … high` where a word starts, None if none does.

    A word starts at an edge after white space, or after one of `。！？` and closing quotes or
    brackets, of which at least one lies in `text[low - 1 : high]`. `known` is an edge before
    `low`, and `high` lies inside `text`.

    >>> first_word("One two, three", 0, 1, 7), first_word("One two, three", 0, 5, 7)
    (4, None)

    Spec: SPL-2.
    """
    # One character more, so that white space or a closing quote at `high` belongs to what ends there.
    for match in _BEFORE_WORD.finditer(text, low - 1, high + 1):
        if match.end() <= high and is_edge(text, match.end(), known):
            return match.end()
    return None
