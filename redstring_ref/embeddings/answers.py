"""What a server's answer means: vectors in order, or an error that shows no key. Nothing is sent here."""

import json
import re

from redstring_ref.domain.embeddings import require_embeddings
from redstring_ref.domain.errors import EmbeddingProviderError

# An error says what matters at its start.
_EXCERPT = 300
_MAX_ERROR_BYTES = 2**16
# So many characters of a key in a row count as showing it.
_TELLTALE = 8


def parse_embeddings(body: bytes, *, expected: int, dimension: int) -> list[list[float]]:
    """Return the vectors of `{"data": [{"index": 0, "embedding": […]}, …]}`, ordered by `index`.

    The indexes must be each number from 0 below `expected` once. Raises as `require_embeddings`
    does; no error quotes the body, which may hold anything.

    Spec: EMB-2, EMB-4.
    """
    answer = _parse(body)
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise _bad("an object with a list of `data`", expected, None)
    if len(items) != expected:
        message = f"the server must answer one vector a text: expected {expected}, got {len(items)}"
        raise EmbeddingProviderError(message, expected=expected, actual=len(items))
    vectors: list[object] = [None] * expected
    for item in items:
        position = item.get("index") if isinstance(item, dict) else None
        # A bool is an int to Python, and True would pass for 1.
        if type(position) is not int or not 0 <= position < expected:
            raise _bad(f"an `index` from 0 to {expected - 1} in each item", expected, len(items))
        if vectors[position] is not None:
            raise _bad(f"each `index` once, got {position} twice", expected, len(items))
        vectors[position] = item.get("embedding")
        if not _is_numbers(vectors[position]):
            raise _bad("a list of numbers as each `embedding`", expected, len(items))
    return require_embeddings(vectors, expected=expected, dimension=dimension)


def error_excerpt(body: bytes, api_key: str | None) -> str:
    """Return the start of what a server says about an error, on one line; nothing if it quotes the key.

    Spec: EMB-4.
    """
    words = _message(body[:_MAX_ERROR_BYTES]).split()
    text = " ".join("".join(filter(str.isprintable, word)) for word in words)
    if api_key is not None and _quotes(text, api_key):
        return "[not shown: it quotes the API key]"
    return text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"


def _parse(body: bytes) -> object:
    """Return the body as Python values, `None` if it is not JSON; a raised error would carry the body."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _bad(wanted: str, expected: int, actual: int | None) -> EmbeddingProviderError:
    return EmbeddingProviderError(f"the server must answer {wanted}", expected=expected, actual=actual)


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(component) in (int, float) for component in value)


def _message(body: bytes) -> str:
    """Return the sentence in the usual shapes of an error's JSON, else the whole body."""
    answer = _parse(body)
    for _ in range(2):
        if isinstance(answer, dict):
            answer = answer.get("error") or answer.get("message") or answer.get("detail")
    return answer if isinstance(answer, str) else body.decode("utf-8", "replace")


def _quotes(text: str, api_key: str) -> bool:
    """Tell whether a stretch of the key stands in the text, however case, spaces and signs are changed."""
    if api_key in text:
        return True
    key, haystack = (re.sub(r"[\W_]", "", string).casefold() for string in (api_key, text))
    stretches = (key[start : start + _TELLTALE] for start in range(len(key) - _TELLTALE + 1))
    return any(stretch in haystack for stretch in stretches)
