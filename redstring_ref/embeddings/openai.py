"""Embeddings from any server that speaks the OpenAI protocol. Connections and retries are elsewhere."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from redstring_ref.domain.arguments import require_at_least, require_dimension, require_strings
from redstring_ref.domain.errors import got
from redstring_ref.domain.storable import require_text
from redstring_ref.embeddings.answers import parse_embeddings

if TYPE_CHECKING:
    from ssl import SSLContext

MAX_SECONDS = 86_400.0

# Room for each component as text, and for an answer that is an error page or far wider than asked.
_COMPONENT_BYTES = 64
_SPARE_BYTES = 2**26


class OpenAIEmbeddingProvider:
    """Embeds with a server's `/v1/embeddings`: Ollama, llama.cpp, vLLM, TEI, OpenAI itself.

    `base_url` is what precedes `/embeddings`; one without a path gets `/v1`. Documents and
    queries are sent behind their prefixes, at most `batch_size` in a request. A request may take
    `timeout` seconds, and is sent again up to `max_retries` times after a 429, a 5xx or a lost
    connection: after `Retry-After`, else after `backoff` seconds, doubled each time, at most a minute.

    Nothing is read from the environment, no proxy is used, no redirect followed, and the key
    stands in no error and no `repr`. An https server needs a certificate that the system trusts;
    pass an `ssl_context` to trust another.

    Spec: EMB-1, EMB-2, EMB-4.
    """

    def __init__(  # noqa: PLR0913 - one for each side of a server; all but three have a default
        self,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        document_prefix: str = "",
        query_prefix: str = "",
        batch_size: int = 64,
        timeout: float = 30.0,
        *,
        max_retries: int = 3,
        backoff: float = 0.5,
        ssl_context: "SSLContext | None" = None,
    ) -> None:
        # Sockets, ssl and asyncio take longer to import than all else; programs without a server need none.
        from redstring_ref.embeddings.transport import Transport  # noqa: PLC0415

        self._model = require_text("model", model)
        if not self._model:
            raise ValueError("model must not be empty")
        self._dimension = require_dimension(dimension)
        self._document_prefix = require_text("document_prefix", document_prefix)
        self._query_prefix = require_text("query_prefix", query_prefix)
        self._batch_size = require_at_least(1, "batch_size", batch_size)
        seconds = _require_seconds("timeout", timeout)
        if seconds == 0:
            raise ValueError("timeout must be more than 0")
        self._transport = Transport(
            base_url,
            api_key,
            timeout=seconds,
            max_retries=require_at_least(0, "max_retries", max_retries),
            backoff=_require_seconds("backoff", backoff),
            ssl_context=ssl_context,
        )

    @property
    def model(self) -> str:
        """The name by which the server knows the model."""
        return self._model

    @property
    def dimension(self) -> int:
        """The number of components that every vector must have."""
        return self._dimension

    @property
    def base_url(self) -> str:
        """The URL that `/embeddings` follows."""
        return self._transport.endpoint.base_url

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one float32 vector for each document text, in order. No texts, no request.

        Raises `EmbeddingProviderError` when the server fails or does not answer one vector a
        text, `DimensionMismatchError` for another width, `InvalidVectorError` for a vector that
        no store can rank; then no vector of the call is returned.

        Spec: EMB-1, EMB-2, EMB-4.
        """
        return await self._embed(self._document_prefix, texts)

    async def embed_query(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one float32 vector for each query text, as `embed` does for documents.

        Spec: EMB-1, EMB-2, EMB-4.
        """
        return await self._embed(self._query_prefix, texts)

    async def _embed(self, prefix: str, texts: Sequence[str]) -> list[list[float]]:
        inputs = [prefix + text for text in require_strings("texts", texts)]
        vectors: list[list[float]] = []
        for start in range(0, len(inputs), self._batch_size):
            vectors += await self._embed_batch(inputs[start : start + self._batch_size])
        return vectors

    async def _embed_batch(self, inputs: list[str]) -> list[list[float]]:
        request = json.dumps({"model": self._model, "input": inputs}, ensure_ascii=False).encode()
        max_bytes = _SPARE_BYTES + _COMPONENT_BYTES * self._dimension * len(inputs)
        answer = await self._transport.post(request, texts=len(inputs), max_bytes=max_bytes)
        return parse_embeddings(answer, expected=len(inputs), dimension=self._dimension)

    def __repr__(self) -> str:
        arguments = f"{self.base_url!r}, {self._model!r}, {self._dimension}"
        return f"{type(self).__name__}({arguments})"


def _require_seconds(field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{field} must be a number of seconds, {got(value)}")
    if not 0 <= value <= MAX_SECONDS:
        raise ValueError(f"{field} must be from 0 to {MAX_SECONDS:.0f} seconds, {got(value)}")
    return float(value)
