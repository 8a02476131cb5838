"""How values become bytes: against bytes written by hand, and there and back through a server's own types."""

import json
import math
from collections.abc import Iterator
from struct import pack
from typing import TypeAlias
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.rows import TupleRow

from redstring_pg import encoding
from redstring_ref.domain.storable import JsonObject, JsonValue
from tests.pg.answers import strict
from tests.pg.hurts import METADATA, variants
from tests.pg.strategies import json_values, metadata

Connection: TypeAlias = psycopg.Connection[TupleRow]

FIRST = UUID("00112233-4455-6677-8899-aabbccddeeff")
LAST = UUID("ffffffff-ffff-ffff-ffff-ffffffffffff")

# By hand, from PostgreSQL's and pgvector's receive functions


def test_a_copy_starts_with_the_signature_no_flags_and_no_extension() -> None:
    assert bytes.fromhex("5047434f50590aff0d0a00 00000000 00000000") == encoding.COPY_HEADER
    assert bytes.fromhex("ffff") == encoding.COPY_TRAILER


def test_a_row_is_its_number_of_fields_then_each_after_its_length() -> None:
    assert encoding.copy_row([]) == bytes.fromhex("0000")
    assert encoding.copy_row([b"ab", None, b""]) == bytes.fromhex("0003 00000002 6162 ffffffff 00000000")
    assert encoding.copy_row([b"x" * 300]) == bytes.fromhex("0001 0000012c") + b"x" * 300


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "00000000"), (1, "00000001"), (-1, "ffffffff"), (2**31 - 1, "7fffffff"), (-(2**31), "80000000")],
)
def test_an_integer_is_four_bytes(value: int, expected: str) -> None:
    assert encoding.int4(value) == bytes.fromhex(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0000000000000000"),
        (2**32 + 2, "0000000100000002"),
        (-2, "fffffffffffffffe"),
        (2**63 - 1, "7fffffffffffffff"),
        (-(2**63), "8000000000000000"),
    ],
)
def test_a_bigint_is_eight_bytes(value: int, expected: str) -> None:
    assert encoding.int8(value) == bytes.fromhex(expected)


def test_an_empty_uuid_array_has_no_dimension() -> None:
    assert encoding.uuid_array([]) == bytes.fromhex("00000000 00000000 00000b86")


def test_a_uuid_array_has_one_dimension_that_starts_at_1() -> None:
    assert encoding.uuid_array([FIRST, LAST]) == bytes.fromhex(
        "00000001 00000000 00000b86 00000002 00000001"
        "00000010 00112233445566778899aabbccddeeff 00000010 ffffffffffffffffffffffffffffffff"
    )


def test_a_vector_is_its_width_two_unused_bytes_and_its_components() -> None:
    assert encoding.vector([1.0, -2.5, 0.0]) == bytes.fromhex("0003 0000 3f800000 c0200000 00000000")
    assert encoding.vector([2.0**-149]) == bytes.fromhex("0001 0000 00000001")
    assert encoding.vector([1.0] * 16_000)[:8] == bytes.fromhex("3e80 0000 3f800000")


def test_a_vectors_bytes_are_read_back_exactly() -> None:
    assert encoding.vector_components(bytes.fromhex("0002 0000 3f800000 c0200000")).tolist() == [1.0, -2.5]
    for vector in variants(64):
        assert encoding.vector_components(encoding.vector(vector)).tolist() == vector


def test_a_vectors_text_names_each_double() -> None:
    assert encoding.vector_text([1.0, -2.5]) == "[1.0,-2.5]"
    assert encoding.vector_text([0.10000000149011612, 2.0**-149]) == (
        "[0.10000000149011612,1.401298464324817e-45]"
    )


def test_jsonb_is_version_1_and_utf8() -> None:
    assert encoding.jsonb({}) == b"\x01{}"
    assert encoding.jsonb({"\u00e9": 1.5}) == b'\x01{"\xc3\xa9":1.5}'


def test_a_bigint_array_is_written_as_text() -> None:
    assert encoding.int8_array([]) == "{}"
    assert encoding.int8_array([-1]) == "{-1}"
    assert encoding.int8_array([0, 2**62]) == "{0, 4611686018427387904}"


# JSON

