"""Embedding providers: hashed words, and servers that speak the OpenAI protocol."""

from redstring_ref.embeddings.hashing import HashingEmbeddingProvider
from redstring_ref.embeddings.openai import OpenAIEmbeddingProvider

__all__ = ["HashingEmbeddingProvider", "OpenAIEmbeddingProvider"]
