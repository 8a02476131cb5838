"""Any name that PostgreSQL can quote names a table or a schema; one that it would cut is refused at once."""

import asyncio
from typing import Any

import pytest
from psycopg import sql

from redstring_pg import PgVectorStore, PostgresChunkStore
from redstring_ref.domain import SourceId, VectorRecord
from tests.pg import support
from tests.pg.answers import strict
from tests.pg.hurts import ENTITIES
from tests.support import OTHER_TENANT, TENANT, make_chunk

NAMES = [
    "My-Table",
    "my-table",
    "order",
    "user",
    'we"ird',
    '""',
    "it's",
    "100%",
    "%s",
    "%(name)s",
    "{}",
    "{table}",
    "back\\slash",
    "a.b",
    '"a"."b"',
    " lead and trail ",
    "tab\tnew\nline",
    "dollar$1 -- ;",
    "1",
    "_",
    "\u00e9t\u00e9",
    "\U0001f600",
    "kg_chunks_terms",
    "t" * 60,
    "T" * 62,
    "t" * 63,
    "\u00e9" * 31,
    "x" + "\u00e9" * 31,
]
TOO_LONG = ["t" * 64, "\u00e9" * 32, "\u00e9" * 64, "\U0001f600" * 16, "t" * 10_000]
NO_NAMES: list[tuple[Any, type[Exception]]] = [
    ("", ValueError),
    ("a\x00b", ValueError),
    ("\ud800", ValueError),
    (None, TypeError),
    (1, TypeError),
    (b"table", TypeError),
    (["kg", "chunks"], TypeError),
]


async def use(store: PostgresChunkStore) -> None:
    """Call every method once and check what comes back."""
    await store.ensure_schema()
    await store.ensure_schema()
    chunks = [
        make_chunk(f"tie n{n}", chunk_index=n, embedding=[1.0, n], entity_ids=ENTITIES[:1]) for n in range(3)
    ]
    await store.upsert_many([*chunks, make_chunk("tie", tenant_id=OTHER_TENANT)])
    assert await store.replace_source(SourceId("doc-1"), TENANT, chunks[:2]) == 1
    assert await store.get_by_source(SourceId("doc-1"), TENANT) == chunks[:2]
    assert await store.get_by_entity(ENTITIES[0], TENANT) == chunks[:2]
    assert await store.get(chunks[1].id, TENANT) == chunks[1]
    found = await store.lexical_candidates(["tie", "n1"], TENANT, 1)
    assert [each.chunk for each in found.candidates] == [chunks[1]]
    assert found.stats.n_docs == 2
    assert [each.chunk for each in await store.semantic_candidates([1.0, 0.0], TENANT, 1)] == chunks[:1]
    assert await store.backfill_lexical_index() == 0
    assert await store.delete_by_source(SourceId("doc-1"), TENANT) == 2
    assert await store.delete_by_tenant(OTHER_TENANT) == 1


async def use_vectors(store: PgVectorStore) -> None:
    await store.ensure_schema()
    await store.ensure_schema()
    record = VectorRecord(TENANT, ENTITIES[0], [1.0, 0.0], {"entity_type": "person"})
    await store.upsert(record)
    assert await store.get(ENTITIES[0], TENANT) == record
    assert len(await store.search([1.0, 0.0], TENANT, entity_types=["person"])) == 1
    assert await store.delete(ENTITIES[0], TENANT) == 1


@pytest.mark.parametrize("name", NAMES, ids=ascii)
async def test_any_name_that_can_be_quoted_is_a_table(dsn: str, schema: str, name: str) -> None:
    async with support.new_pool(dsn) as pool:
        await use(PostgresChunkStore(pool, dimension=2, table=name, schema=schema))
        await use_vectors(PgVectorStore(pool, dimension=2, table=f"{name[:20]}v", schema=schema))


@pytest.mark.parametrize(
    "name", ["my-schema", 'we"ird', "order", "100%", "a.b", "s" * 63, "\u00e9" * 31], ids=ascii
)
async def test_any_name_that_can_be_quoted_is_a_schema(dsn: str, name: str) -> None:
    async with support.connected(dsn) as connection, support.new_pool(dsn) as pool:
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        try:
            await use(PostgresChunkStore(pool, dimension=2, schema=name))
            await use(PostgresChunkStore(pool, dimension=2, table="t" * 63, schema=name))
            await use_vectors(PgVectorStore(pool, dimension=2, schema=name))
        finally:
            await connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


