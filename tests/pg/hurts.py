"""Values that hurt: vectors on the edge of a tie, texts of every script, hard JSON. No strategies."""

from array import array
from collections.abc import Callable
from functools import cache
from random import Random
from uuid import UUID

import numpy

from redstring_ref.domain import EntityId, JsonObject, JsonValue, StoredChunk, squared_norm
from tests.support import make_chunk

DIMENSIONS = [1, 2, 3, 64, 1536]
Vector = list[float]

ENTITIES = [
    EntityId(UUID(f"000000{prefix}-0000-4000-8000-000000000000"))
    for prefix in ("9c", "0a", "f1", "5b", "0b", "f0")
]


def base(dimension: int, seed: int = 0) -> Vector:
    """Return a vector of float32 values around 0, another one for each seed."""
    return list(_base(dimension, seed))


@cache
def _base(dimension: int, seed: int) -> "array[float]":
    random = Random(seed)  # noqa: S311 (pinned, no secret)
    return array("f", [random.gauss(0.0, 1.0) for _ in range(dimension)])


def axis(dimension: int, length: float = 1.0, position: int = 0) -> Vector:
    """Return a vector along one axis."""
    return [length if place == position % dimension else 0.0 for place in range(dimension)]


def scaled(vector: Vector, factor: float) -> Vector:
    """Return the vector times `factor`, in float32: parallel, and exactly so for a power of two."""
    return array("f", [component * factor for component in vector]).tolist()


def tiny(vector: Vector) -> Vector:
    """Return the shortest vector from 2**-50 up that is a power of two times this one."""
    return _to_square(vector, 2.0**-100)


def huge(vector: Vector) -> Vector:
    """Return the longest vector up to 2**50 that is a power of two times this one."""
    return _to_square(vector, 2.0**98)


def _to_square(vector: Vector, floor: float) -> Vector:
    factor = 1.0
    while squared_norm(vector) * factor * factor >= floor * 4.0:
        factor /= 2.0
    while squared_norm(vector) * factor * factor < floor:
        factor *= 2.0
    return scaled(vector, factor)


def nudged(vector: Vector, *steps: int) -> Vector:
    """Return the vector with its first components moved by so many float32 steps each."""
    copy = numpy.array(vector, numpy.float32)
    for position, count in enumerate(steps[: len(vector)]):
        towards = numpy.float32("inf" if count > 0 else "-inf")
        for _ in range(abs(count)):
            copy[position] = numpy.nextafter(copy[position], towards)
    return [float(component) for component in copy]


def jittered(vector: Vector, seed: int) -> Vector:
    """Return the vector with every component moved by one step or none: closer than a float32 sum tells."""
    random = Random(seed)  # noqa: S311 (pinned, no secret)
    return nudged(vector, *[random.choice((-1, 0, 1)) for _ in vector])


# From one vector to others whose scores with it, or with each other, are equal or almost so.
VARIANTS: list[Callable[[Vector], Vector]] = [
    lambda vector: vector,
    lambda vector: scaled(vector, -1.0),
    lambda vector: scaled(vector, 2.0),
    lambda vector: scaled(vector, 0.125),
    lambda vector: scaled(vector, 3.0),
    lambda vector: scaled(vector, -0.1),
    lambda vector: nudged(vector, 1),
    lambda vector: nudged(vector, -1),
    lambda vector: nudged(vector, 1, -1, 1),
    lambda vector: nudged(vector, 0, 2),
    lambda vector: jittered(vector, 1),
    lambda vector: jittered(vector, 2),
    tiny,
    huge,
    lambda vector: tiny(scaled(vector, -1.0)),
    lambda vector: nudged(huge(vector), -1),
    lambda vector: axis(len(vector)),
    lambda vector: axis(len(vector), -(2.0**50)),
    lambda vector: axis(len(vector), 2.0**-50, position=1),
    lambda vector: axis(len(vector), 1.0 - 2.0**-24),
    lambda vector: [1.0] * len(vector),
    lambda vector: [1.0] + [2.0**-70] * (len(vector) - 1),
    lambda vector: [2.0**-149] * (len(vector) - 1) + [1.0],
]