TEXTS: list[tuple[JsonValue, str]] = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-7, "-7"),
    (10**22, "10000000000000000000000"),
    (0.0, "0.0"),
    (1.0, "1.0"),
    (-2.5, "-2.5"),
    (1e15, "1000000000000000.0"),
    (1e16, "10000000000000000.0"),
    (1e22, "10000000000000000000000.0"),
    (-1e22, "-10000000000000000000000.0"),
    (1.5e17, "150000000000000000.0"),
    (1e-4, "0.0001"),
    (1e-5, "0.00001"),
    (-1.25e-7, "-0.000000125"),
    (5e-324, "0." + "0" * 323 + "5"),
    (1.7976931348623157e308, "17976931348623157" + "0" * 292 + ".0"),
    ("", '""'),
    ('"\\/\n\t\x01\x7f', '"\\"\\\\/\\n\\t\\u0001\x7f"'),
    ("\u00e9\U0001f600\u2028", '"\u00e9\U0001f600\u2028"'),
    ("1e+22", '"1e+22"'),
    ("e-", '"e-"'),
    ([], "[]"),
    ({}, "{}"),
    ([1, 1.0, [None, {}]], "[1,1.0,[null,{}]]"),
    ({"b": 1, "a": {"d": 2, "c": 3}}, '{"a":{"c":3,"d":2},"b":1}'),
    (
        {"b": 1e22, "a": [1e-7, {"d": "e+", "c": True}]},
        '{"a":[0.0000001,{"c":true,"d":"e+"}],"b":10000000000000000000000.0}',
    ),
]


@pytest.mark.parametrize(("value", "expected"), TEXTS, ids=lambda value: ascii(value)[:30])
def test_json_is_written_with_sorted_keys_and_without_exponents(value: JsonValue, expected: str) -> None:
    assert encoding.json_text(value) == expected


def test_keys_are_sorted_by_code_point_on_every_level_and_path() -> None:
    keys = ["b", "a", "B", "", "\u00e9", "e\u0301", "\uffff", "\U0001f600", "10", "9", "e+", '"']
    ordered = sorted(keys)
    for value in (1, 1e22):
        written = encoding.json_text({"outer": dict.fromkeys(keys, value)})
        assert list(json.loads(written)["outer"]) == ordered
        assert written == encoding.json_text({"outer": dict.fromkeys(reversed(keys), value)})


# Equal in Python, of which every two are different values.
ALIKE: list[JsonValue] = [0, 0.0, False, "0", None, [], {}, [0], [0.0], [False], {"a": 0}, {"a": 0.0}]
ALIKE += [1, 1.0, True, "1", 10**22, 1e22, "1e+22", {"a": [1e22]}, {"a": [10**22]}, {"a": ["1e+22"]}]


def test_different_values_have_different_texts() -> None:
    texts = [encoding.json_text(value) for value in ALIKE]
    assert len(set(texts)) == len(ALIKE)


def by_both_paths(value: JsonValue) -> tuple[str, str]:
    """Return a value's text beside nothing, and beside a number that makes everything be written out."""
    alone = encoding.json_text([value])
    beside = encoding.json_text([1e22, value])
    return alone[1:-1], beside.removeprefix("[10000000000000000000000.0,")[:-1]


@pytest.mark.parametrize("value", [*[value for value, _ in TEXTS], *METADATA], ids=lambda v: ascii(v)[:30])
def test_what_stands_beside_a_value_does_not_change_its_text(value: JsonValue) -> None:
    alone, beside = by_both_paths(value)
    assert alone == beside


@pytest.mark.parametrize("value", [*[value for value, _ in TEXTS], *METADATA], ids=lambda v: ascii(v)[:30])
def test_json_text_parses_to_an_equal_value_of_the_same_type(value: JsonValue) -> None:
    # -0.0 does not get past the door: it is stored as 0.0.
    if "-0.0" not in ascii(value):
        assert strict(json.loads(encoding.json_text(value))) == strict(value)


# Through a server


@pytest.fixture(scope="module")
def connection(dsn: str) -> Iterator[Connection]:
    """Yield a connection to a database that has pgvector."""
    with psycopg.connect(dsn) as opened:
        opened.execute("CREATE EXTENSION IF NOT EXISTS vector")
        opened.commit()
        yield opened


def through(connection: Connection, kind: str, values: list[bytes | None], shown: str) -> list[object]:
    """Return what the server shows of values that reach a column of this type by binary COPY."""
    # The type and the expression are this test's own.
    make = sql.SQL("CREATE TEMP TABLE given (n integer, value {})").format(sql.SQL(kind))
    read = sql.SQL("SELECT {} FROM given ORDER BY n").format(sql.SQL(shown))
    connection.execute(make)
    try:
        cursor = connection.cursor()
        with cursor.copy("COPY given FROM STDIN (FORMAT binary)") as copy:
            copy.write(encoding.COPY_HEADER)
            for n, value in enumerate(values):
                copy.write(encoding.copy_row([encoding.int4(n), value]))
            copy.write(encoding.COPY_TRAILER)
        return [row[0] for row in cursor.execute(read)]
    finally:
        connection.rollback()


def test_integers_come_back(connection: Connection) -> None:
    small = [0, 1, -1, 255, 256, 2**31 - 1, -(2**31)]
    large = [*small, 2**32, 2**62, 2**63 - 1, -(2**63)]
    assert through(connection, "integer", [*map(encoding.int4, small), None], "value") == [*small, None]
    assert through(connection, "bigint", [*map(encoding.int8, large), None], "value") == [*large, None]


