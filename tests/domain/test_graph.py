"""Entities, relationships, extractions: what they hold, what they refuse, how their ids are derived."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from enum import Enum
from typing import Any
from uuid import UUID

import pytest

from redstring_ref.domain import (
    Entity,
    EntityId,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    Relationship,
    RelationshipId,
    blocking_keys,
    entity_id,
    relationship_id,
)
from redstring_ref.domain.graph import require_label
from tests.support import TENANT

ADA = EntityId(UUID("0000000c-0000-4000-8000-000000000003"))
BOB = EntityId(UUID("0000000d-0000-4000-8000-000000000004"))
KNOWS = RelationshipId(UUID("0000000e-0000-4000-8000-000000000005"))

UNSTORABLE = ["a\x00", "\ud800"]
BLANK = ["", " ", "\t\n", "\u3000"]


class Kind(str, Enum):  # noqa: UP042 (its `format` is the name, unlike that of a StrEnum)
    PERSON = "person"


ENTITY: dict[str, Any] = {"tenant_id": TENANT, "id": ADA, "name": "Ada", "entity_type": "person"}
EDGE: dict[str, Any] = {
    "tenant_id": TENANT,
    "id": KNOWS,
    "source_entity_id": ADA,
    "target_entity_id": BOB,
    "relationship_type": "knows",
}
STATED: dict[str, Any] = {"source": "Ada", "target": "Bob", "relationship_type": "knows"}


def entity(**fields: Any) -> Entity:
    return Entity(**ENTITY | fields)


def edge(**fields: Any) -> Relationship:
    return Relationship(**EDGE | fields)


def extracted(*, name: Any = "Ada", entity_type: Any = "person", description: Any = "") -> ExtractedEntity:
    return ExtractedEntity(name, entity_type, description)


def stated(**fields: Any) -> ExtractedRelationship:
    return ExtractedRelationship(**STATED | fields)


LABELS: list[tuple[Callable[..., Any], str]] = [
    (entity, "name"),
    (entity, "entity_type"),
    (edge, "relationship_type"),
    (extracted, "name"),
    (extracted, "entity_type"),
    (stated, "source"),
    (stated, "target"),
    (stated, "relationship_type"),
]
TEXTS: list[tuple[Callable[..., Any], str]] = [*LABELS, (entity, "description"), (extracted, "description")]


def test_an_entity_has_no_aliases_description_or_metadata_unless_they_are_given() -> None:
    made = Entity(TENANT, ADA, "Ada", "person")
    assert (made.aliases, made.description, made.metadata) == ([], "", {})
    assert made.aliases is not Entity(TENANT, ADA, "Ada", "person").aliases
    assert Relationship(TENANT, KNOWS, ADA, BOB, "knows").metadata == {}


def test_an_entitys_names_are_its_name_then_its_aliases() -> None:
    assert entity(aliases=["Countess", "Ada", ""]).names == ["Ada", "Countess", "Ada", ""]


def test_an_entitys_blocking_keys_are_those_of_all_its_names() -> None:
    made = entity(name="Ada Lovelace", aliases=["the Countess", "?"])
    assert made.blocking_keys == blocking_keys(made.names) == {"ada", "love", "coun"}
    made.name = "Babbage"
    assert made.blocking_keys == {"babb", "coun"}


def test_an_entity_copies_what_it_is_made_of() -> None:
    aliases, metadata = ["Countess"], {"born": [1815]}
    made = entity(aliases=aliases, metadata=metadata)
    aliases.append("spoiled")
    metadata["born"].append(0)
    assert (made.aliases, made.metadata) == (["Countess"], {"born": [1815]})
    assert entity(aliases=("Countess",)).aliases == ["Countess"]


def test_a_copy_is_equal_and_independent() -> None:
    made = entity(aliases=["Countess"], description="poet", metadata={"born": [1815]})
    other = made.copy()
    assert other == made
    other.aliases.append("spoiled")
    other.metadata["born"] = 0
    assert made == entity(aliases=["Countess"], description="poet", metadata={"born": [1815]})

    line = edge(metadata={"since": [1833]})
    another = line.copy()
    assert another == line
    another.metadata["since"] = 0
    assert line == edge(metadata={"since": [1833]})


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("tenant_id", UUID(int=1)),
        ("id", BOB),
        ("name", "ada"),
        ("entity_type", "place"),
        ("aliases", ["Countess"]),
        ("description", "poet"),
        ("metadata", {"a": 1}),
    ],
)
def test_entities_are_equal_when_every_field_is(field: str, other: Any) -> None:
    assert entity() == entity()
    assert entity() != entity(**{field: other})


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("tenant_id", UUID(int=1)),
        ("id", ADA),
        ("source_entity_id", BOB),
        ("target_entity_id", ADA),
        ("relationship_type", "met"),
        ("metadata", {"a": 1}),
    ],
)
def test_relationships_are_equal_when_every_field_is(field: str, other: Any) -> None:
    assert edge() == edge()
    assert edge() != edge(**{field: other})


def test_an_edge_may_lead_back_to_its_start() -> None:
    assert edge(target_entity_id=ADA).source_entity_id == ADA


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (entity, "tenant_id"),
        (entity, "id"),
        (edge, "tenant_id"),
        (edge, "id"),
        (edge, "source_entity_id"),
        (edge, "target_entity_id"),
    ],
)
@pytest.mark.parametrize("bad", [None, str(ADA), 1, ADA.bytes])
def test_an_id_that_is_not_a_uuid_is_refused_by_name(make: Any, field: str, bad: object) -> None:
    with pytest.raises(TypeError, match=f"^{field} must be a UUID, got "):
        make(**{field: bad})


@pytest.mark.parametrize(("make", "field"), TEXTS)
@pytest.mark.parametrize("bad", [None, 1, b"Ada", ["Ada"]])
def test_a_text_that_is_not_a_string_is_refused_by_name(make: Any, field: str, bad: object) -> None:
    with pytest.raises(TypeError, match=f"^{field} must be a str, got "):
        make(**{field: bad})


@pytest.mark.parametrize(("make", "field"), TEXTS)
@pytest.mark.parametrize("bad", UNSTORABLE)
def test_a_text_that_cannot_be_stored_is_refused_by_name(make: Any, field: str, bad: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} holds "):
        make(**{field: bad})


@pytest.mark.parametrize(("make", "field"), LABELS)
@pytest.mark.parametrize("bad", BLANK)
def test_a_blank_label_is_refused_by_name(make: Any, field: str, bad: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must not be blank, got "):
        make(**{field: bad})


@pytest.mark.parametrize("label", ["a", " a ", "?!", "\u200b", "検索", "the"])
def test_a_label_is_kept_as_it_is_written(label: str) -> None:
    assert require_label("name", label) == label


def test_a_description_and_an_alias_may_be_blank() -> None:
    assert entity(description=" ", aliases=[""]).description == " "
    assert extracted(description=" ").description == " "


@pytest.mark.parametrize("bad", [None, "Countess", {"Countess"}, {"Countess": 1}, iter(["Countess"]), 1])
def test_aliases_that_are_not_a_list_are_refused(bad: object) -> None:
    with pytest.raises(TypeError, match=r"^aliases must be a list of str, got "):
        entity(aliases=bad)


@pytest.mark.parametrize(("bad", "error"), [(None, TypeError), (1, TypeError), ("a\x00", ValueError)])
def test_a_bad_alias_is_refused_by_position(bad: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^aliases\[1\] "):
        entity(aliases=["Countess", bad])


@pytest.mark.parametrize("make", [entity, edge])
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (None, TypeError),
        ([], TypeError),
        ({1: "a"}, TypeError),
        ({"a": {1}}, TypeError),
        ({"a": float("nan")}, ValueError),
        ({"a": "\x00"}, ValueError),
    ],
)
def test_metadata_that_is_not_json_is_refused_by_name(make: Any, bad: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^metadata"):
        make(metadata=bad)


@pytest.mark.parametrize(
    ("field", "bad", "error"),
    [
        ("id", "x", TypeError),
        ("name", " ", ValueError),
        ("aliases", None, TypeError),
        ("metadata", 1, TypeError),
    ],
)
def test_an_entity_that_was_made_invalid_cannot_be_copied(
    field: str, bad: Any, error: type[Exception]
) -> None:
    spoiled = entity()
    setattr(spoiled, field, bad)
    with pytest.raises(error, match=f"^{field} must"):
        spoiled.copy()


def test_an_edge_that_was_made_invalid_cannot_be_copied() -> None:
    spoiled = edge()
    spoiled.relationship_type = ""
    with pytest.raises(ValueError, match=r"^relationship_type must not be blank"):
        spoiled.copy()


@pytest.mark.parametrize(("make", "field"), TEXTS)
def test_a_str_subclass_becomes_a_plain_string(make: Any, field: str) -> None:
    kept = getattr(make(**{field: Kind.PERSON}), field)
    assert (kept, type(kept)) == ("person", str)


def test_an_id_derived_from_an_extraction_does_not_know_how_its_type_prints() -> None:
    assert entity_id(TENANT, extracted(entity_type=Kind.PERSON).entity_type, "ada") == entity_id(
        TENANT, "person", "ada"
    )


def test_what_is_extracted_never_changes() -> None:
    for value in (extracted(), stated(), Extraction()):
        with pytest.raises(FrozenInstanceError):
            setattr(value, type(value).__match_args__[0], "another")
    assert len({extracted(), extracted(), extracted(description="poet")}) == 2
    assert len({stated(), stated(), stated(target="Ada")}) == 2


def test_an_extraction_is_empty_unless_told_otherwise() -> None:
    assert (Extraction().entities, Extraction().relationships) == ([], [])
    assert Extraction([extracted()], [stated()]) != Extraction([extracted()])
    assert Extraction((extracted(),)).entities[0] == extracted()  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["entities", "relationships"])
@pytest.mark.parametrize("bad", [None, "Ada", {"name": "Ada"}, iter([]), extracted()])
def test_an_extraction_of_anything_but_lists_is_refused(field: str, bad: object) -> None:
    with pytest.raises(TypeError, match=f"^{field} must be a list of Extracted"):
        Extraction(**{field: bad})  # type: ignore[arg-type]


def test_an_extraction_that_holds_anything_else_is_refused_by_position() -> None:
    with pytest.raises(TypeError, match=r"^entities\[1\] must be of type ExtractedEntity, got "):
        Extraction([extracted(), stated()])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^relationships\[0\] must be of type ExtractedRelationship, got "):
        Extraction([extracted()], [{"source": "Ada"}])  # type: ignore[list-item]


@pytest.mark.parametrize("value", [entity(aliases=["A"]), edge(), Extraction([extracted()], [stated()])])
def test_values_survive_pickling_and_deep_copies(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value  # noqa: S301


def test_derived_ids_are_the_same_for_ever() -> None:
    assert entity_id(TENANT, "person", "ada lovelace") == UUID("1fc9cc4e-e312-525f-9e89-5adb43ea4967")
    assert relationship_id(TENANT, ADA, BOB, "knows") == UUID("2a7bfe41-8ffc-5b4e-8899-891a3d396018")
