"""Tables of the public redstring, of each age, are repaired: their chunks then rank as in a fresh store."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import LiteralString

import pytest
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from redstring_pg import PostgresChunkStore
from redstring_ref.domain import ChunkId, DimensionMismatchError, StoredChunk, TenantId
from redstring_ref.domain.bm25 import CorpusStats, bm25_score
from redstring_ref.domain.terms import tokenize
from redstring_ref.memory import InMemoryChunkStore
from tests.pg import support
from tests.pg.answers import answers, assert_same_answers, call
from tests.pg.catalog import catalog, relation_names
from tests.pg.everything import ALL, QUERIES, TENANTS, chunk_calls, chunk_reads, corpus
from tests.support import OTHER_TENANT, TENANT, make_chunk

Connection = AsyncConnection[TupleRow]

_CHUNKS: LiteralString = """CREATE TABLE {schema}.kg_chunks (
    tenant_id uuid NOT NULL, id text NOT NULL, source_id text NOT NULL, text text NOT NULL,
    chunk_index integer NOT NULL, start_char integer NOT NULL, end_char integer NOT NULL,
    entity_ids uuid[] NOT NULL DEFAULT '{{}}', metadata jsonb NOT NULL DEFAULT '{{}}'::jsonb{more},
    PRIMARY KEY (tenant_id, id))"""
_INDEXES: list[LiteralString] = [
    """CREATE INDEX IF NOT EXISTS kg_chunks_tenant_source_idx
        ON {schema}.kg_chunks (tenant_id, source_id, chunk_index, id)""",
    "CREATE INDEX IF NOT EXISTS kg_chunks_entity_ids_idx ON {schema}.kg_chunks USING gin (entity_ids)",
]
_TERMS: list[LiteralString] = [
    """CREATE TABLE IF NOT EXISTS {schema}.kg_chunks_terms (
        tenant_id uuid NOT NULL, chunk_id text NOT NULL, term text NOT NULL, tf integer NOT NULL,
        PRIMARY KEY (tenant_id, chunk_id, term),
        FOREIGN KEY (tenant_id, chunk_id) REFERENCES {schema}.kg_chunks (tenant_id, id) ON DELETE CASCADE)""",
    "CREATE INDEX IF NOT EXISTS kg_chunks_terms_term_idx ON {schema}.kg_chunks_terms (tenant_id, term)",
]
# What each age of the library made beyond the columns that all have.
AGES: dict[str, LiteralString] = {
    "before doc_length": "",
    "before embedding": ", doc_length integer NOT NULL DEFAULT 0",
    "current": ", doc_length integer NOT NULL DEFAULT 0, embedding vector(2)",
}
WITH_TERMS = ["before embedding", "current"]


async def run(
    connection: Connection, schema: str, *statements: LiteralString, more: LiteralString = ""
) -> None:
    for statement in statements:
        names = {"schema": sql.Identifier(schema), "more": sql.SQL(more)}
        await connection.execute(sql.SQL(statement).format(**names))


async def create(connection: Connection, schema: str, age: str) -> None:
    """Make the empty tables of an age."""
    await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    await run(connection, schema, _CHUNKS, *_INDEXES, more=AGES[age])
    if age in WITH_TERMS:
        await run(connection, schema, *_TERMS)


async def fill(connection: Connection, schema: str, age: str, chunks: Sequence[StoredChunk]) -> None:
    """Write chunks, with the term rows of the age."""
    columns = {
        "tenant_id": [chunk.tenant_id for chunk in chunks],
        "id": [chunk.id for chunk in chunks],
        "source_id": [chunk.source_id for chunk in chunks],
        "text": [chunk.text for chunk in chunks],
        "chunk_index": [chunk.chunk_index for chunk in chunks],
        "start_char": [chunk.start_char for chunk in chunks],
        "end_char": [chunk.end_char for chunk in chunks],
        "entity_ids": [chunk.entity_ids for chunk in chunks],
        "metadata": [json.dumps(chunk.metadata) for chunk in chunks],
    }
    if age in WITH_TERMS:
        columns["doc_length"] = [doc_length(n, chunk) for n, chunk in enumerate(chunks)]
    if age == "current":
        columns["embedding"] = [None if c.embedding is None else str(c.embedding) for c in chunks]
    insert = sql.SQL("INSERT INTO {}.kg_chunks ({}) VALUES ({})").format(
        sql.Identifier(schema),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(", ").join([sql.Placeholder()] * len(columns)),
    )
    await connection.cursor().executemany(insert, list(zip(*columns.values(), strict=True)))
    if age in WITH_TERMS:
        rows = [
            (chunk.tenant_id, chunk.id, term, frequency)
            for n, chunk in enumerate(chunks)
            for term, frequency in old_terms(n, chunk).items()
        ]
        terms = sql.SQL("INSERT INTO {}.kg_chunks_terms VALUES (%s, %s, %s, %s)")
        await connection.cursor().executemany(terms.format(sql.Identifier(schema)), rows)


def old_terms(n: int, chunk: StoredChunk) -> Counter[str]:
    """Return the term rows of the n-th chunk: none, an older tokenizer's, or today's."""
    if n % 5 == 4:
        return Counter()
    if n % 5 == 3:
        return Counter(re.findall(r"\w+", chunk.text))
    return Counter(tokenize(chunk.text))


def doc_length(n: int, chunk: StoredChunk) -> int:
    """Return what the older tables say of the n-th chunk; of some, that they have terms, but no rows."""
    return 9 if n % 10 == 9 else old_terms(n, chunk).total()


def old_chunks(age: str) -> list[StoredChunk]:
    """Return what an age could store."""
    chunks = [chunk for tenant in TENANTS[:2] for chunk in corpus(tenant)]
    for chunk in () if age == "current" else chunks:
        chunk.embedding = None
    return chunks


@pytest.mark.parametrize("age", AGES)
async def test_a_table_of_each_age_is_repaired_and_then_answers_as_a_fresh_store(
    dsn: str, schema: str, age: str
) -> None:
    chunks, reads = old_chunks(age), list(chunk_reads())
    async with (
        support.connected(dsn) as connection,
        support.new_pool(dsn) as pool,
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(dsn, schema, table="fresh") as fresh,
    ):
        await create(connection, schema, age)
        await fill(connection, schema, age, chunks)
        store = PostgresChunkStore(pool, dimension=2, schema=schema)
        await store.ensure_schema()
        wrong = await store.backfill_lexical_index()
        assert await store.backfill_lexical_index() == 0
        repaired = await catalog(connection, schema)
        await store.ensure_schema()
        assert await catalog(connection, schema) == repaired
        assert "kg_chunks_terms" not in await relation_names(connection, schema)
        await reference.upsert_many(chunks)
        await fresh.upsert_many(chunks)
        await assert_same_answers(reference, store, reads)
        assert await answers(fresh, reads) == await answers(store, reads)
    assert wrong == sum(not is_indexed(age, n, chunk) for n, chunk in enumerate(chunks))


def is_indexed(age: str, n: int, chunk: StoredChunk) -> bool:
    """Tell whether the older tables say of the n-th chunk what today's tokenizer says."""
    today = Counter(tokenize(chunk.text))
    # A chunk of no terms has no term rows, and the older tables do not tell it from one not indexed.
    return age in WITH_TERMS and old_terms(n, chunk) == today and doc_length(n, chunk) == today.total() > 0


