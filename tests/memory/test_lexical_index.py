"""The inverted index gives what the slow rule gives, and forgets what is removed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redstring_ref.domain import CorpusStats, best_first, bm25_score, tokenize
from redstring_ref.domain.ids import ChunkId
from redstring_ref.memory.lexical_index import LexicalIndex

TEXTS = {ChunkId("c"): "tie tie order", ChunkId("a"): "order", ChunkId("b"): "the tie", ChunkId("d"): ""}


def slow_best(texts: dict[ChunkId, str], terms: list[str], limit: int) -> list[ChunkId]:
    """Score every text by the rule, one after the other."""
    counts = {key: Counter(tokenize(text)) for key, text in texts.items()}
    stats = CorpusStats(
        len(texts),
        sum(count.total() for count in counts.values()),
        {term: sum(term in count for count in counts.values()) for term in terms},
    )
    scores = {key: bm25_score(terms, count, count.total(), stats) for key, count in counts.items()}
    return [key for key, _ in best_first(((key, score) for key, score in scores.items() if score), limit)]


def indexed(texts: dict[ChunkId, str]) -> LexicalIndex:
    index = LexicalIndex()
    for key, text in texts.items():
        index.add(key, text)
    return index


@pytest.mark.parametrize("terms", [["tie"], ["order", "tie"], ["tie", "tie", "order"], ["absent"], []])
@pytest.mark.parametrize("limit", [0, 1, 2, 9])
def test_the_best_are_those_of_the_slow_rule(terms: list[str], limit: int) -> None:
    assert indexed(TEXTS).best(terms, limit) == slow_best(TEXTS, terms, limit)


def test_adding_a_known_id_again_changes_nothing() -> None:
    index = indexed(TEXTS)
    index.add(ChunkId("c"), TEXTS[ChunkId("c")])
    assert index.stats(["tie"]) == CorpusStats(4, 5, {"tie": 2})
    assert index.term_frequencies(ChunkId("c"), ["tie", "order", "absent"]) == {"tie": 2, "order": 1}


def test_removing_everything_leaves_nothing() -> None:
    index = indexed(TEXTS)
    for key, text in TEXTS.items():
        index.remove(key, text)
    assert index.stats(["tie"]) == CorpusStats(0, 0, {"tie": 0})
    assert index.best(["tie"], 5) == []
    assert vars(index) == vars(LexicalIndex())


@pytest.mark.drawn
@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.text("xyz ", max_size=12), max_size=7),
    st.lists(st.sampled_from(["x", "y", "z", "xy", "xx", "absent"]), max_size=5),
    st.integers(0, 8),
    st.sets(st.sampled_from("abcdefg")),
)
def test_any_history_of_writes_and_deletes_ranks_as_the_slow_rule(
    texts: dict[str, str], terms: list[str], limit: int, removed: set[str]
) -> None:
    # A key is derived from its text, as a chunk's id is.
    keyed = {ChunkId(f"{name}-{text}"): text for name, text in texts.items()}
    index = indexed(keyed)
    for key in [key for key in keyed if key[0] in removed]:
        index.remove(key, keyed.pop(key))
    assert index.best(terms, limit) == slow_best(keyed, terms, limit)
