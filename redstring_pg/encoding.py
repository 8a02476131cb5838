"""How values become bytes of PostgreSQL's binary formats, and back. No SQL, no connection."""

import json
from array import array
from collections.abc import Iterable, Sequence
from decimal import Decimal
from struct import pack
from sys import byteorder
from uuid import UUID

from redstring_ref.domain import JsonObject
from redstring_ref.domain.storable import JsonValue

COPY_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
COPY_TRAILER = b"\xff\xff"

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)

_UUID_OID = 2950
_NULL = pack(">i", -1)


def copy_row(fields: Sequence[bytes | None]) -> bytes:
    """Return one row of `COPY … (FORMAT binary)`; `None` is NULL."""
    parts = [pack(">h", len(fields))]
    for field in fields:
        parts.append(_NULL if field is None else pack(">i", len(field)) + field)
    return b"".join(parts)


def int4(value: int) -> bytes:
    """Return an `integer`."""
    return pack(">i", value)


def int8(value: int) -> bytes:
    """Return a `bigint`."""
    return pack(">q", value)


def uuid_array(values: Sequence[UUID]) -> bytes:
    """Return a `uuid[]` of one dimension, or of none where it is empty."""
    if not values:
        return pack(">iii", 0, 0, _UUID_OID)
    items = b"".join(pack(">i", 16) + value.bytes for value in values)
    return pack(">iiiii", 1, 0, _UUID_OID, len(values), 1) + items


def vector(components: Sequence[float]) -> bytes:
    """Return a pgvector `vector` of float32 components, exactly."""
    floats = array("f", components)
    if byteorder == "little":
        floats.byteswap()
    return pack(">HH", len(floats), 0) + floats.tobytes()


def vector_components(value: bytes) -> "array[float]":
    """Return the components of what `vector` returned, exactly."""
    floats = array("f", value[4:])
    if byteorder == "little":
        floats.byteswap()
    return floats


def vector_text(components: Iterable[float]) -> str:
    """Return a vector as pgvector reads it from text, exactly: each double is a float32's own value."""
    return f"[{','.join(map(repr, components))}]"


def jsonb(value: JsonObject) -> bytes:
    """Return a `jsonb`, version 1."""
    return b"\x01" + json_text(value).encode()


def json_text(value: JsonValue) -> str:
    """Return JSON in which every value keeps its type in `jsonb`, with sorted keys: equal text, equal value.

    `jsonb` keeps a number's decimals but not its exponent, so a float is written out, with a point.

    >>> json_text({"b": 1e22, "a": 1})
    '{"a":1,"b":10000000000000000000000.0}'

    Spec: PG-5.
    """
    text = _JSON.encode(value)
    return _written_out(value) if "e+" in text or "e-" in text else text


def _written_out(value: JsonValue) -> str:
    """Return the text of `json_text` where a number may have an exponent."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{_JSON.encode(key)}:{_written_out(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_written_out, value))}]"
    return _float_text(value) if isinstance(value, float) else _JSON.encode(value)


def _float_text(value: float) -> str:
    shortest = repr(value)
    if "e" not in shortest:
        return shortest
    digits = format(Decimal(shortest), "f")
    return digits if "." in digits else f"{digits}.0"


def int8_array(numbers: list[int]) -> str:
    """Return a `bigint[]` as PostgreSQL reads it, which may have spaces as Python writes them.

    >>> int8_array([1, 2])
    '{1, 2}'
    """
    return f"{{{str(numbers)[1:-1]}}}"
