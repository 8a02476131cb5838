"""Ids: how they are derived, and what may stand for one."""

from hashlib import sha1
from typing import Any
from uuid import UUID

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import EntityId, TenantId, chunk_id, entity_id, relationship_id
from redstring_ref.domain.ids import require_chunk_id, require_source_id, require_tenant, require_uuid
from tests.support import OTHER_TENANT, TENANT, make_chunk

ADA = EntityId(UUID("0000000c-0000-4000-8000-000000000003"))
BOB = EntityId(UUID("0000000d-0000-4000-8000-000000000004"))

NO_UUIDS: list[Any] = [None, str(TENANT), TENANT.bytes, TENANT.int, UUID, [TENANT], 0, True]


def uuid5_by_hand(namespace: UUID, name: str) -> UUID:
    """Return the version 5 UUID of RFC 9562, section 5.5, from SHA-1 alone."""
    octets = bytearray(sha1(namespace.bytes + name.encode(), usedforsecurity=False).digest()[:16])
    octets[6] = octets[6] & 0x0F | 0x50
    octets[8] = octets[8] & 0x3F | 0x80
    return UUID(bytes=bytes(octets))


@pytest.mark.parametrize(
    ("source_id", "text", "digest"),
    [
        # printf 'doc-1\0Ties are broken by id.' | sha256sum, and so on
        (
            "doc-1",
            "Ties are broken by id.",
            "f59ee8969f7d82eef6d59b7be06f0b1614e7193e8ca3a12a72ee0d3cad617a46",
        ),
        ("döc", "検索", "a8b6fc90d180e96a1396665507bccfaf00c30fa27a7f049fa37253bddfd26f8c"),
        ("", "", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
    ],
)
def test_a_chunk_id_is_the_sha256_of_source_nul_and_text(source_id: str, text: str, digest: str) -> None:
    assert chunk_id(source_id, text) == digest


def test_a_chunk_id_is_64_lower_case_hexadecimal_digits() -> None:
    assert set(chunk_id("doc-1", "text")) <= set("0123456789abcdef")
    assert len(chunk_id("doc-1", "text")) == 64


def test_a_character_that_moves_from_source_to_text_changes_the_chunk_id() -> None:
    assert len({chunk_id("ab", "c"), chunk_id("a", "bc"), chunk_id("abc", ""), chunk_id("c", "ab")}) == 4


def test_canonically_equivalent_texts_have_different_chunk_ids() -> None:
    assert chunk_id("doc-1", "\u00e9") != chunk_id("doc-1", "e\u0301")


def test_no_nul_can_blur_where_the_source_ends_and_the_text_begins() -> None:
    # Of the bytes a 00 b 00 c both readings are refused, so none of them shares an id.
    with pytest.raises(ValueError, match=r"source_id holds U\+0000 at index 1"):
        make_chunk("c", source_id="a\x00b")
    with pytest.raises(ValueError, match=r"text holds U\+0000 at index 1"):
        make_chunk("b\x00c", source_id="a")


@pytest.mark.drawn
@given(st.lists(st.tuples(st.text("ab\x01é", min_size=1), st.text("ab\x01é")), unique=True, max_size=8))
def test_different_chunks_have_different_ids(chunks: list[tuple[str, str]]) -> None:
    assert len({chunk_id(source_id, text) for source_id, text in chunks}) == len(chunks)


def test_an_entity_id_is_a_version_5_uuid_within_the_tenant() -> None:
    found = entity_id(TENANT, "person", "ada lovelace")
    assert found == uuid5_by_hand(TENANT, "person\x00ada lovelace")
    assert found.version == 5
    assert found != entity_id(OTHER_TENANT, "person", "ada lovelace")


def test_a_relationship_id_tells_direction_and_type_apart() -> None:
    there = relationship_id(TENANT, ADA, BOB, "knows")
    assert there == uuid5_by_hand(TENANT, f"{ADA}\x00{BOB}\x00knows")
    assert (
        len({there, relationship_id(TENANT, BOB, ADA, "knows"), relationship_id(TENANT, ADA, BOB, "k")}) == 3
    )


@pytest.mark.parametrize("tenant_id", NO_UUIDS)
def test_no_id_is_derived_without_a_tenant(tenant_id: Any) -> None:
    with pytest.raises(TypeError, match="tenant_id must be a UUID"):
        entity_id(tenant_id, "person", "ada")
    with pytest.raises(TypeError, match="tenant_id must be a UUID"):
        relationship_id(tenant_id, ADA, BOB, "knows")


@pytest.mark.parametrize("value", NO_UUIDS)
def test_a_tenant_is_a_uuid(value: object) -> None:
    with pytest.raises(TypeError, match="tenant_id must be a UUID, got "):
        require_tenant(value)


def test_a_uuid_comes_back_as_it_is() -> None:
    class DriverUuid(UUID):
        pass

    assert require_tenant(TENANT) is TENANT
    theirs = DriverUuid(str(TENANT))
    assert require_uuid("entity_id", theirs) is theirs
    assert require_tenant(theirs) == TenantId(TENANT)


def test_a_uuid_error_names_its_field() -> None:
    with pytest.raises(TypeError, match=r"^entity_ids\[3\] must be a UUID, got 'x' \(str\)$"):
        require_uuid("entity_ids[3]", "x")


@pytest.mark.parametrize(
    "source_id",
    ["s", " ", "é" * 1024, "検" * 682 + "ab", "\U0001f9f5" * 512, "s" * 2048, "a/b?c=d\n\t\x7f", "\uffff"],
)
def test_a_source_id_has_up_to_2048_utf8_bytes(source_id: str) -> None:
    assert require_source_id(source_id) == source_id


@pytest.mark.parametrize(
    ("source_id", "size"),
    [("s" * 2049, 2049), ("é" * 1024 + "s", 2049), ("検" * 683, 2049), ("\U0001f9f5" * 513, 2052)],
)
def test_a_longer_source_id_is_refused_by_bytes_not_characters(source_id: str, size: int) -> None:
    with pytest.raises(ValueError, match=f"source_id must be at most 2048 UTF-8 bytes, got {size}"):
        require_source_id(source_id)


def test_an_empty_source_id_is_refused() -> None:
    with pytest.raises(ValueError, match="source_id must not be empty"):
        require_source_id("")


@pytest.mark.parametrize("source_id", [None, 1, b"doc", ["doc"], TENANT])
def test_a_source_id_is_a_str(source_id: object) -> None:
    with pytest.raises(TypeError, match="source_id must be a str"):
        require_source_id(source_id)


def test_a_str_subclass_becomes_a_plain_source_id() -> None:
    assert type(require_source_id(numpy.str_("doc-1"))) is str


@pytest.mark.parametrize(("bad", "code_point"), [("a\x00", "0000"), ("a\ud800", "D800"), ("a\udfff", "DFFF")])
def test_an_id_that_cannot_be_stored_is_refused(bad: str, code_point: str) -> None:
    for require, field in ((require_source_id, "source_id"), (require_chunk_id, "chunk_id")):
        with pytest.raises(ValueError, match=rf"^{field} holds U\+{code_point} at index 1"):
            require(bad)


def test_a_chunk_id_of_another_form_is_accepted_and_never_found() -> None:
    assert require_chunk_id("") == ""
    assert require_chunk_id("not hexadecimal") == "not hexadecimal"
    with pytest.raises(TypeError, match="chunk_id must be a str"):
        require_chunk_id(None)