def variants(dimension: int, seed: int = 0) -> list[Vector]:
    """Return each of the variants of one base vector."""
    return [variant(base(dimension, seed)) for variant in VARIANTS]


LONG_TOKEN = "x" * 100_000
TEXTS = [
    "",
    "tie",
    "tie order",
    "order tie tie",
    "a rank, a tie: and the order",
    "the and of",
    "!!! ... ---",
    "caf\u00e9 na\u00efve",
    "cafe\u0301 nai\u0308ve",
    "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 stra\u00dfe STRASSE \u0130I\u0131",
    "\U0001f600 \U0001d11e \U00010400\U00010428 \U00020000",
    "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd "
    "\u0627\u0644\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u0651\u0629 \u202etie\u202c",
    "\u691c\u7d22\u30a8\u30f3\u30b8\u3068\u691c\u7d22 \ud55c\uad6d\uc5b4 \u4e2d\u6587tie",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22",
    "so\u00adft zero\u200bwidth \ufeffbom \ufb01ne",
    "\\N \\. \\ \t tab\nline\r\nreturn\x0bvertical\x1fcontrol\x7f\x01",
    "{tie,\"order\"} NULL 'quote' $1 %s %(tie)s; --",
    "snake_case 2024-01-01 3.14 C++ \uffff\ufffd",
    "tie " * 2_000 + "x",
    LONG_TOKEN,
]
SOURCES = [
    "doc-1",
    "Doc-1",
    "doc-2",
    "doc%",
    "doc_",
    "\u00e9",
    "e\u0301",
    "\U0001f600",
    "\uffff",
    "\\'\"{}\t\n %s",
    "s" * 2048,
]
TERMS = [
    "tie",
    "order",
    "rank",
    "caf\u00e9",
    "cafe\u0301",
    "\u691c",
    "\u691c\u7d22",
    "\u0939\u093f\u0928\u094d\u0926\u0940",
    "strasse",
    "null",
    "absent",
    "the",
    "TIE",
    "",
    " ",
    "tie order",
    "\\N",
    '{tie,"order"}',
    "NULL",
    "'quote'",
    "%s",
    "x" * 255,
    "x" * 256,
    LONG_TOKEN,
]


def nested(levels: int) -> JsonValue:
    """Return lists and objects in turn, so many levels deep."""
    value: JsonValue = 1
    for level in range(levels):
        value = [value] if level % 2 else {"d": value}
    return value


METADATA: list[JsonObject] = [
    {},
    {"b": True, "f": False, "n": None},
    {"zero": 0, "float": 0.0, "minus": -0.0, "one": 1, "one_float": 1.0},
    {"e22": 1e22, "e16": 1e16, "int22": 10**22, "big": 2**63, "bigger": 2**64, "small": -(2**63) - 1},
    {
        "least": 5e-324,
        "most": 1.7976931348623157e308,
        "third": 1 / 3,
        "tenth": 0.1,
        "e-7": 1e-7,
        "e300": -1e300,
    },
    {"normal": 2.2250738585072014e-308, "half": 2.5, "next": 1.0000000000000002, "odd": 9007199254740993},
    {"digits": 10**4000, "minus": -(10**4000), "most": 10**4096 - 1},
    {"list": [], "dict": {}, "mixed": [1, 1.0, "1", True, None, [[]], {"": {}}]},
    {
        "": "empty key",
        'key with "quotes"': "\\",
        "\u00e9": "e\u0301",
        "e\u0301": "\u00e9",
        "\U0001f600": "\U0001d11e",
    },
    {"text": "\x01\x1f\x7f\t\n\r\\u0000 \ufeff \uffff", "long": "x" * 8_001, "$ref": {"__float__": "1"}},
    {"entity_type": "person"},
    {"entity_type": "Person"},
    {"entity_type": ["person"]},
    {"entity_type": 1},
    {"entity_type": None},
    {"entity_type": '\\N {"x"}'},
    {"deep": nested(199)},
]