def test_ids_and_their_arrays_come_back(connection: Connection) -> None:
    ids = [FIRST, LAST, UUID(int=0)]
    assert through(connection, "uuid", [*(each.bytes for each in ids), None], "value") == [*ids, None]
    arrays = [[], [FIRST], [FIRST, FIRST, LAST], ids * 500]
    assert through(connection, "uuid[]", [*map(encoding.uuid_array, arrays), None], "value") == [
        *arrays,
        None,
    ]
    # As the server itself sends them: what is stored and what is given compare equal.
    sent = through(connection, "uuid[]", [*map(encoding.uuid_array, arrays)], "array_send(value)")
    assert sent == [encoding.uuid_array(each) for each in arrays]


def test_text_comes_back(connection: Connection) -> None:
    texts = ["", "a", "\\N", "\t\n\r\\", "\u00e9 e\u0301 \U0001f600 \uffff", "\x01\x7f", "x" * 100_000]
    assert through(connection, "text", [*(each.encode() for each in texts), None], "value") == [*texts, None]


@pytest.mark.parametrize("dimension", [1, 2, 3, 64, 1536, 16_000])
def test_vectors_come_back_bit_for_bit(connection: Connection, dimension: int) -> None:
    given = [*map(encoding.vector, variants(dimension)), None]
    assert through(connection, f"vector({dimension})", given, "vector_send(value)") == given


@pytest.mark.parametrize("dimension", [1, 3, 64])
def test_a_vectors_text_is_read_as_the_same_vector(connection: Connection, dimension: int) -> None:
    for vector in variants(dimension):
        row = connection.execute("SELECT vector_send(%s::vector)", [encoding.vector_text(vector)]).fetchone()
        assert row == (encoding.vector(vector),)
    connection.rollback()


def test_bigint_arrays_come_back_from_text(connection: Connection) -> None:
    arrays = [[], [0], [2**63 - 1, -(2**63), 7], list(range(256))]
    texts: list[bytes | None] = [encoding.int8_array(each).encode() for each in arrays]
    assert through(connection, "text", texts, "value::bigint[]") == arrays


def from_jsonb(connection: Connection, values: list[JsonObject]) -> list[JsonObject]:
    found = through(connection, "jsonb", [*map(encoding.jsonb, values)], "value::text")
    return [json.loads(str(text)) for text in found]


def test_json_comes_back_equal_in_value_and_type(connection: Connection) -> None:
    values: list[JsonObject] = [{"x": value} for value, _ in TEXTS]
    values += [each for each in METADATA if "-0.0" not in ascii(each)]
    values += [{"x": each} for each in ALIKE]
    assert strict(from_jsonb(connection, values)) == strict(values)


def test_every_power_of_two_and_ten_comes_back(connection: Connection) -> None:
    floats = [math.ldexp(1.0, exponent) for exponent in range(-1074, 1024)]
    floats += [float(f"{sign}1e{exponent}") for exponent in range(-323, 309) for sign in ("", "-")]
    values: list[JsonObject] = [{"x": value, "i": int(value)} for value in floats]
    assert strict(from_jsonb(connection, values)) == strict(values)


def test_what_is_stored_is_written_as_it_was_given(connection: Connection) -> None:
    values: list[JsonObject] = [each for each in METADATA if "-0.0" not in ascii(each)]
    values += [{"x": value} for value, _ in TEXTS]
    again = [encoding.json_text(each) for each in from_jsonb(connection, values)]
    assert again == [encoding.json_text(each) for each in values]


# Drawn

finite32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.drawn
@given(st.lists(finite32, min_size=1, max_size=20))
def test_any_float32_is_its_own_big_endian_bytes(components: list[float]) -> None:
    expected = pack(">HH", len(components), 0) + b"".join(pack(">f", each) for each in components)
    assert encoding.vector(components) == expected
    assert strict(encoding.vector_components(expected).tolist()) == strict(components)


@pytest.mark.drawn
@given(json_values | metadata)
def test_any_json_is_written_alike_by_both_paths(value: JsonValue) -> None:
    alone, beside = by_both_paths(value)
    assert alone == beside


@pytest.mark.drawn
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_float_is_written_with_a_point_and_without_an_exponent(value: float) -> None:
    text = encoding.json_text(value)
    assert "." in text
    assert "e" not in text
    assert strict(json.loads(text)) == strict(value)


@pytest.mark.drawn
@given(st.lists(metadata, max_size=5))
@settings(deadline=None)
def test_any_json_comes_back_from_jsonb(connection: Connection, values: list[JsonObject]) -> None:
    # As it is stored, without negative zeros.
    stored = [json.loads(encoding.json_text(each).replace("-0.0", "0.0")) for each in values]
    assert strict(from_jsonb(connection, stored)) == strict(stored)
