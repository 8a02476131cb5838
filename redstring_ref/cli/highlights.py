"""Which words of a text match a query. It shows nothing."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import groupby, pairwise
from unicodedata import category

from redstring_ref.domain.terms import fold, tokenize

Span = tuple[int, int]


def matching_spans(text: str, terms: Collection[str]) -> list[Span]:
    """Return where words of `text` have one of `terms` among their tokens, in order, none overlapping.

    In scripts without spaces, the characters that match; elsewhere the whole word.
    """
    spans: list[Span] = []
    for is_word, group in groupby(enumerate(text), key=lambda each: _is_of_words(each[1])):
        if is_word:
            positions = [position for position, _ in group]
            spans += _matches_in_word(text, positions[0], positions[-1] + 1, terms)
    return spans


@lru_cache(maxsize=2**16)
def _is_of_words(character: str) -> bool:
    """Tell whether terms go through a character: it gives letters, marks or numbers, or nothing at all."""
    folded = fold(character)
    return not folded or any(category(each)[0] in "LMN" for each in folded)


def _matches_in_word(text: str, start: int, end: int, terms: Collection[str]) -> list[Span]:
    word = text[start:end]
    tokens = tokenize(word)
    found = {token for token in tokens if token in terms}
    if not found:
        return []
    edges = _cluster_edges(word)
    folds = [fold(word[left:right]) for left, right in pairwise(edges)]
    # Characters that fold together only as neighbours leave no way to tell where a token lies.
    if len(tokens) == 1 or "".join(folds) != fold(word):
        return [(start, end)]
    cluster_at = [cluster for cluster, folded in enumerate(folds) for _ in folded]
    covered = {cluster_at[position] for token in found for position in _positions(token, "".join(folds))}
    runs = groupby(enumerate(sorted(covered)), key=lambda each: each[1] - each[0])
    blocks = [[cluster for _, cluster in run] for _, run in runs]
    return [(start + edges[block[0]], start + edges[block[-1] + 1]) for block in blocks]


def _cluster_edges(word: str) -> list[int]:
    """Return where each character of `word` starts, marks and invisible ones counted to it, and the end."""
    starts = (at for at, each in enumerate(word) if at and category(each)[0] != "M" and fold(each))
    return [0, *starts, len(word)]


def _positions(token: str, text: str) -> Iterator[int]:
    """Yield the positions of `text` that an occurrence of `token` covers, overlapping ones too."""
    for match in re.finditer(f"(?={re.escape(token)})", text):
        yield from range(match.start(), match.start() + len(token))
