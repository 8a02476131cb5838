"""The values of the entity vector store. What a vector is and how it scores is elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from redstring_ref.domain.arguments import require_iterable
from redstring_ref.domain.errors import got
from redstring_ref.domain.ids import EntityId, TenantId, require_tenant, require_uuid
from redstring_ref.domain.storable import JsonObject, json_object
from redstring_ref.domain.vectors import as_vector, require_width


@dataclass(slots=True)
class VectorRecord:
    """One entity's vector and what to filter it by, checked and copied as it is made.

    `metadata["entity_type"]` is what `search(entity_types=…)` looks at. A field of the wrong
    type is a `TypeError`, a value that cannot be stored a `ValueError` (`InvalidVectorError`
    for the vector), and both name the field.

    Spec: VST-1.
    """

    tenant_id: TenantId
    entity_id: EntityId
    vector: list[float]
    metadata: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_tenant(self.tenant_id)
        require_uuid("entity_id", self.entity_id)
        self.vector = as_vector(self.vector, "vector")
        self.metadata = json_object("metadata", self.metadata)

    def copy(self) -> Self:
        """Return an independent copy, checked again: the fields of this one may have been set since."""
        return type(self)(self.tenant_id, self.entity_id, self.vector, self.metadata)


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """An entity that a vector search found, its cosine score, 0 to 1, and its metadata.

    Spec: VST-2.
    """

    entity_id: EntityId
    score: float
    metadata: JsonObject


def require_records(records: Iterable[VectorRecord], dimension: int) -> list[VectorRecord]:
    """Return checked, independent copies of `records`, consumed once: the door of every vector store.

    An element that is not a `VectorRecord` is a `TypeError`, a vector of another width than
    `dimension` a `DimensionMismatchError`; the first bad element raises.

    Spec: PRT-2, PRT-3, PRT-4, VEC-5.
    """
    copies = []
    for position, record in enumerate(require_iterable("records", records)):
        if not isinstance(record, VectorRecord):
            raise TypeError(f"records[{position}] must be a VectorRecord, {got(record)}")
        copy = record.copy()
        require_width(dimension, copy.vector, f"records[{position}].vector")
        copies.append(copy)
    return copies
