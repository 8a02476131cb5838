"""What a provider's answer must be before anyone uses it. How vectors are made is not here."""

from collections.abc import Sequence, Sized

from redstring_ref.domain.errors import EmbeddingProviderError, got
from redstring_ref.domain.vectors import as_vector, require_width


def require_embeddings(vectors: object, *, expected: int, dimension: int) -> list[list[float]]:
    """Return a provider's answer as `expected` checked vectors of `dimension` float32 components.

    Any sequence of what `as_vector` accepts goes in, a two-dimensional numpy array too. Another
    number of vectors, or something that is not a vector, is an `EmbeddingProviderError` with
    both counts, `actual=None` if the answer has no length; a vector of another width is a
    `DimensionMismatchError`; one that no store can rank an `InvalidVectorError`.

    >>> require_embeddings([(1, 0), (0, 2)], expected=2, dimension=2)
    [[1.0, 0.0], [0.0, 2.0]]

    Spec: EMB-1, EMB-2, VEC-5.
    """
    items = vectors.tolist() if hasattr(vectors, "tolist") else vectors
    actual = len(items) if isinstance(items, Sized) else None
    if not isinstance(items, Sequence) or isinstance(items, str | bytes | bytearray):
        message = f"an embedding provider must return a sequence of vectors, {got(vectors)}"
        raise EmbeddingProviderError(message, expected=expected, actual=actual)
    if actual != expected:
        message = f"an embedding provider must return one vector a text: expected {expected}, got {actual}"
        raise EmbeddingProviderError(message, expected=expected, actual=actual)
    return [
        _embedding(f"vectors[{position}]", item, expected, dimension) for position, item in enumerate(items)
    ]


def _embedding(field: str, value: object, count: int, dimension: int) -> list[float]:
    try:
        vector = as_vector(value, field)
    except TypeError as error:
        message = f"an embedding provider must return vectors: {error}"
        raise EmbeddingProviderError(message, expected=count, actual=count) from error
    require_width(dimension, vector, field)
    return vector