@pytest.mark.parametrize("age", WITH_TERMS)
async def test_term_rows_answer_at_once_what_they_said(dsn: str, schema: str, age: str) -> None:
    chunks = old_chunks(age)
    async with (
        support.connected(dsn) as connection,
        support.new_pool(dsn) as pool,
    ):
        await create(connection, schema, age)
        await fill(connection, schema, age, chunks)
        store = PostgresChunkStore(pool, dimension=2, schema=schema)
        await store.ensure_schema()
        for tenant in TENANTS:
            for terms in QUERIES:
                stats, best = expected(chunks, tenant, terms)
                found = await store.lexical_candidates(terms, tenant, ALL)
                assert found.stats == stats
                assert [each.chunk.id for each in found.candidates] == best
                assert (await store.lexical_candidates(terms, tenant, 0)).stats == stats


def expected(
    chunks: Sequence[StoredChunk], tenant: TenantId, terms: list[str]
) -> tuple[CorpusStats, list[ChunkId]]:
    """Return the statistics that the term rows give, and who has a term row and a score, best first."""
    said = [(c, old_terms(n, c), doc_length(n, c)) for n, c in enumerate(chunks) if c.tenant_id == tenant]
    lengths = [length for _, _, length in said if length]
    frequencies = {term: sum(term in rows for _, rows, _ in said) for term in terms}
    stats = CorpusStats(len(lengths), sum(lengths), frequencies)
    scores = {}
    for chunk, rows, _ in said:
        if rows.keys() & terms:
            counts = Counter(tokenize(chunk.text))
            scores[chunk.id] = bm25_score(terms, counts, counts.total(), stats)
    return stats, sorted((key for key in scores if scores[key] > 0), key=lambda key: (-scores[key], key))


