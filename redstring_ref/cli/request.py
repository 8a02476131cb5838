"""What `search` and `explain` are asked, from the options that a user wrote. It runs nothing."""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from redstring_ref.chunking import SlidingWindowChunker
from redstring_ref.cli.errors import UsageError
from redstring_ref.cli.options import DEFAULT_DIMENSION, MAX_DEFAULT_OVERLAP
from redstring_ref.domain import RetrievalMode
from redstring_ref.domain.retrieval import require_query
from redstring_ref.embeddings import HashingEmbeddingProvider, OpenAIEmbeddingProvider
from redstring_ref.ports import EmbeddingProvider

_SERVER_OPTIONS = {"base_url": "--base-url", "model": "--model", "api_key": "--api-key-env"}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search, how, and for what."""

    query: str
    paths: Sequence[str]
    mode: RetrievalMode
    k: int
    chunker: SlidingWindowChunker
    embeddings: EmbeddingProvider


def search_request(options: argparse.Namespace) -> SearchRequest:
    """Return what is asked; a contradiction is a `UsageError`."""
    try:
        query = require_query(options.query)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return SearchRequest(
        query=query,
        paths=options.paths,
        mode=RetrievalMode(options.mode),
        k=options.k,
        chunker=_chunker(options.chunk_size, options.overlap),
        embeddings=_hashing(options) if options.embeddings == "hashing" else _server(options),
    )


def _chunker(size: int, overlap: int | None) -> SlidingWindowChunker:
    if overlap is None:
        return SlidingWindowChunker(size, min(MAX_DEFAULT_OVERLAP, size // 5))
    if overlap >= size:
        raise UsageError(f"--overlap must be less than --chunk-size {size}, got {overlap}")
    return SlidingWindowChunker(size, overlap)


def _hashing(options: argparse.Namespace) -> HashingEmbeddingProvider:
    for name in ("base_url", "model", "api_key_env"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} goes with --embeddings openai")
    return HashingEmbeddingProvider(DEFAULT_DIMENSION if options.dimension is None else options.dimension)


def _server(options: argparse.Namespace) -> OpenAIEmbeddingProvider:
    for name in ("base_url", "model", "dimension"):
        if getattr(options, name) is None:
            raise UsageError(f"--embeddings openai needs --{name.replace('_', '-')}")
    api_key = None
    if options.api_key_env is not None:
        api_key = os.environ.get(options.api_key_env)
        if api_key is None:
            raise UsageError(f"--api-key-env: there is no environment variable {options.api_key_env}")
    try:
        return OpenAIEmbeddingProvider(options.base_url, options.model, options.dimension, api_key=api_key)
    except ValueError as error:
        # The provider names its parameters, and never shows their values.
        named = re.sub("|".join(_SERVER_OPTIONS), lambda match: _SERVER_OPTIONS[match.group()], str(error))
        raise UsageError(named) from None
