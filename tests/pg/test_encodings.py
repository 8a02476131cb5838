"""Text reaches the database as it is, or not at all."""

from typing import Any

import pytest

from redstring_pg import PostgresChunkStore
from redstring_ref import SourceId
from tests.pg.server import Server
from tests.support import TENANT, make_chunk


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_client_of_another_encoding_is_refused(dsn: str, schema: str, encoding: str) -> None:
    options: dict[str, Any] = {"dimension": 2, "schema": schema}
    async with PostgresChunkStore.connect(dsn, **options) as store:
        await store.ensure_schema()
        await store.upsert_many([make_chunk("é")])
    async with PostgresChunkStore.connect(f"{dsn}?client_encoding={encoding}", **options) as store:
        with pytest.raises(ValueError, match=rf"^client_encoding must be UTF8, got {encoding}$"):
            await store.get_by_source(SourceId("doc-1"), TENANT)


async def test_a_database_of_another_encoding_is_refused(postgres: Server) -> None:
    dsn = postgres.create_database("latin", "LOCALE_PROVIDER libc LOCALE 'C'", encoding="LATIN1")
    async with PostgresChunkStore.connect(f"{dsn}?client_encoding=UTF8", dimension=2) as store:
        with pytest.raises(ValueError, match=r"^server_encoding must be UTF8, got LATIN1$"):
            await store.ensure_schema()
