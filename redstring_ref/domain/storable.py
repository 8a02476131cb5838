"""What can be stored and come back equal: text and JSON. Not vectors."""

import math
import re
from typing import TYPE_CHECKING, TypeAlias

from redstring_ref.domain.errors import got

if TYPE_CHECKING:
    JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
else:
    # The recursive name cannot be resolved from another module, and `get_type_hints` would fail there.
    JsonValue = bool | int | float | str | list | dict | None
JsonObject: TypeAlias = dict[str, JsonValue]

MAX_JSON_DEPTH = 200
# Python refuses to print or to parse longer integers unless it is told otherwise.
MAX_JSON_INTEGER = 10**4096

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def require_text(field: str, value: object) -> str:
    r"""Return `value` as a plain `str` if it is storable: no NUL, no lone surrogate.

    >>> require_text("text", "a\x00b")
    Traceback (most recent call last):
    ValueError: text holds U+0000 at index 1, which cannot be stored

    A non-string is a `TypeError`.

    Spec: CHK-3.
    """
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str, {got(value)}")
    bad = _UNSTORABLE.search(value)
    if bad:
        code_point = ord(bad.group())
        raise ValueError(f"{field} holds U+{code_point:04X} at index {bad.start()}, which cannot be stored")
    return str.__str__(value)


def json_object(field: str, value: object) -> JsonObject:
    """Return an independent copy of `value` if it is a JSON object, `-0.0` as `0.0`.

    Only the exact types `None`, `bool`, `int`, `float`, `str`, `list` and `dict` with `str`
    keys come back equal in value and type from every store, so nothing else goes in: another
    type is a `TypeError`; a NaN, an infinity, an unstorable string, an integer of more than
    4,096 digits or more than 200 levels is a `ValueError`. Both name the path.

    >>> json_object("metadata", {"tags": ["a", float("nan")]})
    Traceback (most recent call last):
    ValueError: metadata['tags'][1] must be finite, got nan

    Spec: CHK-4.
    """
    if type(value) is not dict:
        raise TypeError(f"{field} must be a dict, {got(value)}")
    return _json_dict(field, value, depth=1)


def _json_dict(path: str, value: dict[object, object], depth: int) -> JsonObject:
    _require_depth(path, depth)
    copy: JsonObject = {}
    for key, item in value.items():
        if type(key) is not str:
            raise TypeError(f"{path} must have str keys, {got(key)}")
        copy[require_text(f"{path} key {key!r}", key)] = _json_value(f"{path}[{key!r}]", item, depth)
    return copy


def _json_value(path: str, value: object, depth: int) -> JsonValue:
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return require_text(path, value)
    if type(value) is int:
        if abs(value) >= MAX_JSON_INTEGER:
            raise ValueError(f"{path} must have at most 4096 digits, got {value.bit_length()} bits")
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"{path} must be finite, got {value!r}")
        return value + 0.0  # turns -0.0 into 0.0 and changes nothing else
    if type(value) is list:
        _require_depth(path, depth + 1)
        return [_json_value(f"{path}[{index}]", item, depth + 1) for index, item in enumerate(value)]
    if type(value) is dict:
        return _json_dict(path, value, depth + 1)
    raise TypeError(f"{path} must be JSON, {got(value)}")


def _require_depth(path: str, depth: int) -> None:
    if depth > MAX_JSON_DEPTH:
        raise ValueError(f"{path[:80]}… is nested more than {MAX_JSON_DEPTH} levels deep")
