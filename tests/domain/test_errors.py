"""Errors: one family, evidence as attributes, messages of one line, and copies that keep it all."""

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

import numpy
import pytest

from redstring_ref.domain import (
    DimensionMismatchError,
    EmbeddingProviderError,
    InvalidVectorError,
    LlmProviderError,
    RedstringError,
    StoreClosedError,
    UnknownEntityError,
)
from redstring_ref.domain.errors import got, shown

ADA = UUID("0000000c-0000-4000-8000-000000000003")
EDGE = UUID("0000000d-0000-4000-8000-000000000004")

# More digits than Python prints by default.
HUGE = 10**5000

EXAMPLES: list[tuple[RedstringError, str, dict[str, object]]] = [
    (
        DimensionMismatchError(3, 2),
        "vector: expected 3 dimensions, got 2",
        {"expected": 3, "actual": 2, "what": "vector"},
    ),
    (
        DimensionMismatchError(expected=3, actual=0, what="chunks[1].embedding"),
        "chunks[1].embedding: expected 3 dimensions, got 0",
        {"expected": 3, "actual": 0, "what": "chunks[1].embedding"},
    ),
    (InvalidVectorError("no norm"), "no norm", {}),
    (EmbeddingProviderError("failed"), "failed", {"expected": None, "actual": None}),
    (EmbeddingProviderError("too few", expected=2, actual=1), "too few", {"expected": 2, "actual": 1}),
    (LlmProviderError("no answer"), "no answer", {}),
    (
        UnknownEntityError(ADA, EDGE),
        f"relationship {EDGE}: unknown entity {ADA}",
        {"entity_id": ADA, "relationship_id": EDGE},
    ),
    (StoreClosedError("closed"), "closed", {}),
]

COPIERS: list[Callable[[RedstringError], RedstringError]] = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda error, protocol=protocol: pickle.loads(pickle.dumps(error, protocol))  # noqa: S301
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize(("error", "message", "evidence"), EXAMPLES)
def test_an_error_tells_its_message_and_its_evidence(
    error: RedstringError, message: str, evidence: dict[str, object]
) -> None:
    assert str(error) == message
    assert {name: getattr(error, name) for name in evidence} == evidence


@pytest.mark.parametrize("copied", COPIERS)
@pytest.mark.parametrize(("error", "message", "evidence"), EXAMPLES)
def test_a_copied_error_keeps_its_message_and_its_evidence(
    copied: Callable[[RedstringError], RedstringError],
    error: RedstringError,
    message: str,
    evidence: dict[str, object],
) -> None:
    test_an_error_tells_its_message_and_its_evidence(copied(error), message, evidence)
    assert type(copied(error)) is type(error)


def test_every_error_is_of_the_family() -> None:
    own = {each for each in RedstringError.__subclasses__() if each.__module__ == RedstringError.__module__}
    assert {type(error) for error, _, _ in EXAMPLES} == own


def test_a_bad_value_is_also_a_value_error_and_a_width_is_not() -> None:
    assert issubclass(InvalidVectorError, ValueError)
    assert issubclass(UnknownEntityError, ValueError)
    assert not issubclass(DimensionMismatchError, ValueError)


@pytest.mark.parametrize(
    ("value", "ending"),
    [
        (None, "got None (NoneType)"),
        (True, "got True (bool)"),
        (-1, "got -1 (int)"),
        ("a\nb\x00\ud800", r"got 'a\nb\x00\ud800' (str)"),
        ((1,), "got (1,) (tuple)"),
        ([1, [2]], "got [1, [2]] (list)"),
        pytest.param(HUGE, "got <16610 bits> (int)", id="huge"),  # 5,000 · log2(10) = 16,609.6…
        pytest.param(-HUGE, "got -<16610 bits> (int)", id="-huge"),
        ([HUGE], "got [<16610 bits>] (list)"),
        (numpy.int64(3), "got np.int64(3) (int64)" if numpy.__version__ >= "2" else "got 3 (int64)"),
    ],
)
def test_a_message_ends_with_the_value_and_its_type(value: object, ending: str) -> None:
    assert got(value) == ending


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Talkative:
    def __repr__(self) -> str:
        return "line\n" * 1000


UNWIELDY: list[object] = [
    *[
        "x" * 10_000,
        b"x" * 10_000,
        [[0.5] * 1000] * 1000,
        [HUGE],
        OrderedDict(a=HUGE),
        {key: key for key in "abcdefgh"},
    ],
    *[numpy.zeros((3, 3)), numpy.zeros(10_000), Unprintable(), Talkative()],
    *[type(name, (), {})() for name in ("int", "array", "list", "dict", "str", "instance", "1")],
    pytest.param(10**600, id="600 digits"),
    pytest.param(HUGE, id="5000 digits"),
]


@pytest.mark.parametrize("value", UNWIELDY)
def test_whatever_came_is_shown_on_one_short_line(value: object) -> None:
    assert len(shown(value)) <= 600
    assert len(shown(value).splitlines()) == 1


def test_a_cycle_is_shown() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    assert shown(cycle) == "[[[[[[[...]]]]]]]"


def test_a_width_beyond_what_python_prints_is_still_told() -> None:
    assert str(DimensionMismatchError(HUGE, 2)) == "vector: expected <16610 bits> dimensions, got 2"
