"""Splitters: what turns a text into the spans of its passages."""

from redstring_ref.chunking.sliding_window import SlidingWindowChunker

__all__ = ["SlidingWindowChunker"]
