"""Query embeddings: kept, made once at a time, and never an error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

import embedding.queries
from embedding.maker import EmbedderUnavailable, TextRefused, Vectors
from embedding.queries import QueryEmbeddings
from tests.embedding.waiting import until
from tests.hash_embedder import HashEmbedder


class Watched(HashEmbedder):
    """Counts what it is asked; `open` lets answers out, `error` is raised in their place."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.second_asked = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.error: Exception | None = None

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        if len(self.asked) == 2:
            self.second_asked.set()
        await self.open.wait()
        if self.error:
            raise self.error
        return await super().embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.error:
            raise self.error
        return await super().embed_passages(texts)


@pytest.fixture
def maker() -> Watched:
    return Watched()


async def test_a_query_embedding_names_its_model(maker: Watched) -> None:
    made = await QueryEmbeddings(maker)("rollback of billing")
    model, vector = made.split(" ")
    assert model == "test-hash"
    expected = await HashEmbedder().embed_queries(["rollback of billing"])
    numbers = np.fromstring(vector.strip("[]"), sep=",")
    assert np.allclose(numbers, expected[0], atol=1e-5)


async def test_a_text_is_embedded_once(maker: Watched) -> None:
    embed = QueryEmbeddings(maker)
    assert await embed("привет") == await embed("привет")
    assert maker.asked == ["привет"]


async def test_equal_texts_at_the_same_time_wait_for_one_call(maker: Watched) -> None:
    maker.open.clear()
    embed = QueryEmbeddings(maker)
    asking = asyncio.gather(embed.many(["a", "b", "a"]), embed("a"))
    await asyncio.wait_for(maker.second_asked.wait(), 5)
    maker.open.set()
    (first, _, third), alone = await asking
    assert first == third == alone
    assert sorted(maker.asked) == ["a", "b"]


async def test_what_was_not_used_longest_is_let_go(maker: Watched) -> None:
    embed = QueryEmbeddings(maker, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await embed(text)
    assert maker.asked == ["a", "b", "c", "b"]


async def test_no_embedder_is_said() -> None:
    assert await QueryEmbeddings(None)("a") == "none ! no embedder is set up"
    assert await QueryEmbeddings(None).passage("a") is None


async def test_a_blank_query_is_not_embedded(maker: Watched) -> None:
    assert (await QueryEmbeddings(maker)(" \x00\n")).startswith("test-hash ! ")
    assert maker.asked == []


async def test_a_failure_is_answered_and_not_kept(maker: Watched) -> None:
    embed = QueryEmbeddings(maker)
    maker.error = EmbedderUnavailable("the endpoint\nis away")
    assert await embed("a") == "test-hash ! the endpoint is away"
    maker.error = None
    assert "!" not in await embed("a")


async def test_a_slow_embedder_is_not_waited_for_but_its_vector_is_kept(maker: Watched) -> None:
    embed = QueryEmbeddings(maker, timeout_seconds=0.05)
    maker.open.clear()
    assert await embed("a") == "test-hash ! the embedder took more than 0.05 s"
    maker.open.set()

    async def embedded() -> bool:
        return "!" not in await embed("a")

    await until(embedded)
    assert maker.asked == ["a"]


async def test_one_caller_that_gives_up_does_not_take_the_vector_from_another(
    maker: Watched,
) -> None:
    maker.open.clear()
    embed = QueryEmbeddings(maker)
    leaving = asyncio.create_task(embed("a"))
    staying = asyncio.create_task(embed("a"))
    await asyncio.sleep(0)
    leaving.cancel()
    maker.open.set()
    assert "!" not in await staying


async def test_an_embedder_that_keeps_failing_is_left_alone_for_a_while(
    maker: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding.queries, "PAUSE_SECONDS", 0.1)
    embed = QueryEmbeddings(maker)
    maker.error = EmbedderUnavailable("away")
    for number in range(6):
        assert "!" in await embed(str(number))
    assert len(maker.asked) == embedding.queries.FAILURES_TO_PAUSE
    maker.error = None

    async def embedded() -> bool:
        return "!" not in await embed("again")

    await until(embedded)


async def test_refused_texts_are_not_held_against_the_embedder(maker: Watched) -> None:
    embed = QueryEmbeddings(maker)
    maker.error = TextRefused("no")
    for number in range(6):
        await embed(str(number))
    assert len(maker.asked) == 6


async def test_a_passage_of_one_chunk_comes_with_its_vector(maker: Watched) -> None:
    embed = QueryEmbeddings(maker)
    assert (await embed.passage("Bastion listens on 49222") or "").startswith("test-hash [")
    assert await embed.passage("word " * 300) is None
    maker.error = EmbedderUnavailable("away")
    assert await embed.passage("Bastion") is None


async def test_a_query_of_any_length_is_cut_before_it_is_embedded(maker: Watched) -> None:
    await QueryEmbeddings(maker)("word " * 20_000)
    assert len(maker.asked[0]) <= embedding.queries.MAX_QUERY_CHARACTERS
