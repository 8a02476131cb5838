"""Which advisory locks a write takes: pinned keys, one order, within the stripes, alike in every process."""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_pg.locks import (
    SOURCE_STRIPES,
    TENANT_STRIPES,
    lock_for_purge,
    lock_for_write,
    share_tenants,
)
from tests.support import OTHER_TENANT, TENANT

# An advisory lock as it is taken: function, space, stripes in their order.
Taken = tuple[str, int, list[int]]
SHARED, ALONE = "pg_advisory_xact_lock_shared", "pg_advisory_xact_lock"
TENANTS, SOURCES = 0x72656401, 0x72656402


class Recorder:
    """A cursor that notes the locks that it is asked for."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []

    async def run(self, statement: Any, params: Any = None) -> None:
        text = statement.as_string()
        function, _, space = text.removeprefix("SELECT ").partition(",")[0].partition("(")
        assert text.endswith(", stripe) FROM unnest(%s::integer[]) AS stripe")
        (stripes,) = params
        self.taken.append((function, int(space), stripes))


async def for_write(*sources: tuple[UUID, str]) -> list[Taken]:
    cursor: Any = Recorder()
    await lock_for_write(cursor, iter(sources))
    return list(cursor.taken)


async def for_tenants(tenants: Iterable[UUID]) -> list[Taken]:
    cursor: Any = Recorder()
    await share_tenants(cursor, tenants)
    return list(cursor.taken)


async def for_purge(tenant: UUID) -> list[Taken]:
    cursor: Any = Recorder()
    await lock_for_purge(cursor, tenant)
    return list(cursor.taken)


async def test_the_keys_are_these_numbers() -> None:
    # Processes of every release share them.
    assert await for_write((TENANT, "doc-1")) == [(SHARED, TENANTS, [212]), (ALONE, SOURCES, [933])]
    assert await for_write((OTHER_TENANT, "doc-1")) == [(SHARED, TENANTS, [124]), (ALONE, SOURCES, [24])]
    assert await for_write((TENANT, "\u00e9")) == [(SHARED, TENANTS, [212]), (ALONE, SOURCES, [937])]
    assert await for_write((UUID(int=0), "")) == [(SHARED, TENANTS, [14]), (ALONE, SOURCES, [14])]
    assert await for_purge(TENANT) == [(ALONE, TENANTS, [212])]


async def test_a_write_shares_its_tenants_and_takes_its_sources_alone_each_once_and_sorted() -> None:
    sources = [(tenant, f"doc-{n}") for n in (3, 1, 2, 1) for tenant in (OTHER_TENANT, TENANT)]
    tenants, taken = await for_write(*sources)
    assert (tenants[:2], taken[:2]) == ((SHARED, TENANTS), (ALONE, SOURCES))
    for stripes in (tenants[2], taken[2]):
        assert stripes == sorted(set(stripes))
    assert (len(tenants[2]), len(taken[2])) == (2, 6)
    assert [tenants, taken] == await for_write(*sorted(sources, reverse=True))


async def test_a_purge_takes_alone_what_writes_share() -> None:
    for tenant in (TENANT, OTHER_TENANT, UUID(int=0)):
        ((_, space, stripes),) = await for_purge(tenant)
        assert (await for_write((tenant, "x")))[0] == (SHARED, space, stripes)
        assert await for_tenants([tenant]) == [(SHARED, space, stripes)]


async def test_nothing_to_write_takes_no_stripe() -> None:
    assert await for_write() == [(SHARED, TENANTS, []), (ALONE, SOURCES, [])]


async def test_many_keys_stay_within_the_stripes_and_use_them_all() -> None:
    ids = [UUID(int=n) for n in range(3_000)]
    ((_, _, tenants),) = await for_tenants(ids)
    assert tenants == list(range(TENANT_STRIPES))
    _, (_, _, sources) = await for_write(*((TENANT, f"doc-{n}") for n in range(12_000)))
    assert sources == list(range(SOURCE_STRIPES))


async def test_the_two_spaces_are_apart_and_no_key_is_beyond_an_integer() -> None:
    assert TENANTS != SOURCES
    assert max(TENANTS, SOURCES, TENANT_STRIPES, SOURCE_STRIPES) < 2**31


PROGRAM = """
import asyncio
from tests.pg.test_locks import OTHER_TENANT, TENANT, for_write
sources = [(tenant, f"doc-{n}") for tenant in (TENANT, OTHER_TENANT) for n in range(50)]
print(asyncio.run(for_write(*sources)))
"""


def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)  # noqa: S603 (own command)
        outputs.add(done.stdout)
    (output,) = outputs
    assert output.startswith(f"[('{SHARED}'")


# Drawn

ids = st.uuids() | st.sampled_from([TENANT, OTHER_TENANT])
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@pytest.mark.drawn
@given(st.lists(st.tuples(ids, names), max_size=20))
async def test_any_write_takes_its_locks_in_one_order_within_bounds(sources: list[tuple[UUID, str]]) -> None:
    (_, _, tenants), (_, _, taken) = await for_write(*sources)
    assert tenants == sorted(set(tenants))
    assert taken == sorted(set(taken))
    assert set(tenants) <= set(range(TENANT_STRIPES))
    assert set(taken) <= set(range(SOURCE_STRIPES))


@pytest.mark.drawn
@given(st.lists(st.tuples(ids, names), max_size=20), ids, names)
async def test_any_source_is_locked_by_the_same_key_alone_and_among_others(
    others: list[tuple[UUID, str]], tenant: UUID, source: str
) -> None:
    alone = await for_write((tenant, source))
    among = await for_write(*others, (tenant, source))
    for one, many in zip(alone, among, strict=True):
        assert set(one[2]) <= set(many[2])
