"""What must hold for every method of a kind is checked for those that exist, found by introspection."""

import dataclasses
import importlib
import inspect
import typing
from collections.abc import Callable
from typing import Any

import pytest

from redstring_ref import ports
from redstring_ref.domain import StoredChunk

PORT_TESTS = ["tests.ports.test_copies", "tests.ports.test_tenants"]


def protocols() -> dict[str, type]:
    """Return every Protocol that `redstring_ref.ports` exports."""
    members = {name: getattr(ports, name) for name in ports.__all__}
    return {name: member for name, member in members.items() if getattr(member, "_is_protocol", False)}


def methods(protocol: type) -> dict[str, Callable[..., object]]:
    """Return the public methods that a Protocol itself adds."""
    return {
        name: member
        for name, member in vars(protocol).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def holds_chunks(annotation: Any) -> bool:
    """Tell whether a value of this type holds a `StoredChunk`, however deep."""
    if annotation is StoredChunk:
        return True
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return any(map(holds_chunks, typing.get_type_hints(annotation).values()))
    return any(map(holds_chunks, typing.get_args(annotation)))


def chunk_returning_methods() -> set[str]:
    return {
        name
        for protocol in protocols().values()
        for name, method in methods(protocol).items()
        if holds_chunks(typing.get_type_hints(method)["return"])
    }


def test_the_introspection_finds_every_port_and_every_chunk_returning_method() -> None:
    assert {"ChunkStore", "ChunkReader", "VectorReader", "GraphStore", "EmbeddingProvider"} <= set(
        protocols()
    )
    assert chunk_returning_methods() == {
        "get",
        "get_by_source",
        "get_by_entity",
        "lexical_candidates",
        "semantic_candidates",
    }


def test_a_new_method_that_returns_chunks_would_be_found() -> None:
    @dataclasses.dataclass
    class Deep:
        inner: dict[str, list[StoredChunk | None]]

    assert holds_chunks(list[Deep])
    assert not holds_chunks(list[str])


@pytest.mark.parametrize("name", sorted(chunk_returning_methods()))
@pytest.mark.parametrize("rule", ["returns_copies", "never_crosses_tenants"])
def test_a_chunk_returning_method_has_a_test_of_each_rule(name: str, rule: str) -> None:
    tests = {test for module in PORT_TESTS for test in vars(importlib.import_module(module))}
    assert f"test_{name}_{rule}" in tests


@pytest.mark.parametrize("name", sorted(protocols()))
def test_a_port_is_runtime_checkable_and_each_method_says_what_it_does(name: str) -> None:
    protocol = protocols()[name]
    assert getattr(protocol, "_is_runtime_protocol", False)
    assert inspect.getdoc(protocol)
    for method in methods(protocol).values():
        assert inspect.getdoc(method), f"{name}.{method.__name__}"


def test_every_store_method_takes_its_tenant_or_values_that_carry_one() -> None:
    unscoped = {
        f"{name}.{method}"
        for name, protocol in protocols().items()
        for method, function in methods(protocol).items()
        if inspect.iscoroutinefunction(function) and "tenant_id" not in inspect.signature(function).parameters
    }
    assert unscoped == {
        "AsyncClosable.close",
        "ChunkWriter.upsert_many",
        "EmbeddingProvider.embed",
        "EmbeddingProvider.embed_query",
        "EntityWriter.upsert_entities",
        "EntityWriter.upsert_entity",
        "LlmProvider.extract",
        "RelationshipStore.upsert_relationship",
        "RelationshipStore.upsert_relationships",
        "VectorWriter.upsert",
        "VectorWriter.upsert_many",
    }
