"""Hashed embeddings: the same doubles for the same terms, everywhere."""

import math
import os
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import as_vector, score, tokenize
from redstring_ref.embeddings import HashingEmbeddingProvider
from redstring_ref.embeddings.hashing import hashed_embedding
from redstring_ref.ports import EmbeddingProvider

PINNED = [
    ["0x0.0p+0", "-0x1.a20bd700c2c3ep-1", "0x0.0p+0", "0x1.279a74590331cp-1"],
    ["0x0.0p+0", "0x0.0p+0", "0x1.0000000000000p+0", "0x0.0p+0"],
    ["0x0.0p+0", "0x0.0p+0", "0x0.0p+0", "0x1.0000000000000p+0"],
]


def slow_embedding(text: str, dimension: int) -> list[float]:
    """The rule, as plainly as it can be told."""

    def add(feature: str, weight: float) -> None:
        number = int(blake2b(feature.encode("utf-8"), digest_size=8).hexdigest(), 16)
        parts[number // 2 % dimension].append(-weight if number % 2 else weight)

    parts: list[list[float]] = [[] for _ in range(dimension)]
    for term, frequency in Counter(tokenize(text)).items():
        add(term, math.sqrt(frequency))
    if all(math.fsum(part) == 0 for part in parts):
        parts = [[] for _ in range(dimension)]
        add(text, 1.0)
    sums = [math.fsum(part) for part in parts]
    length = math.sqrt(math.fsum(total * total for total in sums))
    return [total / length for total in sums]


def test_it_is_an_embedding_provider_named_after_its_width() -> None:
    provider = HashingEmbeddingProvider()
    assert isinstance(provider, EmbeddingProvider)
    assert (provider.model, provider.dimension) == ("hashing-256", 256)
    assert repr(HashingEmbeddingProvider(8)) == "HashingEmbeddingProvider(dimension=8)"


async def test_pinned_texts_have_pinned_doubles() -> None:
    embedded = await HashingEmbeddingProvider(4).embed(["red red string", "", "the"])
    assert [[number.hex() for number in vector] for vector in embedded] == PINNED


async def test_a_frequency_counts_as_its_square_root() -> None:
    (vector,) = await HashingEmbeddingProvider(4).embed(["red red string"])
    assert vector[1] / vector[3] == pytest.approx(-math.sqrt(2))


async def test_order_case_and_stopwords_make_no_difference() -> None:
    first, second = await HashingEmbeddingProvider().embed(["The Cat, a dog", "dog cat"])
    assert first == second


async def test_texts_that_share_words_are_closer() -> None:
    one, near, far = await HashingEmbeddingProvider().embed(
        ["red string theory", "a theory of string", "blue water"]
    )
    assert score(one, near) > score(one, far)


async def test_queries_are_embedded_as_documents_are() -> None:
    provider = HashingEmbeddingProvider(8)
    assert await provider.embed_query(["a query"]) == await provider.embed(["a query"])


@pytest.mark.parametrize("text", ["", " ", "the of", "!?", "🙂", "t0 t2", "\ud7ff"])
async def test_a_text_without_terms_has_a_vector(text: str) -> None:
    for dimension in (1, 2, 4, 256):
        (vector,) = await HashingEmbeddingProvider(dimension).embed([text])
        assert math.hypot(*as_vector(vector)) == pytest.approx(1.0)


def test_terms_that_cancel_leave_the_whole_text_as_the_feature() -> None:
    t0, t2 = hashed_embedding("t0", 4), hashed_embedding("t2", 4)
    assert [a + b for a, b in zip(t0, t2, strict=True)] == [0.0] * 4
    assert hashed_embedding("t0 t2", 4) == slow_embedding("t0 t2", 4)
    assert sorted(map(abs, hashed_embedding("t0 t2", 4))) == [0.0, 0.0, 0.0, 1.0]


async def test_no_texts_have_no_vectors() -> None:
    assert await HashingEmbeddingProvider().embed([]) == []


async def test_any_iterable_of_texts_is_embedded() -> None:
    provider: Any = HashingEmbeddingProvider(4)
    assert await provider.embed(text for text in ("a1", "b1")) == await provider.embed(["a1", "b1"])


@pytest.mark.parametrize("texts", ["text", None, 3, [b"text"], [None]])
async def test_texts_that_are_not_strings_are_a_type_error(texts: Any) -> None:
    with pytest.raises(TypeError, match="texts"):
        await HashingEmbeddingProvider().embed(texts)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
async def test_a_text_that_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"texts\[1\] holds"):
        await HashingEmbeddingProvider().embed_query(["good", text])


@pytest.mark.parametrize("dimension", [0, -1])
def test_a_dimension_below_one_is_refused(dimension: int) -> None:
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        HashingEmbeddingProvider(dimension)


@pytest.mark.parametrize("dimension", [True, 2.0, "2", None])
def test_a_dimension_that_is_no_integer_is_a_type_error(dimension: Any) -> None:
    with pytest.raises(TypeError, match="dimension must be an integer"):
        HashingEmbeddingProvider(dimension)


def test_the_hash_seed_makes_no_difference() -> None:
    program = (
        "from redstring_ref.embeddings.hashing import hashed_embedding\n"
        "print(hashed_embedding('one two two three four five', 3))"
    )
    outputs = {
        subprocess.run(  # noqa: S603 - this interpreter, a constant program
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert outputs == {f"{hashed_embedding('one two two three four five', 3)}\n"}


def test_importing_it_loads_no_network() -> None:
    program = (
        "import sys, redstring_ref.embeddings\n"
        "print({'asyncio', 'ssl', 'http.client', 'urllib.request', 'socket'} & set(sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, a constant program
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"


STORABLE = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
FEW_WORDS = st.lists(st.sampled_from(["t0", "t2", "red", "string", "the", "検索"]), max_size=12).map(" ".join)


@pytest.mark.drawn
@given(STORABLE | FEW_WORDS, st.integers(1, 9))
def test_the_fast_rule_is_the_slow_rule(text: str, dimension: int) -> None:
    assert hashed_embedding(text, dimension) == slow_embedding(text, dimension)


@pytest.mark.drawn
@given(STORABLE | FEW_WORDS, st.integers(1, 9))
def test_every_text_has_a_vector_that_stores_accept(text: str, dimension: int) -> None:
    assert math.hypot(*as_vector(hashed_embedding(text, dimension))) == pytest.approx(1.0)


@pytest.mark.drawn
@given(st.lists(st.sampled_from("abcdefghij"), min_size=1), st.randoms())
def test_the_order_of_the_terms_makes_no_difference(terms: list[str], random: Any) -> None:
    shuffled = random.sample(terms, len(terms))
    expected = hashed_embedding(" ".join(terms), 3)
    actual = hashed_embedding(" ".join(shuffled), 3)
    whole_text_decided = expected != actual
    assert not whole_text_decided or sorted(map(abs, expected)) == [0.0, 0.0, 1.0]
