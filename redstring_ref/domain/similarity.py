"""How alike two names are, and which names are compared at all. Passages are scored elsewhere."""

from collections.abc import Iterable

from redstring_ref.domain.arguments import require_strings
from redstring_ref.domain.terms import tokenize, words

BLOCKING_KEY_LENGTH = 4
PREFIX_WEIGHT = 0.1
MAX_PREFIX = 4
BOOST_THRESHOLD = 0.7


def jaro(left: str, right: str) -> float:
    """Return the Jaro similarity, 0.0 to 1.0: 1.0 for equal strings, 0.0 where nothing matches.

    Jaro, Advances in Record-Linkage Methodology (JASA 84, 1989).

    Spec: ENT-2.
    """
    if left == right:
        return 1.0
    left_matches, right_matches = _matching(left, right)
    matches = len(left_matches)
    if matches == 0:
        return 0.0
    half_transpositions = sum(map(str.__ne__, left_matches, right_matches))
    in_order, area = matches - half_transpositions // 2, len(left) * len(right)
    # m/|left|, m/|right| and in_order/m, averaged by one division: summed as floats, 7/10 lies above 0.7.
    return (matches * matches * (len(left) + len(right)) + in_order * area) / (3 * matches * area)


def jaro_winkler(left: str, right: str) -> float:
    """Return the Jaro similarity, raised above 0.7 for each of up to four shared first characters.

    >>> round(jaro_winkler("martha", "marhta"), 4)
    0.9611

    Winkler, String Comparator Metrics and Enhanced Decision Rules (1990).

    Spec: ENT-2.
    """
    similarity = jaro(left, right)
    if similarity <= BOOST_THRESHOLD:
        return similarity
    prefix = 0
    while prefix < min(MAX_PREFIX, len(left), len(right)) and left[prefix] == right[prefix]:
        prefix += 1
    return similarity + prefix * PREFIX_WEIGHT * (1.0 - similarity)


def _matching(left: str, right: str) -> tuple[list[str], list[str]]:
    """Return the characters that match within half the longer length, in each string's order."""
    window = max(max(len(left), len(right)) // 2 - 1, 0)
    taken = [False] * len(right)
    left_matches = []
    for at, character in enumerate(left):
        for other in range(max(0, at - window), min(len(right), at + window + 1)):
            if not taken[other] and right[other] == character:
                taken[other] = True
                left_matches.append(character)
                break
    return left_matches, [character for character, used in zip(right, taken, strict=True) if used]


def blocking_keys(names: Iterable[str]) -> frozenset[str]:
    """Return the keys under which an entity of these names is found: the first four characters of each term.

    Stopwords count only in a name that has no other term. One string for all names is a `TypeError`.

    >>> sorted(blocking_keys(["Bank of America", "The BofA"]))
    ['amer', 'bank', 'bofa']

    Spec: ENT-1.
    """
    checked = require_strings("names", names)
    return frozenset(term[:BLOCKING_KEY_LENGTH] for name in checked for term in tokenize(name) or words(name))


def normalized_name(name: str) -> str:
    """Return a name's words, folded, with single spaces between; the name itself if it has none.

    Spec: ENT-2.
    """
    return " ".join(words(name)) or name


def name_similarity(query: str, name: str) -> float:
    """Return how well the best stretch of `query` matches `name`: Jaro-Winkler, 0.0 to 1.0.

    A stretch has as many words as the name, so a name inside a long question still scores 1.0.

    >>> name_similarity("who founded Acme Corp?", "ACME corp")
    1.0

    Spec: ENT-2.
    """
    query_words, width = words(query), len(words(name))
    if width == 0:
        return jaro_winkler(query, name)
    starts = range(max(1, len(query_words) - width + 1))
    target = normalized_name(name)
    return max(jaro_winkler(" ".join(query_words[start : start + width]), target) for start in starts)
