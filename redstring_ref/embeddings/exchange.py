"""One request and its answer on a connection of their own, blocking. Retries are not here."""

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Timer

from redstring_ref.embeddings.endpoint import Endpoint

_PIECE = 2**16


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


@dataclass(frozen=True, slots=True)
class Connector:
    """How to reach a server: neither proxies nor redirects, and nothing from the environment."""

    endpoint: Endpoint
    timeout: float
    ssl_context: ssl.SSLContext | None

    def open(self) -> HTTPConnection:
        """Return a connection that is not connected yet."""
        host, port = self.endpoint.host, self.endpoint.port
        if self.ssl_context is None:
            return HTTPConnection(host, port, timeout=self.timeout)
        return HTTPSConnection(host, port, timeout=self.timeout, context=self.ssl_context)


class Exchange:
    """One POST. `run` blocks its thread; `abort` ends it from any other.

    Spec: EMB-4.
    """

    def __init__(self, connector: Connector, body: bytes, headers: dict[str, str], max_bytes: int) -> None:
        self._connector = connector
        self._body = body
        self._headers = headers
        self._max_bytes = max_bytes
        self._is_aborted = False
        self._socket: socket.socket | None = None

    def run(self) -> Reply | Failure:
        """Send the request and return what came of it, within the timeout as a whole."""
        # A socket's own timeout starts anew with each byte that a slow server sends.
        timer = Timer(self._connector.timeout, self.abort)
        timer.daemon = True
        connection = self._connector.open()
        timer.start()
        try:
            return self._converse(connection)
        except (OSError, HTTPException) as error:
            return self._failure(error)
        finally:
            timer.cancel()
            connection.close()

    def abort(self) -> None:
        """End the exchange as soon as it is connected; an ended one stays as it is."""
        self._is_aborted = True
        if self._socket is not None:
            with suppress(OSError):
                # Closing would leave a blocked read waiting.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _converse(self, connection: HTTPConnection) -> Reply | Failure:
        connection.connect()
        self._socket = connection.sock
        if self._is_aborted:
            raise TimeoutError
        connection.request("POST", self._connector.endpoint.path, self._body, self._headers)
        with connection.getresponse() as response:
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

    def _failure(self, error: OSError | HTTPException) -> Failure:
        if self._is_aborted or isinstance(error, TimeoutError):
            return Failure(f"no whole answer within {self._connector.timeout} seconds")
        # The text of an HTTPException is the server's, and may quote the request.
        reason = error.strerror if isinstance(error, OSError) else None
        is_transient = not isinstance(error, ssl.SSLCertVerificationError)
        return Failure(f"the connection failed: {reason or type(error).__name__}", is_transient)
