"""Order is by code point on a database whose collation is not, `en_US.UTF-8` of the C library."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import psycopg
import pytest

from redstring_ref.domain import EntityId, StoredChunk, VectorRecord
from redstring_ref.memory import InMemoryChunkStore
from tests.pg import support
from tests.pg.answers import assert_same_answers, call
from tests.pg.hurts import ENTITIES
from tests.pg.server import FAST, build_locale, running_server
from tests.support import TENANT, make_chunk

# By code point in another order than in English.
SOURCES = [
    "a",
    "B",
    "b",
    "A",
    "Z",
    "z",
    "a-b",
    "ab",
    "a b",
    "a_b",
    "a.b",
    "aB",
    "\u00e9",
    "e",
    "f",
    "\u00c9",
    "e\u0301",
    "10",
    "9",
    "-1",
    "#1",
    "\u00df",
    "ss",
    "\U0001f600",
    "\uffff",
]


@pytest.fixture(scope="module")
def english() -> Iterator[str]:
    """Yield how to reach a database that orders text as a dictionary does, or fail."""
    with TemporaryDirectory(prefix="redstring-locale-") as folder:
        build_locale(Path(folder))
        with running_server(FAST, {"LOCPATH": folder}) as server:
            yield server.create_database("english", "LOCALE_PROVIDER libc LOCALE 'en_US.UTF-8'")


def test_the_database_does_not_order_by_code_point(english: str) -> None:
    with psycopg.connect(english) as connection:
        query = "SELECT x FROM unnest(%s::text[]) AS t (x) ORDER BY x"
        ordered = [row[0] for row in connection.execute(query, [["B", "a", "\u00e9", "f"]])]
    assert ordered == ["a", "B", "\u00e9", "f"]


def chunks() -> list[StoredChunk]:
    return [
        make_chunk(
            f"tie {text}",
            source_id=source,
            chunk_index=n % 2,
            entity_ids=ENTITIES[: 1 + n % 2],
            embedding=[1.0, 1.0],
        )
        for source in SOURCES
        for n, text in enumerate(["", "b", "B", "a", "A"])
    ]


async def test_every_ordered_read_is_in_code_point_order(english: str) -> None:
    reads = [call("get_by_entity", entity, TENANT) for entity in ENTITIES[:2]]
    reads += [call("get_by_source", source, TENANT) for source in SOURCES]
    limits = [1, 2, 7, 60, 124, 125, 2**70]
    reads += [call("lexical_candidates", ["tie"], TENANT, limit) for limit in limits]
    reads += [call("lexical_candidates", ["tie", "b"], TENANT, limit) for limit in limits]
    reads += [call("semantic_candidates", [1.0, 1.0], TENANT, limit) for limit in limits]
    reads += [call("semantic_candidates", [1.0, 0.0], TENANT, limit, min_score=0.5) for limit in limits]
    async with InMemoryChunkStore(dimension=2) as reference, support.chunk_store(english, "public") as store:
        await assert_same_answers(reference, store, [call("upsert_many", chunks()), *reads])
        by_entity = await store.get_by_entity(EntityId(ENTITIES[0]), TENANT)
        sources = list(dict.fromkeys(chunk.source_id for chunk in by_entity))
        assert sources == sorted(SOURCES)


async def test_sources_that_differ_in_case_accents_or_punctuation_only_are_apart(english: str) -> None:
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(english, "public", table="apart") as store,
    ):
        writes = [call("upsert_many", chunks())]
        for source in SOURCES:
            writes += [
                call("replace_source", source, TENANT, [make_chunk("tie", source_id=source)]),
                call("get_by_source", source, TENANT),
                call("lexical_candidates", ["tie", "b", "a"], TENANT, 4),
            ]
        writes += [call("delete_by_source", source, TENANT) for source in SOURCES[::2]]
        writes += [call("get_by_source", source, TENANT) for source in SOURCES]
        await assert_same_answers(reference, store, writes)


async def test_terms_are_matched_and_tied_by_code_point(english: str) -> None:
    words = ["tie", "t\u00efe", "ti\u00e9", "tie1", "1tie", "\u691c", "\ud55c", "stra\u00dfe"]
    texts = [f"{word} {other}" for word in words for other in words]
    calls = [call("upsert_many", [make_chunk(text, chunk_index=n) for n, text in enumerate(texts)])]
    calls += [
        call("lexical_candidates", [word], TENANT, limit)
        for word in [*words, "TIE", "strasse"]
        for limit in (0, 3, 99)
    ]
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(english, "public", table="terms") as store,
    ):
        await assert_same_answers(reference, store, calls)


OLDER_TABLE = """
CREATE TABLE older (
    tenant_id uuid NOT NULL, id text NOT NULL, source_id text NOT NULL, text text NOT NULL,
    chunk_index integer NOT NULL, start_char integer NOT NULL, end_char integer NOT NULL,
    entity_ids uuid[] NOT NULL DEFAULT '{}', metadata jsonb NOT NULL DEFAULT '{}',
    doc_length integer NOT NULL DEFAULT 0, embedding vector(2), PRIMARY KEY (tenant_id, id)
)
"""


async def test_a_table_that_another_library_made_here_is_read_in_code_point_order_too(english: str) -> None:
    # Its columns have the collation of the database.
    async with support.connected(english) as connection:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await connection.execute(OLDER_TABLE)
    async with (
        InMemoryChunkStore(dimension=2) as reference,
        support.chunk_store(english, "public", table="older") as store,
    ):
        limits = [1, 7, 60, 2**70]
        calls = [call("upsert_many", chunks())]
        calls += [call("get_by_entity", entity, TENANT) for entity in ENTITIES[:2]]
        calls += [call("get_by_source", source, TENANT) for source in SOURCES]
        calls += [call("lexical_candidates", ["tie"], TENANT, limit) for limit in limits]
        calls += [call("semantic_candidates", [1.0, 1.0], TENANT, limit) for limit in limits]
        await assert_same_answers(reference, store, calls)


async def test_entity_vectors_tie_by_canonical_id(english: str) -> None:
    async with support.vector_store(english, "public") as store:
        ids = [EntityId(UUID(int=(n * 2_654_435_761) % 2**32 << 96)) for n in range(40)]
        await store.upsert_many(VectorRecord(TENANT, key, [1.0, 0.0]) for key in ids)
        for k in (1, 7, 39, 40):
            found = await store.search([1.0, 0.0], TENANT, k=k)
            assert [match.entity_id for match in found] == sorted(ids, key=str)[:k]
