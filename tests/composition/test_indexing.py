"""Indexing documents: embed, then write, one document at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from redstring_ref.composition import IndexProgress, IndexReport, index_documents
from redstring_ref.domain import (
    DimensionMismatchError,
    EmbeddingProviderError,
    InvalidVectorError,
    SourceDocument,
    SourceId,
    StoredChunk,
    TextSpan,
)
from redstring_ref.memory import InMemoryChunkStore
from tests.support import TENANT, FakeEmbeddings, ParagraphChunker, make_chunk


def document(name: str, *lines: str) -> SourceDocument:
    return SourceDocument(SourceId(name), "".join(f"{line}\n" for line in lines), {"of": name})


async def texts(store: InMemoryChunkStore, name: str) -> list[str]:
    return [chunk.text.strip() for chunk in await store.get_by_source(SourceId(name), TENANT)]


@pytest.fixture
def store() -> InMemoryChunkStore:
    return InMemoryChunkStore(dimension=2)


async def test_passages_carry_metadata_offsets_positions_and_vectors(store: InMemoryChunkStore) -> None:
    given = document("doc-1", "first", "", "third")
    embeddings = FakeEmbeddings({"first\n": [1.0, 0.0], "third\n": [0.0, 1.0]})
    report = await index_documents(
        [given], store=store, tenant_id=TENANT, chunker=ParagraphChunker(), embeddings=embeddings
    )
    assert report == IndexReport(documents=1, chunks_written=2, orphans_removed=0, chunks_embedded=2)
    assert await store.get_by_source(SourceId("doc-1"), TENANT) == [
        StoredChunk(TENANT, SourceId("doc-1"), "first\n", 0, 0, 6, [], {"of": "doc-1"}, [1.0, 0.0]),
        StoredChunk(TENANT, SourceId("doc-1"), "third\n", 1, 7, 13, [], {"of": "doc-1"}, [0.0, 1.0]),
    ]
    assert embeddings.documents == [["first\n", "third\n"]]
    assert embeddings.queries == []


async def test_without_a_provider_passages_are_not_embedded_yet(store: InMemoryChunkStore) -> None:
    report = await index_documents([document("doc-1", "one")], store=store, tenant_id=TENANT)
    assert report == IndexReport(documents=1, chunks_written=1)
    (chunk,) = await store.get_by_source(SourceId("doc-1"), TENANT)
    assert chunk.embedding is None


async def test_a_staged_rollout_embeds_what_was_indexed_without(store: InMemoryChunkStore) -> None:
    await index_documents([document("doc-1", "one")], store=store, tenant_id=TENANT)
    assert await store.semantic_candidates([1.0, 1.0], TENANT, 5) == []
    await index_documents(
        [document("doc-1", "one")], store=store, tenant_id=TENANT, embeddings=FakeEmbeddings()
    )
    assert len(await store.semantic_candidates([1.0, 1.0], TENANT, 5)) == 1


async def test_fewer_passages_that_reuse_an_id_leave_exactly_those(store: InMemoryChunkStore) -> None:
    chunker = ParagraphChunker()
    await index_documents([document("doc-1", "a", "b", "c")], store=store, tenant_id=TENANT, chunker=chunker)
    report = await index_documents([document("doc-1", "b")], store=store, tenant_id=TENANT, chunker=chunker)
    assert report == IndexReport(documents=1, chunks_written=1, orphans_removed=2)
    assert await texts(store, "doc-1") == ["b"]


async def test_two_sources_with_one_text_keep_both_with_their_metadata(store: InMemoryChunkStore) -> None:
    await index_documents(
        iter([document("doc-2", "same"), document("doc-1", "same")]), store=store, tenant_id=TENANT
    )
    found = await store.lexical_candidates(["same"], TENANT, 5)
    assert sorted(each.chunk.metadata["of"] for each in found.candidates if each.chunk.metadata) == [  # type: ignore[type-var]  # JSON values are not ordered in general; these are strings
        "doc-1",
        "doc-2",
    ]


async def test_a_text_that_stands_twice_is_written_and_embedded_once(store: InMemoryChunkStore) -> None:
    embeddings = FakeEmbeddings()
    report = await index_documents(
        [document("doc-1", "same", "same")],
        store=store,
        tenant_id=TENANT,
        chunker=ParagraphChunker(),
        embeddings=embeddings,
    )
    assert (report.chunks_written, report.chunks_embedded) == (1, 1)
    assert embeddings.documents == [["same\n"]]


async def test_a_document_without_text_empties_its_source(store: InMemoryChunkStore) -> None:
    await store.upsert_many([make_chunk("old")])
    embeddings = FakeEmbeddings()
    report = await index_documents(
        [SourceDocument(SourceId("doc-1"), " \n")], store=store, tenant_id=TENANT, embeddings=embeddings
    )
    assert report == IndexReport(documents=1, chunks_written=0, orphans_removed=1, chunks_embedded=0)
    assert await texts(store, "doc-1") == []
    assert embeddings.documents == []


async def test_no_documents_are_no_work(store: InMemoryChunkStore) -> None:
    assert await index_documents([], store=store, tenant_id=TENANT) == IndexReport()


async def test_a_failure_on_the_second_document_leaves_the_first_indexed_and_the_rest_as_they_were(
    store: InMemoryChunkStore,
) -> None:
    names = ["doc-1", "doc-2", "doc-3"]
    await index_documents([document(name, f"old {name}") for name in names], store=store, tenant_id=TENANT)
    embeddings = FakeEmbeddings(fails_on="new doc-2\n")
    with pytest.raises(EmbeddingProviderError, match="new doc-2"):
        await index_documents(
            [document(name, f"new {name}") for name in names],
            store=store,
            tenant_id=TENANT,
            embeddings=embeddings,
        )
    assert [await texts(store, name) for name in names] == [["new doc-1"], ["old doc-2"], ["old doc-3"]]
    assert embeddings.documents == [["new doc-1\n"], ["new doc-2\n"]]


class Answering(FakeEmbeddings):
    """A provider that answers whatever it is told to."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._wrong = answer

    def _answer(self, texts: Sequence[str]) -> list[list[float]]:
        return self._wrong  # type: ignore[no-any-return]  # the wrong answer is what is tested


