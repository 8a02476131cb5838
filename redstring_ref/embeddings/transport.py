"""How often and when a request is sent, off the event loop. What a good answer means is not here."""

import asyncio
import re
import ssl
import time
from email.utils import parsedate_to_datetime

from redstring_ref.domain.errors import EmbeddingProviderError
from redstring_ref.embeddings.answers import error_excerpt
from redstring_ref.embeddings.endpoint import parse_base_url, require_api_key
from redstring_ref.embeddings.exchange import Connector, Exchange, Failure, Reply
from redstring_ref.embeddings.trust import system_trust

MAX_WAIT_SECONDS = 60.0

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_MAX_DOUBLINGS = 32


class Transport:
    """Posts JSON to the embeddings of one server, again where that may help.

    Spec: EMB-4.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float,
        max_retries: int,
        backoff: float,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self.endpoint = parse_base_url(base_url)
        self._api_key = require_api_key(api_key)
        if self.endpoint.scheme == "http":
            ssl_context = None
        elif ssl_context is None:
            ssl_context = system_trust()
        self._connector = Connector(self.endpoint, timeout, ssl_context)
        self._max_retries = max_retries
        self._backoff = backoff

    async def post(self, body: bytes, *, texts: int, max_bytes: int) -> bytes:
        """Return the body of a good answer; whatever else comes is an `EmbeddingProviderError`.

        Spec: EMB-4.
        """
        outcome = await self._attempt(body, max_bytes)
        for attempt in range(self._max_retries):
            if not outcome.is_transient:
                break
            await asyncio.sleep(seconds_to_wait(attempt, self._backoff, outcome.retry_after))
            outcome = await self._attempt(body, max_bytes)
        if isinstance(outcome, Failure):
            raise EmbeddingProviderError(f"{self.endpoint.url}: {outcome.reason}", expected=texts)
        if not 200 <= outcome.status <= 299:
            excerpt = error_excerpt(outcome.body, self._api_key)
            message = f"{self.endpoint.url} answered {outcome.status}: {excerpt}".removesuffix(": ")
            raise EmbeddingProviderError(message, expected=texts)
        return outcome.body

    async def _attempt(self, body: bytes, max_bytes: int) -> Reply | Failure:
        exchange = Exchange(self._connector, body, self._headers(), max_bytes)
        try:
            return await asyncio.to_thread(exchange.run)
        except asyncio.CancelledError:
            # A thread cannot be cancelled, and the interpreter waits for it at its end.
            exchange.abort()
            raise

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Connection": "close",
            "Content-Type": "application/json",
            "User-Agent": "redstring-ref",
        }
        return headers if self._api_key is None else headers | {"Authorization": f"Bearer {self._api_key}"}


def seconds_to_wait(attempt: int, backoff: float, retry_after: str | None) -> float:
    """Return how long to wait after the failed `attempt`, counted from 0: at most a minute.

    What the server asks for goes, in seconds or as a date; else `backoff`, doubled each time.

    >>> seconds_to_wait(2, 0.5, None), seconds_to_wait(2, 0.5, "7"), seconds_to_wait(2, 0.5, "86400")
    (2.0, 7.0, 60.0)

    Spec: EMB-4.
    """
    wanted = None if retry_after is None else _requested(retry_after.strip())
    if wanted is None:
        wanted = backoff * 2.0 ** min(attempt, _MAX_DOUBLINGS)
    return min(MAX_WAIT_SECONDS, max(0.0, wanted))


def _requested(retry_after: str) -> float | None:
    if _SECONDS.fullmatch(retry_after):
        return float(retry_after)
    try:
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
