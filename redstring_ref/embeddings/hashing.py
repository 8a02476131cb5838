"""Embeddings from hashed words: no model, no network, the same doubles everywhere."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from redstring_ref.domain.arguments import require_dimension, require_strings
from redstring_ref.domain.terms import tokenize


class HashingEmbeddingProvider:
    """Signed feature hashing of a text's terms: texts are close when they share words.

    It knows no synonyms. It serves tests, examples, and searches without a model.

    Spec: EMB-1, EMB-3.
    """

    def __init__(self, dimension: int = 256) -> None:
        self._dimension = require_dimension(dimension)

    @property
    def model(self) -> str:
        """The name of the rule and its width, such as `hashing-256`."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The number of components of every vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 for each text, the empty one included.

        Spec: EMB-1, EMB-3.
        """
        return [hashed_embedding(text, self._dimension) for text in require_strings("texts", texts)]

    async def embed_query(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the same vectors as `embed`.

        Spec: EMB-1, EMB-3.
        """
        return await self.embed(texts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dimension={self._dimension})"


def hashed_embedding(text: str, dimension: int) -> list[float]:
    """Return the hashed embedding of one text: `dimension` doubles of length 1.

    Each distinct term adds the square root of its frequency. Its 8-byte BLAKE2b digest is a
    big-endian integer: a last bit of 1 makes it negative, the other bits modulo `dimension`
    are its index. A text without terms, or whose terms all cancel, is one feature itself.

    >>> hashed_embedding("to be or not to be", 4)  # "not" is the one term
    [0.0, 0.0, 0.0, -1.0]

    Spec: EMB-3.
    """
    # Every operation is correctly rounded and no sum depends on its order, so each double is definite.
    buckets: defaultdict[int, list[float]] = defaultdict(list)
    for term, frequency in Counter(tokenize(text)).items():
        index, sign = _term_place(term, dimension)
        buckets[index].append(sign * math.sqrt(frequency))
    sums = {index: math.fsum(parts) for index, parts in buckets.items()}
    if not any(sums.values()):
        index, sign = _place(text, dimension)
        sums = {index: sign}
    length = math.sqrt(math.fsum(value * value for value in sums.values()))
    vector = [0.0] * dimension
    for index, value in sums.items():
        vector[index] = value / length
    return vector


def _place(feature: str, dimension: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
    return (number >> 1) % dimension, -1.0 if number & 1 else 1.0


# Terms are short and recur; whole texts are neither, and stay out of the cache.
_term_place = lru_cache(maxsize=2**16)(_place)