@pytest.mark.parametrize(
    ("answer", "error", "counts"),
    [
        ([[1.0, 0.0]] * 2, EmbeddingProviderError, (3, 2)),
        ([[1.0, 0.0]] * 4, EmbeddingProviderError, (3, 4)),
        ([1.0, 0.0, 1.0], EmbeddingProviderError, (3, 3)),
        (None, EmbeddingProviderError, (3, None)),
        ([[1.0, 0.0], [1.0], [1.0, 0.0]], DimensionMismatchError, (2, 1)),
    ],
)
async def test_a_wrong_answer_for_three_texts_writes_nothing(
    store: InMemoryChunkStore, answer: Any, error: Any, counts: tuple[int, int | None]
) -> None:
    await store.upsert_many([make_chunk("old")])
    with pytest.raises(error) as raised:
        await index_documents(
            [document("doc-1", "a", "b", "c")],
            store=store,
            tenant_id=TENANT,
            chunker=ParagraphChunker(),
            embeddings=Answering(answer),
        )
    assert (raised.value.expected, raised.value.actual) == counts
    assert await texts(store, "doc-1") == ["old"]


class Consuming(FakeEmbeddings):
    """A provider that takes the texts out of the list it is given, and loses some on the way."""

    def __init__(self, *, answered: int) -> None:
        super().__init__()
        self._answered = answered

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = await super().embed(texts)
        assert isinstance(texts, list)
        texts.clear()
        return vectors[: self._answered]


@pytest.mark.parametrize("answered", [0, 1])
async def test_a_provider_that_consumes_its_list_of_texts_is_counted_all_the_same(
    store: InMemoryChunkStore, answered: int
) -> None:
    given = document("doc-1", "one", "two")
    with pytest.raises(EmbeddingProviderError) as raised:
        await index_documents(
            [given],
            store=store,
            tenant_id=TENANT,
            chunker=ParagraphChunker(),
            embeddings=Consuming(answered=answered),
        )
    assert (raised.value.expected, raised.value.actual) == (2, answered)
    assert await texts(store, "doc-1") == []
    report = await index_documents(
        [given], store=store, tenant_id=TENANT, chunker=ParagraphChunker(), embeddings=Consuming(answered=2)
    )
    assert report.chunks_embedded == 2


