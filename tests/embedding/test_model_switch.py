"""Another model: the old one's vectors serve until the new ones are complete, then they swap."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from embedding.backfill import Backfill
from embedding.maker import Embedder, EmbedderUnavailable, TextRefused
from embedding.queries import QueryEmbeddings
from embedding.serving import ServingEmbedder
from sql.agents import Agent
from sql.maintenance import maintain
from sql.records import NewMemory, RecallAnswer, RecallQuery
from sql.store import MemoryStore
from tests.hash_embedder import HashEmbedder

MODELS = "select model, current, coming from pgrecall.embedding_models order by created_at"
TEXTS = ("billing was rolled back", "the bastion listens on 49222", "coffee is out")


class Named(HashEmbedder):
    """A model of its own: its vectors are the others' mirrored, so that a mix-up would show."""

    def __init__(self, model: str, refused: str | None = None) -> None:
        self.model = model
        self.refused = refused
        self.closed = False

    async def embed_passages(self, texts):
        if self.refused is not None and any(self.refused in text for text in texts):
            raise TextRefused("not this one")
        return [
            -made if self.model == "new" else made for made in await super().embed_passages(texts)
        ]

    async def embed_queries(self, texts):
        if self.refused == "every":
            raise EmbedderUnavailable("away")
        made = await super().embed_queries(texts)
        return -made if self.model == "new" else made

    async def close(self) -> None:
        self.closed = True


class Switch:
    """A store whose memories have vectors of `old`, and a worker that is to give them `new`."""

    def __init__(self, pool: asyncpg.Pool, ada: Agent, old: Embedder | None) -> None:
        self.pool = pool
        self.ada = ada
        self.old = old
        self.new = Named("new")
        self.serving = ServingEmbedder(self.new, lambda model: old if model == "old" else None)
        self.worker = Backfill(pool, self.new, serving=self.serving, batch=1)
        self.store = MemoryStore(pool, QueryEmbeddings(self.serving))

    async def begin(self) -> None:
        before = Backfill(self.pool, Named("old"))
        await before.use_model()
        await self.remember(*TEXTS)
        await before.drain()
        await self.worker.use_model()

    async def remember(self, *texts: str) -> None:
        await self.store.remember_many(self.ada, [NewMemory(content=text) for text in texts])

    async def recall(self, query: str, **options: object) -> RecallAnswer:
        return await self.store.recall(self.ada, RecallQuery(query=query, **options))

    async def embed_some(self, count: int) -> None:
        for _ in range(count):
            claimed = await self.worker._claim()
            await self.worker._embed(claimed)
        await self.worker._settle()

    async def models(self) -> dict[str, str]:
        rows = await self.pool.fetch(MODELS)
        return {
            row["model"]: "current" if row["current"] else "coming" if row["coming"] else "retired"
            for row in rows
        }


@pytest.fixture
async def switch(pool: asyncpg.Pool, ada: Agent) -> Switch:
    made = Switch(pool, ada, Named("old"))
    await made.begin()
    return made


@pytest.fixture
async def orphan(pool: asyncpg.Pool, ada: Agent) -> Switch:
    """The old model's maker can't be had."""
    made = Switch(pool, ada, None)
    await made.begin()
    return made


async def test_the_old_model_serves_until_the_new_one_is_complete(switch: Switch) -> None:
    for done in range(3):
        assert await switch.models() == {"old": "current", "new": "coming"}
        answer = await switch.recall("bastion port", mode="vector")
        assert answer.degraded is None, done
        assert answer.results[0].content == TEXTS[1]
        assert len(answer.results) == 3
        await switch.embed_some(1)

    assert await switch.models() == {"old": "retired", "new": "current"}
    answer = await switch.recall("bastion port", mode="vector")
    assert (answer.degraded, answer.results[0].content) == (None, TEXTS[1])
    assert isinstance(switch.old, Named)
    assert switch.old.closed


async def test_what_is_written_meanwhile_is_searched_at_once_by_both(switch: Switch) -> None:
    await switch.remember("a bastion of good taste")
    await switch.embed_some(1)  # the newest first

    answer = await switch.recall("taste", mode="vector")
    assert (answer.results[0].content, answer.degraded) == ("a bastion of good taste", None)
    assert await switch.models() == {"old": "current", "new": "coming"}
    await switch.worker.drain()
    assert await switch.models() == {"old": "retired", "new": "current"}
    answer = await switch.recall("taste", mode="vector")
    assert answer.results[0].content == "a bastion of good taste"
    assert len(answer.results) == 4