def made_invalid(dimension: int) -> list[object]:
    """Return what no chunk store may take, each for another reason; chunks among it were made so."""

    metadata: list[object] = [
        None,
        [],
        {1: 1},
        {"x": float("nan")},
        {"x": [1, -float("inf")]},
        {"x": {"y": "\x00"}},
        {"\x00": 1},
        {"x": "\ud800"},
        {"x": (1,)},
        {"x": {1}},
        {"x": b"1"},
        {"x": 10**4096},
        {"x": numpy.float64(1.0)},
        {"deep": nested(200)},
    ]

    def spoiled(name: str, value: object) -> StoredChunk:
        chunk = make_chunk("tie", embedding=base(dimension))
        setattr(chunk, name, value)
        return chunk

    return [
        None,
        {"text": "tie"},
        "tie",
        spoiled("text", "a\x00b"),
        spoiled("text", "a\ud800"),
        spoiled("text", 1),
        spoiled("source_id", ""),
        spoiled("source_id", "a\x00"),
        spoiled("source_id", "\udfff"),
        spoiled("source_id", "s" * 2049),
        spoiled("source_id", "\u00e9" * 1025),
        spoiled("source_id", None),
        spoiled("tenant_id", None),
        spoiled("tenant_id", "0000000a-0000-4000-8000-000000000001"),
        spoiled("chunk_index", -1),
        spoiled("chunk_index", True),
        spoiled("chunk_index", 2**31),
        spoiled("chunk_index", 1.0),
        spoiled("start_char", 9),
        spoiled("end_char", 10**5000),
        spoiled("entity_ids", ["not a uuid"]),
        spoiled("entity_ids", {ENTITIES[0]}),
        *[spoiled("metadata", bad) for bad in metadata],
        *[spoiled("embedding", bad) for bad in bad_vectors(dimension)],
    ]


def bad_vectors(dimension: int) -> list[object]:
    """Return what is no vector of this width, each for another reason."""
    good = base(dimension)
    return [
        [*good, 1.0],
        good[1:],
        [],
        [0.0] * dimension,
        [float("nan"), *good[1:]],
        [float("inf"), *good[1:]],
        [1e39, *good[1:]],
        axis(dimension, 2.0**51),
        axis(dimension, 2.0**-51),
        [True, *good[1:]],
        ["1", *good[1:]],
        [None, *good[1:]],
        [good] * dimension,
        "1" * dimension,
        1.0,
        {1.0: 1.0},
    ]


LIMITS: list[object] = [0, 1, 2, 3, 7, 2**31, 2**63, 2**70, numpy.int64(2)]
BAD_LIMITS: list[object] = [-1, -(2**70), True, False, 1.0, "1", None, numpy.float64(1.0), numpy.bool_(True)]
MIN_SCORES: list[object] = [
    None,
    0,
    0.0,
    0.5,
    1,
    1.0,
    1.0000000000000002,
    -1.0,
    float("inf"),
    -float("inf"),
    5e-324,
]
BAD_MIN_SCORES: list[object] = [float("nan"), True, "0.5", [0.5], 10**400, 1j]
BAD_TENANTS: list[object] = [None, "0000000a-0000-4000-8000-000000000001", 1, b"\x00" * 16]
BAD_TERMS: list[object] = ["tie", None, 1, [1], [None], ["tie", "a\x00"], ["\ud800"], [b"tie"]]
BAD_SOURCES: list[object] = [None, 1, b"doc-1", "", "a\x00", "\udfff", "s" * 2049]
BAD_ENTITIES: list[object] = [None, 1, "000000a1-0000-4000-8000-000000000001", b"\x00" * 16]
BAD_IDS: list[object] = [None, 1, b"x", "a\x00", "\ud800"]
