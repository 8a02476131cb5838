"""Servers that fail: what is tried again, how often, how long, and what the error tells."""

import asyncio
import socket
import ssl
import time
import traceback
from email.utils import formatdate
from typing import Any

import pytest

from redstring_ref.domain import EmbeddingProviderError
from redstring_ref.embeddings.endpoint import parse_base_url
from redstring_ref.embeddings.exchange import Connector, Exchange, Failure
from redstring_ref.embeddings.transport import seconds_to_wait
from tests.embeddings.conftest import Serve
from tests.embeddings.server import (
    Answer,
    Server,
    body,
    closing,
    dripping,
    good,
    not_http,
    resetting,
    silent,
    truncated,
    truncated_chunk,
)
from tests.embeddings.test_openai_requests import KEY, make_provider

ECHO = b'{"error": {"message": "Incorrect API key provided: sk-secret-0123456789"}}'


async def failure_of(provider: Any) -> EmbeddingProviderError:
    """Return the error of embedding two texts, after making sure that nothing of it shows the key."""
    with pytest.raises(EmbeddingProviderError) as caught:
        await provider.embed(["a", "b"])
    assert (caught.value.expected, caught.value.actual) == (2, None)
    assert caught.value.__context__ is None
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(vars(caught.value))
    return caught.value


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529, 599])
async def test_a_server_that_is_busy_once_is_asked_again(serve: Serve, status: int) -> None:
    server = serve(body(b"busy", status), good)
    assert await make_provider(server.url).embed(["a"]) == [[1.0, 1.0]]
    assert len(server.requests) == 2
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("answer", [closing, resetting, truncated, truncated_chunk, not_http])
async def test_a_lost_connection_is_tried_again(serve: Serve, answer: Answer) -> None:
    server = serve(answer, good)
    assert await make_provider(server.url).embed(["a"]) == [[1.0, 1.0]]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "answer", [closing, resetting, truncated, truncated_chunk, not_http, body(ECHO, 500)]
)
@pytest.mark.parametrize("max_retries", [0, 2])
async def test_a_server_that_always_fails_is_asked_a_bounded_number_of_times(
    serve: Serve, answer: Answer, max_retries: int
) -> None:
    server = serve(answer)
    error = await failure_of(make_provider(server.url, api_key=KEY, max_retries=max_retries))
    assert str(error).startswith(f"{server.url}/embeddings")
    assert len(server.requests) == 1 + max_retries


async def test_three_retries_are_made_unless_told_otherwise(serve: Serve) -> None:
    server = serve(body(b"", 500))
    assert str(await failure_of(make_provider(server.url))) == f"{server.url}/embeddings answered 500"
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 422])
async def test_a_refusal_is_not_tried_again(serve: Serve, status: int) -> None:
    server = serve(body(b'{"error": "no such model"}', status))
    error = await failure_of(make_provider(server.url))
    assert str(error) == f"{server.url}/embeddings answered {status}: no such model"
    assert len(server.requests) == 1


async def test_an_error_that_echoes_the_key_is_not_shown(serve: Serve) -> None:
    error = await failure_of(make_provider(serve(body(ECHO, 401)).url, api_key=KEY))
    assert str(error).endswith("answered 401: [not shown: it quotes the API key]")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(serve: Serve, status: int) -> None:
    other = serve(good)
    server = serve(body(b"", status, {"Location": f"{other.url}/embeddings?key={KEY}"}))
    error = await failure_of(make_provider(server.url, api_key=KEY))
    assert str(error).endswith(f"answered {status}")
    assert (len(server.requests), other.requests) == (1, [])


async def test_a_server_that_is_not_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = await failure_of(make_provider(f"http://127.0.0.1:{port}", max_retries=1))
    assert str(error).startswith(f"http://127.0.0.1:{port}/v1/embeddings: the connection failed: ")


@pytest.mark.parametrize("answer", [silent, dripping])
async def test_an_answer_that_takes_too_long_is_given_up(serve: Serve, answer: Answer) -> None:
    server = serve(answer)
    start = time.monotonic()
    error = await failure_of(make_provider(server.url, timeout=0.1, max_retries=1))
    assert str(error).endswith("no whole answer within 0.1 seconds")
    assert time.monotonic() - start < 5
    assert len(server.requests) == 2