async def test_tables_whose_names_differ_at_their_end_or_in_case_are_apart(dsn: str, schema: str) -> None:
    names = [
        "t" * 63,
        "t" * 62 + "u",
        "t" * 62,
        "T" * 63,
        "t" * 58,
        "kg",
        "kg_",
        "KG",
        "\u00e9" * 31,
        "\u00e9" * 30 + "\u00e8",
    ]
    async with support.new_pool(dsn) as pool:
        stores = [PostgresChunkStore(pool, dimension=2, table=name, schema=schema) for name in names]
        for store in stores:
            await store.ensure_schema()
        await asyncio.gather(
            *[
                store.upsert_many([make_chunk(f"tie {n}") for n in range(position + 1)])
                for position, store in enumerate(stores)
            ]
        )
        for position, store in enumerate(stores):
            stats = (await store.lexical_candidates(["tie"], TENANT, 0)).stats
            assert stats.n_docs == position + 1
            assert await store.delete_by_tenant(TENANT) == position + 1


async def test_two_schemas_with_one_table_name_are_apart(dsn: str, schema: str) -> None:
    async with support.connected(dsn) as connection:
        await connection.execute("CREATE SCHEMA twin")
        try:
            async with support.chunk_store(dsn, schema) as mine, support.chunk_store(dsn, "twin") as other:
                await mine.upsert_many([make_chunk("tie", metadata={"of": "mine"}, embedding=[1.0, 0.0])])
                await other.upsert_many(
                    [make_chunk("tie", metadata={"of": "other"}), make_chunk("tie order")]
                )
                found = await mine.get_by_source(SourceId("doc-1"), TENANT)
                assert [chunk.metadata for chunk in found] == [{"of": "mine"}]
                assert (await mine.lexical_candidates(["tie"], TENANT, 9)).stats.n_docs == 1
                assert (await other.lexical_candidates(["tie"], TENANT, 9)).stats.n_docs == 2
                assert await other.semantic_candidates([1.0, 0.0], TENANT, 9) == []
                assert await other.delete_by_tenant(TENANT) == 2
                assert strict(await mine.get_by_source(SourceId("doc-1"), TENANT)) == strict(found)
        finally:
            await connection.execute("DROP SCHEMA twin CASCADE")


async def test_without_a_schema_the_search_path_decides(dsn: str, schema: str) -> None:
    # On a connection of its own each time, with the search path that the caller has set for it.
    path = {"options": f"-c search_path={schema},public"}
    async with support.new_pool(dsn, kwargs=path) as pool, support.new_pool(dsn) as plain:
        store = PostgresChunkStore(pool, dimension=2)
        await store.ensure_schema()
        await store.upsert_many([make_chunk("tie")])
        named = PostgresChunkStore(plain, dimension=2, schema=schema)
        assert await named.get_by_source(SourceId("doc-1"), TENANT) == [make_chunk("tie")]


async def relations(dsn: str, schema: str) -> int:
    async with support.connected(dsn) as connection:
        query = "SELECT count(*) FROM pg_class WHERE relnamespace = %s::regnamespace"
        row = await (await connection.execute(query, [schema])).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("field", ["table", "schema"])
@pytest.mark.parametrize("name", TOO_LONG, ids=lambda name: f"{len(name.encode())} bytes")
async def test_a_name_that_postgres_would_cut_is_refused_before_any_ddl(
    dsn: str, schema: str, field: str, name: str
) -> None:
    names = {"schema": schema, field: name}
    async with support.new_pool(dsn) as pool:
        for store_type in (PostgresChunkStore, PgVectorStore):
            with pytest.raises(ValueError, match=f"^{field} must "):
                await store_type(pool, dimension=2, **names).ensure_schema()
            with pytest.raises(ValueError, match=f"^{field} must "):
                await store_type.connect(dsn, dimension=2, **names).ensure_schema()
    assert await relations(dsn, schema) == 0


@pytest.mark.parametrize("field", ["table", "schema"])
@pytest.mark.parametrize(("name", "error"), NO_NAMES, ids=lambda value: ascii(value)[:20])
async def test_what_is_no_name_is_refused(dsn: str, field: str, name: Any, error: type[Exception]) -> None:
    if field == "schema" and name is None:
        return  # None is no schema: the search path decides.
    pool = support.new_pool(dsn)
    for store_type in (PostgresChunkStore, PgVectorStore):
        with pytest.raises(error, match=f"^{field} "):
            store_type(pool, dimension=2, **{field: name})