class Careless:
    """A chunker that answers what it is told to."""

    def __init__(self, spans: Any) -> None:
        self._spans = spans

    def chunk(self, text: str) -> Any:
        return self._spans


@pytest.mark.parametrize(
    ("spans", "error", "message"),
    [
        ([TextSpan(0, 2), TextSpan(2, 5)], ValueError, r"spans\[1\] must end within the text, at 4, got 5"),
        ([TextSpan(9, 10)], ValueError, r"spans\[0\] must end within the text, at 4, got 10"),
        ([(0, 4)], TypeError, r"spans\[0\] must be a TextSpan, got \(0, 4\) \(tuple\)"),
        (["one\n"], TypeError, r"spans\[0\] must be a TextSpan, got 'one\\n' \(str\)"),
        (None, TypeError, r"spans must be an iterable, got None \(NoneType\)"),
    ],
)
async def test_a_chunker_that_gives_no_spans_of_the_text_is_refused(
    store: InMemoryChunkStore, spans: Any, error: type[Exception], message: str
) -> None:
    await index_documents([document("doc-1", "old")], store=store, tenant_id=TENANT)
    with pytest.raises(error, match=f"^{message}$"):
        await index_documents(
            [document("doc-1", "one")], store=store, tenant_id=TENANT, chunker=Careless(spans)
        )
    assert await texts(store, "doc-1") == ["old"]


@pytest.mark.parametrize("documents", [None, 5, document("doc-1", "one")], ids=["none", "int", "document"])
async def test_what_holds_no_documents_is_refused_by_its_name(
    store: InMemoryChunkStore, documents: Any
) -> None:
    with pytest.raises(TypeError, match=r"^documents must be an iterable, got "):
        await index_documents(documents, store=store, tenant_id=TENANT)


async def test_a_vector_that_cannot_be_ranked_writes_nothing(store: InMemoryChunkStore) -> None:
    with pytest.raises(InvalidVectorError):
        await index_documents(
            [document("doc-1", "a")],
            store=store,
            tenant_id=TENANT,
            embeddings=Answering([[0.0, 0.0]]),
        )
    assert await texts(store, "doc-1") == []


async def test_reuse_embeds_only_what_has_no_embedding(store: InMemoryChunkStore) -> None:
    chunker = ParagraphChunker()
    first = FakeEmbeddings({"a\n": [1.0, 0.0], "b\n": [0.0, 1.0]})
    await index_documents(
        [document("doc-1", "a", "b")], store=store, tenant_id=TENANT, chunker=chunker, embeddings=first
    )
    second = FakeEmbeddings({"c\n": [-1.0, 0.0]})
    report = await index_documents(
        [document("doc-1", "b", "c")],
        store=store,
        tenant_id=TENANT,
        chunker=chunker,
        embeddings=second,
        reuse_embeddings=True,
    )
    assert report == IndexReport(documents=1, chunks_written=2, orphans_removed=1, chunks_embedded=1)
    assert second.documents == [["c\n"]]
    found = await store.get_by_source(SourceId("doc-1"), TENANT)
    assert [chunk.embedding for chunk in found] == [[0.0, 1.0], [-1.0, 0.0]]


async def test_without_reuse_everything_is_embedded_again(store: InMemoryChunkStore) -> None:
    embeddings = FakeEmbeddings()
    for _ in range(2):
        await index_documents([document("d", "a")], store=store, tenant_id=TENANT, embeddings=embeddings)
    assert embeddings.documents == [["a\n"], ["a\n"]]


async def test_reuse_without_a_provider_keeps_the_embeddings(store: InMemoryChunkStore) -> None:
    await index_documents([document("d", "a")], store=store, tenant_id=TENANT, embeddings=FakeEmbeddings())
    report = await index_documents([document("d", "a")], store=store, tenant_id=TENANT, reuse_embeddings=True)
    assert report.chunks_embedded == 0
    assert len(await store.semantic_candidates([1.0, 1.0], TENANT, 5)) == 1