async def test_without_the_old_maker_the_answer_says_what_is_found_by_words(orphan: Switch) -> None:
    await orphan.embed_some(2)

    answer = await orphan.recall("coffee rolled back on port 49222")

    assert answer.degraded == (
        "1 of 3 memories have no vector of model new yet and are found by words alone"
    )
    assert {result.content for result in answer.results} == set(TEXTS)
    assert sum(result.vector_rank is not None for result in answer.results) == 2
    await orphan.worker.drain()
    assert (await orphan.recall("billing rolled")).degraded is None


async def test_an_old_maker_that_does_not_answer_is_done_without(pool, ada) -> None:
    switch = Switch(pool, ada, Named("old", refused="every"))
    await switch.begin()

    assert (await switch.recall("billing")).degraded == (
        "3 of 3 memories have no vector of model new yet and are found by words alone"
    )


async def test_a_process_that_still_embeds_by_the_old_model_is_served_and_told(
    switch: Switch,
) -> None:
    behind = MemoryStore(switch.pool, QueryEmbeddings(Named("old")))
    await switch.worker.drain()
    answer = await behind.recall(switch.ada, RecallQuery(query="bastion port", mode="vector"))

    assert answer.results[0].content == TEXTS[1]
    assert answer.degraded == (
        "the query embedding is of model old, which new has replaced:"
        " newer memories are found by words alone"
    )


async def test_a_text_that_is_refused_again_and_again_holds_no_switch_up(switch: Switch) -> None:
    switch.new.refused = "coffee"
    for _ in range(4):
        await switch.worker.drain()
        await switch.pool.execute("update pgrecall.embedding_queue set due_at = now()")
    await switch.worker.drain()

    assert await switch.models() == {"old": "retired", "new": "current"}


async def test_going_back_half_way_costs_nothing(switch: Switch) -> None:
    await switch.embed_some(1)
    back = Backfill(switch.pool, Named("old"))
    await back.use_model()

    assert await switch.models() == {"old": "current", "new": "retired"}
    assert back.backlog == 0
    assert await switch.worker._claim() == [], "the other worker makes nothing that nobody wants"


async def test_a_store_without_vectors_switches_at_once(pool, ada) -> None:
    await Backfill(pool, Named("old")).use_model()
    switch = Switch(pool, ada, None)
    await switch.worker.use_model()

    assert await switch.models() == {"old": "retired", "new": "current"}


async def test_a_vector_that_comes_with_a_memory_is_kept_and_the_other_made(switch: Switch) -> None:
    vector = (await switch.serving.now.embed_passages(["given along"]))[0][0]
    text = f"old [{','.join(map(str, vector.tolist()))}]"
    async with switch.pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        await connection.execute(
            "select memory.remember('given along', query_embedding => $1)", text
        )

    answer = await switch.recall("given along", mode="vector")
    assert answer.results[0].content == "given along"
    await switch.worker.drain()
    assert await switch.models() == {"old": "retired", "new": "current"}
    answer = await switch.recall("given along", mode="vector")
    assert answer.results[0].content == "given along"


async def test_two_workers_end_a_switch_together(switch: Switch) -> None:
    rival = Backfill(switch.pool, Named("new"), batch=1)
    await asyncio.gather(switch.worker.drain(), rival.drain())
    await asyncio.gather(*(switch.worker._settle() for _ in range(5)))

    assert await switch.models() == {"old": "retired", "new": "current"}


async def test_the_old_vectors_go_a_day_after(switch: Switch) -> None:
    await switch.worker.drain()
    await maintain(switch.pool)
    assert await switch.models() == {"old": "retired", "new": "current"}

    await switch.pool.execute(
        "update pgrecall.embedding_models set retired_at = now() - interval '2 days'"
        " where model = 'old'"
    )
    await maintain(switch.pool)
    assert await switch.models() == {"new": "current"}
    assert await switch.pool.fetchval("select to_regclass('pgrecall.embeddings_old')") is None
    assert await switch.pool.fetchval(
        "select array_agg(distinct model) from pgrecall.embeddings"
    ) == ["new"]
