"""One request and its answer on a connection of their own, blocking. Retries are not here."""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Timer
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, Request

from redstring_ref.embeddings.endpoint import Endpoint

_PIECE = 2**16

OnConnect = Callable[[socket.socket], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, of whatever status."""

    status: int
    body: bytes
    retry_after: str | None

    @property
    def is_transient(self) -> bool:
        """Whether the same request may fare better later."""
        return self.status == 429 or 500 <= self.status <= 599


@dataclass(frozen=True, slots=True)
class Failure:
    """Why no whole answer came, in words that hold nothing of what was sent or received."""

    reason: str
    is_transient: bool = True
    retry_after: None = None


class _Watched(HTTPConnection):
    """A connection that hands over its socket, by which another thread can end it."""

    def __init__(self, host: str, *, on_connect: OnConnect, **options: Any) -> None:
        # The options are urllib's own: a timeout, and a context for https.
        super().__init__(host, **options)
        self._on_connect = on_connect

    def connect(self) -> None:
        super().connect()
        self._on_connect(self.sock)


class _WatchedTls(_Watched, HTTPSConnection):
    """The same over TLS."""


class _Handler(HTTPHandler):
    """Opens http URLs on watched connections."""

    def __init__(self, on_connect: OnConnect) -> None:
        super().__init__()
        self._on_connect = on_connect

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Watched, on_connect=self._on_connect), req)


class _TlsHandler(HTTPSHandler):
    """Opens https URLs on watched connections."""

    def __init__(self, on_connect: OnConnect, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._connection = partial(_WatchedTls, on_connect=on_connect, context=context)

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._connection, req)


@dataclass(frozen=True, slots=True)
class Connector:
    """How to reach a server."""

    endpoint: Endpoint
    timeout: float
    ssl_context: ssl.SSLContext | None


class Exchange:
    """One POST. `run` blocks its thread; `abort` ends it from any other.

    Spec: EMB-4.
    """

    def __init__(self, connector: Connector, body: bytes, headers: dict[str, str], max_bytes: int) -> None:
        self._connector = connector
        self._request = Request(connector.endpoint.url, body, headers, method="POST")  # noqa: S310 - http(s) only
        self._max_bytes = max_bytes
        self._is_aborted = False
        self._socket: socket.socket | None = None

    def run(self) -> Reply | Failure:
        """Send the request and return what came of it, within the timeout as a whole."""
        # A socket's own timeout starts anew with each byte that a slow server sends.
        timer = Timer(self._connector.timeout, self.abort)
        timer.daemon = True
        timer.start()
        try:
            return self._converse()
        except URLError as error:
            return self._failure(error.reason)
        except (OSError, HTTPException) as error:
            return self._failure(error)
        finally:
            timer.cancel()

    def abort(self) -> None:
        """End the exchange as soon as it is connected; an ended one stays as it is."""
        self._is_aborted = True
        if self._socket is not None:
            with suppress(OSError):
                # Closing would leave a blocked read waiting.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _connected(self, connected: socket.socket) -> None:
        self._socket = connected
        if self._is_aborted:
            raise TimeoutError

    def _converse(self) -> Reply | Failure:
        # Alone in its opener, the handler meets no proxy, follows no redirect, and takes every
        # status as an answer.
        opener = OpenerDirector()
        context = self._connector.ssl_context
        opener.add_handler(_TlsHandler(self._connected, context) if context else _Handler(self._connected))
        with opener.open(self._request, timeout=self._connector.timeout) as response:
            body = self._read(response)
            if len(body) > self._max_bytes:
                return Failure(f"the answer is longer than {self._max_bytes} bytes", is_transient=False)
            return Reply(response.status, body, response.headers["Retry-After"])

    def _read(self, response: HTTPResponse) -> bytes:
        body = bytearray()
        while len(body) <= self._max_bytes:
            piece = response.read(_PIECE)
            if not piece:
                # A read of so many bytes does not tell that fewer came than were announced.
                if response.length or self._is_aborted:
                    raise IncompleteRead(b"")
                break
            body += piece
        return bytes(body)

    def _failure(self, error: object) -> Failure:
        if self._is_aborted or isinstance(error, TimeoutError):
            return Failure(f"no whole answer within {self._connector.timeout} seconds")
        # The text of an HTTPException is the server's, and may quote the request.
        reason = error.strerror if isinstance(error, OSError) else None
        is_transient = not isinstance(error, ssl.SSLCertVerificationError)
        return Failure(f"the connection failed: {reason or type(error).__name__}", is_transient)
