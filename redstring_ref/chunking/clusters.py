"""Where a text may be cut at all: between clusters, the characters that belong together."""

import re
from unicodedata import category

_ZERO_WIDTH_JOINER = "\u200d"
# What continues a cluster without being a mark: the zero width (non-)joiner, Thai and Lao AM, vowel and
# final jamo, halfwidth voicing marks, emoji modifiers, tags.
_CONTINUES = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_PAIR = re.compile("\r\n|[\ud800-\udbff][\udc00-\udfff]")
_REGIONAL_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def is_edge(text: str, at: int, known: int) -> bool:
    r"""Tell whether a cluster ends and another begins at `at`, which lies inside `text`.

    `known` is an edge before `at`: regional indicators pair up from there. Nothing is cut
    before a mark (M*), U+200C, U+0E33, U+0EB3, U+1160-11FF, U+D7B0-D7FF, U+FF9E-FF9F,
    U+1F3FB-1F3FF or U+E0020-E007F, beside U+200D, between CR and LF, or within a pair of
    surrogates or of regional indicators.

    >>> [at for at in range(1, 6) if is_edge("e\u0301 \r\nx", at, 0)]
    [2, 3, 5]

    Spec: SPL-3.
    """
    before, after = text[at - 1], text[at]
    if category(after)[0] == "M" or _CONTINUES.match(after) or before == _ZERO_WIDTH_JOINER:
        return False
    if _PAIR.match(before + after):
        return False
    if after in _REGIONAL_INDICATORS:
        preceding = text[known:at]
        return (len(preceding) - len(preceding.rstrip(_REGIONAL_INDICATORS))) % 2 == 0
    return True


def edge_after(text: str, edge: int) -> int:
    """Return the end of the cluster that starts at `edge`, which lies inside `text`.

    Spec: SPL-3.
    """
    at = edge + 1
    while at < len(text) and not is_edge(text, at, edge):
        at += 1
    return at


def last_edge(text: str, known: int, low: int, high: int) -> int:
    """Return the last edge in `low … high`, `low` if there is none after it.

    Spec: SPL-3.
    """
    at = high
    while at > low and not is_edge(text, at, known):
        at -= 1
    return at


def first_edge(text: str, known: int, low: int, high: int) -> int:
    """Return the first edge in `low … high`, `high` if there is none before it.

    Spec: SPL-3.
    """
    at = low
    while at < high and not is_edge(text, at, known):
        at += 1
    return at
