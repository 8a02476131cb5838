"""A local server that answers by script, and notes what it was asked."""

import json
import socket
import ssl
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

Answer = Callable[["Handler"], None]


@dataclass(frozen=True)
class Request:
    """What one request asked for."""

    path: str
    headers: dict[str, str]
    body: Any


class Server(ThreadingHTTPServer):
    """Answers each request with the next of `answers`, and with the last from then on."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, answers: Sequence[Answer], ssl_context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.asked = Event()
        self.released = Event()
        if ssl_context is not None:
            self.socket = ssl_context.wrap_socket(self.socket, server_side=True)
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}/v1"

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are part of the tests."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self._note(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.next_answer()(self)

    def do_GET(self) -> None:
        self._note(b"null")
        send_json(self, 200, {})

    def _note(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Request(self.path, headers, json.loads(body)))
        self.server.asked.set()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""


def send(handler: Handler, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def send_json(handler: Handler, status: int, value: object) -> None:
    send(handler, status, json.dumps(value).encode())


def items(*vectors: object) -> list[dict[str, object]]:
    return [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]


def good(handler: Handler) -> None:
    """Answer each text with its length and 1: out of order, as servers may."""
    texts = handler.server.requests[-1].body["input"]
    data = items(*([float(len(text)), 1.0] for text in texts))
    send_json(handler, 200, {"object": "list", "data": data[::-1], "model": "m", "usage": {}})


def data(*vectors: object) -> Answer:
    return value({"data": items(*vectors)})


def value(answer: object) -> Answer:
    return lambda handler: send_json(handler, 200, answer)


def body(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return lambda handler: send(handler, status, content, headers)


def truncated(handler: Handler) -> None:
    send(handler, 200, b'{"data": []', {"Content-Length": "1000"})


def truncated_chunk(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"ff\r\nonly this")


def chunked(handler: Handler) -> None:
    content = json.dumps({"data": items([3.0, 1.0])}).encode()
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for at in range(0, len(content), 7):
        piece = content[at : at + 7]
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


def closing(handler: Handler) -> None:
    """Go without a word."""


def resetting(handler: Handler) -> None:
    """Tear the connection down."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def not_http(handler: Handler) -> None:
    handler.wfile.write(b"sk-secret-0123456789 is no status line\r\n\r\n")


def silent(handler: Handler) -> None:
    """Answer nothing until the test is over."""
    handler.server.released.wait(30)


def dripping(handler: Handler) -> None:
    """Send a byte of the headers now and then, each within the timeout."""
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not handler.server.released.wait(0.02):
            handler.wfile.write(b"x")
