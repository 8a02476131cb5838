"""Where a server's embeddings are, and what may go into a header. Nothing is sent from here."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address that embeddings are requested from."""

    scheme: str
    authority: str
    host: str
    port: int | None
    base_path: str

    @property
    def base_url(self) -> str:
        """The URL that `/embeddings` follows."""
        return f"{self.scheme}://{self.authority}{self.base_path}"

    @property
    def path(self) -> str:
        """The path of the embeddings."""
        return f"{self.base_path}/embeddings"

    @property
    def url(self) -> str:
        """The whole URL of the embeddings."""
        return f"{self.base_url}/embeddings"


def parse_base_url(value: object) -> Endpoint:
    """Return the endpoint of a base URL: what precedes `/embeddings`, or a server without a path.

    A URL without a path gets `/v1`; slashes at the end do not count.

    >>> parse_base_url("http://localhost:11434").url
    'http://localhost:11434/v1/embeddings'
    >>> parse_base_url("https://example.org/v1/openai/").url
    'https://example.org/v1/openai/embeddings'

    Anything but an http or https URL, and one with a user, a query or a fragment, is a
    `ValueError`; it never shows the URL, which may hold a secret.

    Spec: EMB-4.
    """
    if not isinstance(value, str):
        raise TypeError(f"base_url must be a str, got {type(value).__name__}")
    if "@" in value:
        raise ValueError("base_url must not hold a user or a password: a key goes into api_key")
    if "?" in value or "#" in value:
        raise ValueError("base_url must have no query and no fragment")
    parts = _split(value) if _VISIBLE_ASCII.fullmatch(value) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("base_url must be an http or https URL, such as http://localhost:11434/v1")
    path = parts.path.rstrip("/") or "/v1"
    return Endpoint(parts.scheme, parts.netloc, parts.hostname, parts.port, path)


def require_api_key(value: object) -> str | None:
    """Return the key if it can stand in a header; no error shows it.

    Spec: EMB-4.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"api_key must be a str or None, got {type(value).__name__}")
    if not _VISIBLE_ASCII.fullmatch(value):
        raise ValueError(
            "api_key must be visible ASCII characters without white space or line ends, at least one"
        )
    return str.__str__(value)


def _split(url: str) -> SplitResult | None:
    # The errors of these calls quote the URL, so none may be raised from here.
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading the port checks it
        (parts.hostname or "").encode("idna")
    except ValueError:
        return None
    return parts