@pytest.mark.parametrize("age", AGES)
async def test_a_repaired_table_is_written_like_a_fresh_one(dsn: str, schema: str, age: str) -> None:
    chunks = old_chunks(age)
    async with (
        support.connected(dsn) as connection,
        support.new_pool(dsn) as pool,
        InMemoryChunkStore(dimension=2) as reference,
    ):
        await create(connection, schema, age)
        await fill(connection, schema, age, chunks)
        await reference.upsert_many(chunks)
        store = PostgresChunkStore(pool, dimension=2, schema=schema)
        await store.ensure_schema()
        # Some chunks are written before the backfill, which then finds them right.
        early = [
            call("replace_source", "short", TENANT, corpus(TENANT)[300:303]),
            call(
                "upsert_many", [*corpus(OTHER_TENANT)[250:260], make_chunk("tie new", embedding=[1.0, 1.0])]
            ),
            call("delete_by_source", "Short", OTHER_TENANT),
        ]
        await assert_same_answers(reference, store, early)
        assert await store.backfill_lexical_index(batch_size=70) > 0
        await assert_same_answers(reference, store, [*chunk_reads(), *chunk_calls()])
        assert await store.backfill_lexical_index() == 0


@pytest.mark.parametrize("age", AGES)
async def test_what_the_public_library_makes_and_writes_again_is_taken_over_again(
    dsn: str, schema: str, age: str
) -> None:
    chunks = old_chunks("before embedding")
    reads = list(chunk_reads())
    async with (
        support.connected(dsn) as connection,
        support.new_pool(dsn) as pool,
        InMemoryChunkStore(dimension=2) as reference,
    ):
        await create(connection, schema, age)
        await fill(connection, schema, age, chunks)
        store = PostgresChunkStore(pool, dimension=2, schema=schema)
        await store.ensure_schema()
        await store.backfill_lexical_index()
        made = await catalog(connection, schema)
        await run(connection, schema, *_INDEXES, *_TERMS)
        assert "kg_chunks_terms" in await relation_names(connection, schema)
        await store.ensure_schema()
        assert await catalog(connection, schema) == made
        await reference.upsert_many(chunks)
        await assert_same_answers(reference, store, reads)
        # The other library writes on: new rows have no place, a deleted one leaves its postings.
        await run(connection, schema, *_TERMS, "DELETE FROM {schema}.kg_chunks WHERE source_id = 'Short'")
        more = [make_chunk(f"tie n{n}", source_id="Short", chunk_index=n) for n in range(6)]
        await fill(connection, schema, "before embedding", more)
        await store.ensure_schema()
        assert "kg_chunks_terms" not in await relation_names(connection, schema)
        assert await store.backfill_lexical_index() == 1
        assert await store.backfill_lexical_index() == 0
        for tenant in TENANTS:
            await reference.delete_by_source(more[0].source_id, tenant)
        await reference.upsert_many(more)
        await assert_same_answers(reference, store, reads)


async def test_a_table_of_another_width_is_refused_and_stays_as_it_is(dsn: str, schema: str) -> None:
    chunks = old_chunks("current")
    async with support.connected(dsn) as connection, support.new_pool(dsn) as pool:
        await create(connection, schema, "current")
        await fill(connection, schema, "current", chunks)
        before = await catalog(connection, schema)
        store = PostgresChunkStore(pool, dimension=3, schema=schema)
        for attempt in (store.ensure_schema(), store.backfill_lexical_index(), store.upsert_many(chunks[:1])):
            with pytest.raises(DimensionMismatchError) as refusal:
                await attempt
            assert {refusal.value.expected, refusal.value.actual} == {2, 3}
        with pytest.raises(DimensionMismatchError) as refusal:
            await store.ensure_schema(row_level_security=True)
        assert (refusal.value.expected, refusal.value.actual) == (2, 3)
        assert await catalog(connection, schema) == before
        for table, count in (("kg_chunks", len(chunks)), ("kg_chunks_terms", None)):
            rows = await connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
            )
            row = await rows.fetchone()
            assert row is not None
            assert row[0] == count or (count is None and row[0] > 0)


async def test_tables_of_the_same_name_elsewhere_on_the_search_path_stay_as_they_are(
    dsn: str, schema: str
) -> None:
    chunks = old_chunks("current")
    async with support.connected(dsn) as connection:
        await connection.execute("CREATE SCHEMA elsewhere")
        try:
            await create(connection, "elsewhere", "current")
            await fill(connection, "elsewhere", "current", chunks)
            # What our own names would find there.
            await run(connection, "elsewhere", "CREATE INDEX kg_chunks_place_idx ON {schema}.kg_chunks (id)")
            before = await catalog(connection, "elsewhere")
            path = {"options": f"-c search_path={schema},elsewhere,public"}
            async with support.new_pool(dsn, kwargs=path) as pool:
                store = PostgresChunkStore(pool, dimension=2)
                await store.ensure_schema()
                await store.upsert_many(chunks)
                assert await store.backfill_lexical_index() == 0
            assert await catalog(connection, "elsewhere") == before
            assert "kg_chunks_place_idx" in await relation_names(connection, schema)
        finally:
            await connection.execute("DROP SCHEMA elsewhere CASCADE")
