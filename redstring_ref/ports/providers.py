"""Ports of the collaborators that turn text into something else: vectors, extractions, spans."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from redstring_ref.domain.graph import Extraction
from redstring_ref.domain.span import TextSpan
from redstring_ref.ports.closing import Dimensioned


@runtime_checkable
class EmbeddingProvider(Dimensioned, Protocol):
    """Turns texts into vectors of one width."""

    @property
    def model(self) -> str:
        """The name of the model: vectors of different models are not comparable."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each document text, in order. No texts, no request.

        Raises `EmbeddingProviderError` when the model fails or does not answer one vector a text.

        Spec: EMB-1, EMB-2.
        """
        ...

    async def embed_query(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each query text, as `embed` does for documents.

        Spec: EMB-1, EMB-2.
        """
        ...


@runtime_checkable
class LlmProvider(Protocol):
    """Extracts entities and relationships from text."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    async def extract(self, text: str) -> Extraction:
        """Return what one text speaks of.

        Raises `LlmProviderError` when the model fails.

        Spec: GRF-5.
        """
        ...


@runtime_checkable
class Chunker(Protocol):
    """Cuts a text into passages."""

    def chunk(self, text: str) -> list[TextSpan]:
        """Return spans that together cover `text`, by start; none for an empty text.

        Every span starts after the start, and ends after the end, of the one before it.

        Spec: SPL-1.
        """
        ...
