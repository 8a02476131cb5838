"""What is made of a server's answer, the bad ones above all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import DimensionMismatchError, EmbeddingProviderError, InvalidVectorError
from redstring_ref.embeddings import openai
from redstring_ref.embeddings.answers import error_excerpt, parse_embeddings
from tests.embeddings.conftest import Serve
from tests.embeddings.server import Answer, body, chunked, data, good, items, value
from tests.embeddings.test_openai_requests import KEY, make_provider

A, B = [1.0, 0.0], [0.0, 1.0]


def indexed(*pairs: tuple[object, object]) -> Answer:
    return value({"data": [{"index": index, "embedding": vector} for index, vector in pairs]})


@pytest.mark.parametrize(
    ("answer", "actual"),
    [
        (data(A), 1),
        (data(A, B, A), 3),
        (data(), 0),
        (data(1.0, 2.0), 2),
        (data(A, None), 2),
        (data(A, "AACAPwAAAAA="), 2),
        (data(A, [1.0, "0"]), 2),
        (data(A, [True, False]), 2),
        (data(A, [None, 1.0]), 2),
        (data(A, {"0": 1.0}), 2),
        (value({"data": [A, B]}), 2),
        (value({"data": [1.0, 2.0]}), 2),
        (value({"data": [{"embedding": A}, {"embedding": B}]}), 2),
        (indexed((0, A), (0, B)), 2),
        (indexed((0, A), (2, B)), 2),
        (indexed((-1, A), (0, B)), 2),
        (indexed((0, A), (True, B)), 2),
        (indexed((0, A), ("1", B)), 2),
        (indexed((0, A), (1.0, B)), 2),
        (indexed((0, A), (None, B)), 2),
        (value([A, B]), None),
        (value({"data": {"0": A, "1": B}}), None),
        (value({"embeddings": [A, B]}), None),
        (value(None), None),
        (value("text"), None),
        (body(b""), None),
        (body(b"", status=204), None),
        (body(b"<html>good</html>"), None),
        (body(b'{"data": ['), None),
        (body(b"\xff\xfe\xff"), None),
        (body(b'{"data": ' + b"[" * 200_000), None),
        (body(b'{"data": ' + b"1" * 5_000 + b"}"), None),
    ],
)
async def test_an_answer_that_is_not_one_vector_a_text_is_an_error_with_both_counts(
    serve: Serve, answer: Answer, actual: int | None
) -> None:
    server = serve(answer)
    with pytest.raises(EmbeddingProviderError) as caught:
        await make_provider(server.url).embed(["a", "b"])
    assert (caught.value.expected, caught.value.actual) == (2, actual)
    assert caught.value.__context__ is None
    assert len(server.requests) == 1


async def test_a_vector_of_another_width_is_a_dimension_mismatch(serve: Serve) -> None:
    with pytest.raises(DimensionMismatchError) as caught:
        await make_provider(serve(data(A, [1.0, 2.0, 3.0])).url).embed(["a", "b"])
    assert (caught.value.expected, caught.value.actual) == (2, 3)


@pytest.mark.parametrize("vector", ["[NaN, 1]", "[Infinity, 1]", "[1e400, 1]", "[1e39, 1]", "[0, 0.0]", "[]"])
async def test_a_vector_that_no_store_can_rank_is_invalid(serve: Serve, vector: str) -> None:
    answer = body(f'{{"data": [{{"index": 0, "embedding": {vector}}}]}}'.encode())
    with pytest.raises(InvalidVectorError):
        await make_provider(serve(answer).url).embed(["a"])


async def test_a_bad_batch_after_a_good_one_is_an_error(serve: Serve) -> None:
    with pytest.raises(EmbeddingProviderError):
        await make_provider(serve(good, data()).url, batch_size=1).embed(["a", "b"])


async def test_components_come_back_as_float32(serve: Serve) -> None:
    (vector,) = await make_provider(serve(data([0.1, 1])).url).embed(["a"])
    assert vector == [0.10000000149011612, 1.0]


async def test_a_chunked_answer_is_read_whole(serve: Serve) -> None:
    assert await make_provider(serve(chunked).url).embed(["abc"]) == [[3.0, 1.0]]


async def test_an_answer_without_a_length_is_read_to_its_end(serve: Serve) -> None:
    content = json.dumps({"data": items(A)}).encode()

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content)

    assert await make_provider(serve(answer).url).embed(["a"]) == [A]


async def test_an_answer_longer_than_any_good_one_is_not_read_whole(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "_SPARE_BYTES", 1000)
    server = serve(body(b" " * 2000))
    with pytest.raises(EmbeddingProviderError, match="longer than 1128 bytes"):
        await make_provider(server.url).embed(["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "excerpt"),
    [
        (b'{"error": {"message": "no such model"}}', "no such model"),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"message": "no such model"}', "no such model"),
        (b'{"detail": "no such model"}', "no such model"),
        (b'{"detail": [{"loc": 1}]}', '{"detail": [{"loc": 1}]}'),
        (b"no\r\n\tsuch \x1b[31mmodel\xff", "no such [31mmodel\ufffd"),
        (b"", ""),
        (b"x" * 301, "x" * 300 + "…"),
        (b'{"error": "Incorrect API key: sk-secret-0123456789"}', "[not shown: it quotes the API key]"),
        (b'{"error": "sk\\u002dsecret\\u002d0123456789"}', "[not shown: it quotes the API key]"),
        (b"the key SK SECRET 01234 was cut", "[not shown: it quotes the API key]"),
        (b"x" * 400 + b"sk-secret-0123456789", "[not shown: it quotes the API key]"),
    ],
)
def test_an_excerpt_is_one_line_without_the_key(content: bytes, excerpt: str) -> None:
    assert error_excerpt(content, KEY) == excerpt


def test_a_short_key_is_found_as_it_is() -> None:
    assert error_excerpt(b"bad key: k-1.", "k-1") == "[not shown: it quotes the API key]"
    assert error_excerpt(b"bad key: k1", "k-1") == "bad key: k1"
    assert error_excerpt(b"bad key", None) == "bad key"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries({"index": st.integers(-1, 2), "embedding": inner | st.just(A)})
        | st.fixed_dictionaries({"data": inner})
    ),
    max_leaves=12,
)


@pytest.mark.drawn
@given(JSON.map(lambda answer: json.dumps(answer).encode()) | st.binary())
def test_every_body_is_vectors_or_an_error_of_the_family(content: bytes) -> None:
    try:
        vectors = parse_embeddings(content, expected=2, dimension=2)
    except (EmbeddingProviderError, DimensionMismatchError, InvalidVectorError):
        return
    assert [len(vector) for vector in vectors] == [2, 2]


@pytest.mark.drawn
@given(st.permutations(range(5)))
def test_every_order_of_items_is_the_order_of_the_indexes(order: list[int]) -> None:
    data = [{"index": index, "embedding": [float(index), 1.0]} for index in order]
    vectors = parse_embeddings(json.dumps({"data": data}).encode(), expected=5, dimension=2)
    assert vectors == [[float(index), 1.0] for index in range(5)]


@pytest.mark.drawn
@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from([str.upper, str.lower, repr, json.dumps]))
def test_no_excerpt_shows_the_key(before: str, after: str, change: Any) -> None:
    excerpt = error_excerpt((before + change(KEY) + after).encode("utf-8", "replace"), KEY)
    assert KEY.lower() not in excerpt.lower()