async def test_a_source_id_that_comes_twice_is_refused_before_it_is_written(
    store: InMemoryChunkStore,
) -> None:
    with pytest.raises(ValueError, match=r"documents\[1\] has the source_id of an earlier one: 'doc-1'"):
        await index_documents([document("doc-1", "a"), document("doc-1", "b")], store=store, tenant_id=TENANT)
    assert await texts(store, "doc-1") == ["a"]


@pytest.mark.parametrize("bad", ["text", None, make_chunk("text")])
async def test_something_that_is_no_document_is_refused(store: InMemoryChunkStore, bad: Any) -> None:
    with pytest.raises(TypeError, match=r"documents\[0\] must be a SourceDocument"):
        await index_documents([bad], store=store, tenant_id=TENANT)


async def test_a_document_that_was_made_invalid_is_refused(store: InMemoryChunkStore) -> None:
    given = document("doc-1", "a")
    given.text = "a\x00b"
    with pytest.raises(ValueError, match="text holds"):
        await index_documents([given], store=store, tenant_id=TENANT)


async def test_a_tenant_that_is_not_a_uuid_is_refused(store: InMemoryChunkStore) -> None:
    tenant: Any = "tenant"
    with pytest.raises(TypeError, match="tenant_id"):
        await index_documents([], store=store, tenant_id=tenant)


async def test_progress_tells_batches_then_the_document(
    store: InMemoryChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redstring_ref.composition.passages.EMBEDDING_BATCH", 2)
    told: list[IndexProgress] = []
    embeddings = FakeEmbeddings()
    await index_documents(
        [document("d1", "a", "b", "c"), document("d2", "a")],
        store=store,
        tenant_id=TENANT,
        chunker=ParagraphChunker(),
        embeddings=embeddings,
        on_progress=told.append,
    )
    one, two = SourceId("d1"), SourceId("d2")
    assert told == [
        IndexProgress(one, 0, 2, 2, 3),
        IndexProgress(one, 0, 2, 3, 3),
        IndexProgress(one, 1, 2, 3, 3),
        IndexProgress(two, 1, 2, 1, 1),
        IndexProgress(two, 2, 2, 1, 1),
    ]
    assert embeddings.documents == [["a\n", "b\n"], ["c\n"], ["a\n"]]


async def test_documents_are_consumed_one_by_one_and_their_number_may_be_unknown(
    store: InMemoryChunkStore,
) -> None:
    events: list[str] = []

    def documents() -> Iterator[SourceDocument]:
        for name in ("d1", "d2"):
            events.append(f"read {name}")
            yield document(name, "a")

    def tell(progress: IndexProgress) -> None:
        assert progress.documents is None
        events.append(f"wrote {progress.source_id}")

    await index_documents(documents(), store=store, tenant_id=TENANT, on_progress=tell)
    assert events == ["read d1", "wrote d1", "read d2", "wrote d2"]


class WriteOnly:
    """A store that takes passages and does nothing else."""

    def __init__(self) -> None:
        self.chunks: list[StoredChunk] = []

    async def upsert_many(self, chunks: Any) -> None: ...

    async def replace_source(self, source_id: Any, tenant_id: Any, chunks: Any) -> int:
        self.chunks = list(chunks)
        return 0

    async def close(self) -> None: ...

    async def __aenter__(self) -> "WriteOnly":
        return self

    async def __aexit__(self, *raised: object) -> None: ...


async def test_a_store_that_only_takes_passages_is_enough_without_embeddings() -> None:
    store = WriteOnly()
    await index_documents([document("d1", "a")], store=store, tenant_id=TENANT)
    assert [chunk.text for chunk in store.chunks] == ["a\n"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embeddings": FakeEmbeddings()}, "embeddings need a store that holds them"),
        ({"reuse_embeddings": True}, "reuse_embeddings needs a store that can be read"),
    ],
)
async def test_a_store_that_cannot_do_what_is_asked_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        await index_documents([document("d1", "a")], store=WriteOnly(), tenant_id=TENANT, **options)
