"""From text to terms: the one tokenizer. Nothing here knows about chunks or scores."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from unicodedata import category, normalize

from redstring_ref.domain.errors import got

MAX_TERM_LENGTH = 255

# fmt: off
STOPWORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "he", "in", "is",
    "it", "its", "of", "on", "or", "she", "that", "the", "their", "they", "this", "to", "was", "were", "will",
    "with",
})
# fmt: on

# Default_Ignorable_Code_Point of the Unicode Character Database, which `unicodedata` leaves out.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# The letters and numbers of Han, Hiragana, Katakana and Hangul as they are after NFKC, with the
# iteration and length marks that these scripts share, in blocks: what is unassigned never stands in a run.
_SPACELESS = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb"
    "\uf900-\ufaff\U00016fe2-\U00016fe3\U00016ff2-\U00016ff6\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
_SPACELESS_CHARACTER = re.compile(f"[{_SPACELESS}]")


class _Separators(dict[int, int | str]):
    """For `str.translate`: every code point that no run holds becomes a space."""

    def __missing__(self, code_point: int) -> int | str:
        kept = category(chr(code_point))[0] in "LMN"
        self[code_point] = code_point if kept else " "
        return self[code_point]


_SEPARATORS = _Separators()


def tokenize(text: str) -> list[str]:
    """Return the terms of `text`, in order and with repeats.

    Case, compatibility forms and invisible characters make no difference; scripts without
    spaces give their single characters and overlapping pairs; English stopwords are dropped;
    nothing is stemmed. Any string is accepted, a non-string is a `TypeError`.

    >>> tokenize("The ﬁrst Élan of snake_case, C++ and 検索")
    ['first', 'élan', 'snake', 'case', 'c', '検', '検索', '索']

    Spec: TXT-1 to TXT-6.
    """
    return [term for term in words(text) if term not in STOPWORDS]


def words(text: str) -> list[str]:
    """Return the terms of `text` with the stopwords still among them.

    Spec: TXT-1 to TXT-5.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, {got(text)}")
    folded = fold(text)
    if folded.isascii():
        # There are no marks and no scripts without spaces in ASCII: a run is a word.
        runs = folded.translate(_SEPARATORS).split()
        if max(map(len, runs), default=0) <= MAX_TERM_LENGTH:
            return runs
    return [piece for run in _runs(folded) for term in _split_run(run) for piece in _pieces(term)]


def fold(text: str) -> str:
    """Return `text` without invisible characters, case and compatibility forms folded away.

    Spec: TXT-1, TXT-2.
    """
    if text.isascii():
        return text.lower()
    return normalize("NFKC", normalize("NFKC", _IGNORABLE.sub("", text)).casefold())


def _runs(folded: str) -> Iterator[str]:
    """Yield the maximal runs of letters, marks and numbers, without the marks that lead them."""
    for run in folded.translate(_SEPARATORS).split():
        # A run seldom starts with a mark, and may be a million marks long.
        start = 0
        while start < len(run) and _is_mark(run[start]):
            start += 1
        if start < len(run):
            yield run[start:]


def _split_run(run: str) -> Iterator[str]:
    """Yield a run's words, and for each stretch without spaces its characters and their pairs."""
    if not _SPACELESS_CHARACTER.search(run):
        yield run
        return
    units = [(run[start:end], spaceless) for (start, spaceless), (end, _) in pairwise(_unit_starts(run))]
    for spaceless, stretch in groupby(units, key=itemgetter(1)):
        texts = [text for text, _ in stretch]
        for text, following in zip(texts, [*texts[1:], ""], strict=True):
            yield text
            if spaceless and following:
                yield text + following


def _unit_starts(run: str) -> list[tuple[int, bool]]:
    """Return where each word (False) and each character of a stretch (True) starts, and the run's end.

    A mark belongs to the character before it, whichever script that is.
    """
    starts: list[tuple[int, bool]] = []
    for at, character in enumerate(run):
        if _SPACELESS_CHARACTER.match(character):
            starts.append((at, True))
        elif not starts or (starts[-1][1] and not _is_mark(character)):
            starts.append((at, False))
    return [*starts, (len(run), False)]


def _pieces(term: str) -> Iterator[str]:
    for start in range(0, len(term), MAX_TERM_LENGTH):
        yield term[start : start + MAX_TERM_LENGTH]


def _is_mark(character: str) -> bool:
    return category(character)[0] == "M"
