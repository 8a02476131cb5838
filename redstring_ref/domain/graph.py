"""Entities, the relationships between them, and what a language model extracts. No traversal."""

from dataclasses import dataclass, field
from typing import Self

from redstring_ref.domain.errors import got
from redstring_ref.domain.ids import EntityId, RelationshipId, TenantId, require_tenant, require_uuid
from redstring_ref.domain.similarity import blocking_keys
from redstring_ref.domain.storable import JsonObject, json_object, require_text


@dataclass(slots=True)
class Entity:
    """A thing that a tenant's texts speak of, checked and copied as it is made.

    `name` and `entity_type` are not blank. A field of the wrong type is a `TypeError`, a value
    that cannot be stored a `ValueError`, and both name the field.

    Spec: GRF-2.
    """

    tenant_id: TenantId
    id: EntityId
    name: str
    entity_type: str
    aliases: list[str] = field(default_factory=list)
    description: str = ""
    metadata: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_tenant(self.tenant_id)
        require_uuid("id", self.id)
        self.name = require_label("name", self.name)
        self.entity_type = require_label("entity_type", self.entity_type)
        if not isinstance(self.aliases, list | tuple):
            raise TypeError(f"aliases must be a list of str, {got(self.aliases)}")
        self.aliases = [require_text(f"aliases[{at}]", alias) for at, alias in enumerate(self.aliases)]
        self.description = require_text("description", self.description)
        self.metadata = json_object("metadata", self.metadata)

    @property
    def names(self) -> list[str]:
        """The name, then the aliases."""
        return [self.name, *self.aliases]

    @property
    def blocking_keys(self) -> frozenset[str]:
        """The keys under which this entity is found.

        Spec: ENT-1.
        """
        return blocking_keys(self.names)

    def copy(self) -> Self:
        """Return an independent copy, checked again: the fields of this one may have been set since."""
        return type(self)(
            self.tenant_id,
            self.id,
            self.name,
            self.entity_type,
            self.aliases,
            self.description,
            self.metadata,
        )


@dataclass(slots=True)
class Relationship:
    """A typed, directed edge between two entities of one tenant, checked and copied as it is made.

    Raises as `Entity` does. An edge from an entity to itself is allowed.

    Spec: GRF-2.
    """

    tenant_id: TenantId
    id: RelationshipId
    source_entity_id: EntityId
    target_entity_id: EntityId
    relationship_type: str
    metadata: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_tenant(self.tenant_id)
        require_uuid("id", self.id)
        require_uuid("source_entity_id", self.source_entity_id)
        require_uuid("target_entity_id", self.target_entity_id)
        self.relationship_type = require_label("relationship_type", self.relationship_type)
        self.metadata = json_object("metadata", self.metadata)

    def copy(self) -> Self:
        """Return an independent copy, checked again: the fields of this one may have been set since."""
        return type(self)(
            self.tenant_id,
            self.id,
            self.source_entity_id,
            self.target_entity_id,
            self.relationship_type,
            self.metadata,
        )


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity as a language model names it in one text.

    Spec: GRF-5.
    """

    name: str
    entity_type: str
    description: str = ""

    def __post_init__(self) -> None:
        # Ids are derived from these, and the `format` of a str subclass may be another text.
        object.__setattr__(self, "name", require_label("name", self.name))
        object.__setattr__(self, "entity_type", require_label("entity_type", self.entity_type))
        object.__setattr__(self, "description", require_text("description", self.description))


@dataclass(frozen=True, slots=True)
class ExtractedRelationship:
    """A relationship as a language model states it: its ends are names of extracted entities.

    Spec: GRF-5.
    """

    source: str
    target: str
    relationship_type: str

    def __post_init__(self) -> None:
        for name in ("source", "target", "relationship_type"):
            object.__setattr__(self, name, require_label(name, getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything that a language model extracts from one text.

    What is not a list of these values is a `TypeError`.

    Spec: GRF-5.
    """

    entities: list[ExtractedEntity] = field(default_factory=list)
    relationships: list[ExtractedRelationship] = field(default_factory=list)

    def __post_init__(self) -> None:
        _require_list_of(ExtractedEntity, "entities", self.entities)
        _require_list_of(ExtractedRelationship, "relationships", self.relationships)


def require_label(field: str, value: object) -> str:
    """Return `value` if it is storable text that is not blank."""
    label = require_text(field, value)
    if not label.strip():
        raise ValueError(f"{field} must not be blank, {got(label)}")
    return label


def _require_list_of(kind: type, field: str, values: object) -> None:
    if not isinstance(values, list | tuple):
        raise TypeError(f"{field} must be a list of {kind.__name__}, {got(values)}")
    for position, value in enumerate(values):
        if not isinstance(value, kind):
            raise TypeError(f"{field}[{position}] must be of type {kind.__name__}, {got(value)}")
