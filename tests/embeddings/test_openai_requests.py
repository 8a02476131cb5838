"""What is sent to a server: texts, batches, prefixes, headers; what is never read."""

import json
from typing import Any

import pytest

from redstring_ref.embeddings import OpenAIEmbeddingProvider
from redstring_ref.ports import EmbeddingProvider
from tests.embeddings.conftest import Serve
from tests.embeddings.server import good

KEY = "sk-secret-0123456789"


def make_provider(url: str = "http://127.0.0.1:9/v1", **options: Any) -> OpenAIEmbeddingProvider:
    return OpenAIEmbeddingProvider(url, "m", 2, **({"backoff": 0.0} | options))


def test_it_is_an_embedding_provider() -> None:
    provider = make_provider()
    assert isinstance(provider, EmbeddingProvider)
    assert (provider.model, provider.dimension) == ("m", 2)


async def test_documents_and_queries_come_back_in_order(serve: Serve) -> None:
    provider = make_provider(serve(good).url)
    assert await provider.embed(["a", "bbb", "cc"]) == [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
    assert await provider.embed_query(["dddd"]) == [[4.0, 1.0]]


async def test_a_request_names_the_model_and_the_texts(serve: Serve) -> None:
    server = serve(good)
    await make_provider(server.url).embed(["", "検索 \u2028 é"])
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "m", "input": ["", "検索 \u2028 é"]}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["host"] == server.authority


async def test_no_texts_make_no_request(serve: Serve) -> None:
    server = serve(good)
    provider = make_provider(server.url)
    assert await provider.embed([]) == []
    assert await provider.embed_query(iter(())) == []  # type: ignore[arg-type]  # any iterable will do
    assert server.requests == []


async def test_batches_hold_at_most_batch_size_texts_and_keep_the_order(serve: Serve) -> None:
    server = serve(good)
    texts = ["a" * length for length in range(5)]
    vectors = await make_provider(server.url, batch_size=2).embed(texts)
    assert [request.body["input"] for request in server.requests] == [texts[:2], texts[2:4], texts[4:]]
    assert vectors == [[float(length), 1.0] for length in range(5)]


async def test_each_kind_of_text_is_sent_behind_its_prefix(serve: Serve) -> None:
    server = serve(good)
    provider = make_provider(server.url, document_prefix="passage: ", query_prefix="query: ")
    await provider.embed(["a"])
    await provider.embed_query(["b"])
    assert [request.body["input"] for request in server.requests] == [["passage: a"], ["query: b"]]


async def test_the_key_is_sent_as_a_bearer_token(serve: Serve) -> None:
    server = serve(good)
    await make_provider(server.url, api_key=KEY).embed(["a"])
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_there_is_no_authorization(serve: Serve) -> None:
    server = serve(good)
    await make_provider(server.url).embed(["a"])
    assert "authorization" not in server.requests[0].headers


async def test_the_environment_and_netrc_make_no_difference(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    server, proxy = serve(good), serve(good)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{proxy.authority}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://{proxy.authority}/v1")
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"default login user password {KEY}\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    await make_provider(server.url).embed(["a"])
    assert proxy.requests == []
    assert len(server.requests) == 1
    assert KEY not in json.dumps(server.requests[0].headers)


@pytest.mark.parametrize(
    ("given", "base_url"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1//", "http://localhost:11434/v1"),
        ("HTTPS://api.example.org", "https://api.example.org/v1"),
        ("https://api.example.org/v1/openai", "https://api.example.org/v1/openai"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_url_without_a_path_gets_v1(given: str, base_url: str) -> None:
    assert make_provider(given).base_url == base_url


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_the_usual_spellings_of_a_base_url_reach_the_embeddings(serve: Serve, path: str) -> None:
    server = serve(good)
    await make_provider(f"http://{server.authority}{path}").embed(["a"])
    assert server.requests[0].path == "/v1/embeddings"


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "localhost:11434",
        "ftp://localhost/v1",
        "file:///secret",
        "http://",
        "http:///v1",
        "http://user:secret@localhost/v1",
        "http://secret@localhost/v1",
        "http://localhost:secret/v1",
        "http://localhost:99999/secret",
        "http://localhost/v1?key=secret",
        "http://localhost/v1#secret",
        "http://localhost/v1\r\nsecret: 1",
        " http://localhost/secret",
        "http://localhost/séc ret",
        "http://[secret]/v1",
        "http://secret..example.org",
    ],
)
def test_a_bad_base_url_is_refused_and_not_shown(base_url: str) -> None:
    with pytest.raises(ValueError, match="base_url must") as caught:
        make_provider(base_url)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_base_url_that_is_no_string_is_a_type_error() -> None:
    base_url: Any = b"http://user:secret@localhost"
    with pytest.raises(TypeError, match="base_url must be a str, got bytes"):
        make_provider(base_url)


@pytest.mark.parametrize("key", ["", "sec\r\nret", "secret\n", "sec ret", "sécret", "sec\x00ret", "\tsecret"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="api_key must be visible ASCII") as caught:
        make_provider(api_key=key)
    assert "ret" not in str(caught.value)


def test_a_key_that_is_no_string_is_a_type_error_that_does_not_show_it() -> None:
    with pytest.raises(TypeError, match=r"^api_key must be a str or None, got bytes$"):
        make_provider(api_key=KEY.encode())


def test_a_repr_hides_the_key() -> None:
    provider = make_provider(api_key=KEY)
    assert repr(provider) == "OpenAIEmbeddingProvider('http://127.0.0.1:9/v1', 'm', 2)"


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("batch_size", 0, ValueError),
        ("batch_size", True, TypeError),
        ("max_retries", -1, ValueError),
        ("max_retries", 1.0, TypeError),
        ("timeout", 0, ValueError),
        ("timeout", -1.0, ValueError),
        ("timeout", float("nan"), ValueError),
        ("timeout", float("inf"), ValueError),
        ("timeout", 10**400, ValueError),
        ("timeout", True, TypeError),
        ("timeout", None, TypeError),
        ("backoff", -0.1, ValueError),
        ("backoff", "1", TypeError),
        ("document_prefix", "\x00", ValueError),
        ("query_prefix", None, TypeError),
    ],
)
def test_an_option_out_of_its_range_is_refused_by_name(
    option: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=option):
        make_provider(**{option: value})


def test_a_model_has_a_name_and_a_dimension_of_at_least_one() -> None:
    with pytest.raises(ValueError, match="model must not be empty"):
        OpenAIEmbeddingProvider("http://localhost", "", 2)
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        OpenAIEmbeddingProvider("http://localhost", "m", 0)


@pytest.mark.parametrize(
    ("texts", "error"), [("text", TypeError), ([1], TypeError), (["good", "a\x00"], ValueError)]
)
async def test_bad_texts_are_refused_before_any_request(
    serve: Serve, texts: Any, error: type[Exception]
) -> None:
    server = serve(good)
    with pytest.raises(error, match="texts"):
        await make_provider(server.url, batch_size=1).embed(texts)
    assert server.requests == []
