"""What is judged first where several arguments are wrong: the tenant, then the signature's order."""

import inspect
from typing import Any

import pytest

from redstring_ref.domain import DimensionMismatchError, InvalidVectorError
from redstring_ref.ports import ChunkStore
from tests.support import TENANT, make_chunk

SCOPED = [
    name
    for name, member in inspect.getmembers(ChunkStore, inspect.iscoroutinefunction)
    if "tenant_id" in inspect.signature(member).parameters
]


def test_the_introspection_finds_the_methods() -> None:
    assert {"get", "replace_source", "lexical_candidates", "semantic_candidates"} < set(SCOPED)
    assert len(SCOPED) >= 8


@pytest.mark.parametrize("method", SCOPED)
async def test_each_method_judges_the_tenant_before_its_other_arguments(
    store: ChunkStore, method: str
) -> None:
    call = getattr(store, method)
    names = [
        name
        for name, each in inspect.signature(call).parameters.items()
        if each.default is inspect.Parameter.empty
    ]
    with pytest.raises(TypeError, match=r"^tenant_id must be a UUID, got "):
        await call(**dict.fromkeys(names))
    with pytest.raises(TypeError, match=r"^tenant_id must be a UUID, got 'not' \(str\)$"):
        await call(**dict.fromkeys(names) | {"tenant_id": "not"})


NEAR = {"tenant_id": TENANT, "vector": [1.0, 0.0], "limit": 1}


@pytest.mark.parametrize(
    ("method", "arguments", "error", "message"),
    [
        ("upsert_many", {"chunks": None}, TypeError, "chunks must be an iterable, got None"),
        (
            "upsert_many",
            {"chunks": make_chunk("x")},
            TypeError,
            "chunks must be an iterable, got StoredChunk",
        ),
        ("replace_source", {"source_id": "", "chunks": None}, ValueError, "source_id must not be empty"),
        ("replace_source", {"source_id": "doc-1", "chunks": None}, TypeError, "chunks must be an iterable"),
        ("lexical_candidates", {"terms": None, "limit": -1}, TypeError, "terms must be an iterable of str"),
        ("lexical_candidates", {"terms": ["tie"], "limit": -1}, ValueError, "limit must be at least 0"),
        ("semantic_candidates", NEAR | {"vector": [0, 0], "limit": -1}, InvalidVectorError, "vector must "),
        ("semantic_candidates", NEAR | {"vector": [1], "limit": -1}, DimensionMismatchError, "vector: "),
        (
            "semantic_candidates",
            NEAR | {"limit": -1, "min_score": "x"},
            ValueError,
            "limit must be at least 0",
        ),
        ("semantic_candidates", NEAR | {"min_score": "x"}, TypeError, "min_score must be a real number"),
    ],
    ids=range(10),
)
async def test_arguments_are_judged_in_the_order_of_the_signature(
    store: ChunkStore, method: str, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    tenant = {"tenant_id": TENANT} if method in SCOPED else {}
    with pytest.raises(error, match=f"^{message}"):
        await getattr(store, method)(**tenant | arguments)