async def test_a_body_that_takes_too_long_is_given_up(serve: Serve) -> None:
    def endless(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not handler.server.released.wait(0.02):
            handler.wfile.write(b" ")

    error = await failure_of(make_provider(serve(endless).url, timeout=0.1, max_retries=0))
    assert str(error).endswith("no whole answer within 0.1 seconds")


async def test_a_slow_answer_within_the_timeout_is_good(serve: Serve) -> None:
    def slow(handler: Any) -> None:
        time.sleep(0.05)
        good(handler)

    assert await make_provider(serve(slow).url).embed(["a"]) == [[1.0, 1.0]]


async def test_a_cancelled_call_ends_at_once_and_frees_its_thread(serve: Serve) -> None:
    server = serve(silent)
    task = asyncio.create_task(make_provider(server.url).embed(["a"]))
    await asyncio.to_thread(server.asked.wait, 10)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - start < 5


async def test_a_cancelled_call_is_not_tried_again(serve: Serve) -> None:
    server = serve(body(b"", 503))
    task = asyncio.create_task(make_provider(server.url, backoff=60.0).embed(["a"]))
    await asyncio.to_thread(server.asked.wait, 10)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(server.requests) == 1


async def test_calls_at_once_do_not_mix_their_answers(serve: Serve) -> None:
    provider = make_provider(serve(echo).url)
    texts = [["a" * length] for length in range(20)]
    answers = await asyncio.gather(*map(provider.embed, texts))
    assert answers == [[[float(length), 1.0]] for length in range(20)]


def echo(handler: Any) -> None:
    """Answer the request whose own header tells its length, however many come at once."""
    length = int(handler.headers["Content-Length"]) - len('{"model": "m", "input": [""]}')
    body(f'{{"data": [{{"index": 0, "embedding": [{length}, 1]}}]}}'.encode())(handler)


def test_an_exchange_aborted_before_it_is_connected_sends_nothing(serve: Serve) -> None:
    server = serve(good)
    exchange = Exchange(Connector(parse_base_url(server.url), 5.0, None), b"null", {}, 100)
    exchange.abort()
    assert exchange.run() == Failure("no whole answer within 5.0 seconds")
    exchange.abort()
    assert server.requests == []


async def test_the_waits_double_and_the_server_may_ask_for_others(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("asyncio.sleep", note)
    busy = body(b"", 503)
    server = serve(
        busy, busy, body(b"", 429, {"Retry-After": "7"}), body(b"", 429, {"Retry-After": "9999"}), good
    )
    await make_provider(server.url, max_retries=4, backoff=0.25).embed(["a"])
    assert waits == [0.25, 0.5, 7.0, 60.0]


async def test_a_server_that_asks_for_a_short_wait_gets_it(serve: Serve) -> None:
    server = serve(body(b"", 429, {"Retry-After": "0"}), good)
    start = time.monotonic()
    await make_provider(server.url, backoff=60.0).embed(["a"])
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("attempt", "backoff", "retry_after", "seconds"),
    [
        (0, 0.5, None, 0.5),
        (3, 0.5, None, 4.0),
        (10**6, 0.5, None, 60.0),
        (0, 3600.0, None, 60.0),
        (0, 0.0, None, 0.0),
        (0, 0.5, " 2 ", 2.0),
        (0, 0.5, "0.25", 0.25),
        (0, 0.5, "60.5", 60.0),
        (0, 0.5, "-1", 0.5),
        (0, 0.5, "1e9", 0.5),
        (0, 0.5, "inf", 0.5),
        (0, 0.5, "soon", 0.5),
        (0, 0.5, "", 0.5),
        (0, 0.5, "9" * 5000, 0.5),
        (0, 0.5, "Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (0, 0.5, "Fri, 31 Dec 9999 23:59:59 GMT", 60.0),
        (0, 0.5, "Fri, 31 Dec 99999 23:59:59 GMT", 0.5),
    ],
)
def test_waits_are_what_was_asked_for_within_a_minute(
    attempt: int, backoff: float, retry_after: str | None, seconds: float
) -> None:
    assert seconds_to_wait(attempt, backoff, retry_after) == seconds


def test_a_wait_until_a_date_is_the_time_left() -> None:
    assert 20 < seconds_to_wait(0, 0.5, formatdate(time.time() + 30, usegmt=True)) <= 30


async def test_a_server_that_speaks_no_tls_is_an_error(serve: Serve) -> None:
    server = serve(good)
    error = await failure_of(make_provider(f"https://{server.authority}", api_key=KEY, max_retries=0))
    assert "the connection failed: " in str(error)
    assert server.requests == []


def anonymous(side: int) -> ssl.SSLContext:
    """Return a context that needs no certificate; some builds of OpenSSL have none."""
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")
    except ssl.SSLError:
        pytest.skip("this OpenSSL has no anonymous ciphers")
    return context


async def test_an_https_server_is_reached_with_the_context_given() -> None:
    with Server([good], anonymous(ssl.PROTOCOL_TLS_SERVER)) as server:
        url, context = f"https://{server.authority}", anonymous(ssl.PROTOCOL_TLS_CLIENT)
        assert await make_provider(url, ssl_context=context).embed(["a"]) == [[1.0, 1.0]]
        await failure_of(make_provider(url, max_retries=0))
    assert len(server.requests) == 1


async def test_a_certificate_that_is_not_trusted_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    connects: list[object] = []

    def refuse(connection: object) -> None:
        connects.append(connection)
        raise ssl.SSLCertVerificationError(1, "certificate verify failed")

    monkeypatch.setattr("http.client.HTTPSConnection.connect", refuse)
    error = await failure_of(make_provider("https://localhost"))
    assert str(error).endswith("the connection failed: certificate verify failed")
    assert len(connects) == 1
