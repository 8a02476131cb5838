"""The one dimension gate, and the one way to ask a provider for vectors. Nothing is stored here."""

from collections.abc import Sequence

from redstring_ref.domain.embeddings import require_embeddings
from redstring_ref.domain.errors import DimensionMismatchError
from redstring_ref.ports import Dimensioned, EmbeddingProvider


def require_both(**halves: object) -> None:
    """Raise `ValueError` if one of two collaborators that only work together is `None`.

    Spec: RET-5.
    """
    for name, half in halves.items():
        if half is None:
            raise ValueError(f"{' and '.join(halves)} go together, got None for {name}")


def require_same_dimension(embeddings: EmbeddingProvider, *stores: Dimensioned) -> None:
    """Raise `DimensionMismatchError` unless the provider makes vectors of each store's width.

    Spec: RET-5.
    """
    for store in stores:
        if embeddings.dimension != store.dimension:
            what = f"embedding model {embeddings.model!r} for {type(store).__name__}"
            raise DimensionMismatchError(store.dimension, embeddings.dimension, what)


async def embed_texts(embeddings: EmbeddingProvider, texts: Sequence[str]) -> list[list[float]]:
    """Return one checked vector for each document text; no texts make no call.

    Spec: EMB-1, EMB-2.
    """
    if not texts:
        return []
    # The provider may do with its list what it likes.
    vectors = await embeddings.embed(list(texts))
    return require_embeddings(vectors, expected=len(texts), dimension=embeddings.dimension)


async def embed_question(embeddings: EmbeddingProvider, query: str) -> list[float]:
    """Return the checked vector of one query.

    Spec: EMB-1, EMB-2.
    """
    vectors = await embeddings.embed_query([query])
    return require_embeddings(vectors, expected=1, dimension=embeddings.dimension)[0]
