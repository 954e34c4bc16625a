"""The back-fill worker on a real Postgres: outages, refusals, rivals and erasure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg
import pytest

from embedding.backfill import Backfill
from embedding.maker import EmbedderUnavailable, TextRefused, Vectors
from sql.agents import Agent
from sql.errors import Unavailable
from sql.records import NewMemory, failed_embedding
from sql.store import MemoryStore
from tests.conftest import Database
from tests.embedding.waiting import until
from tests.hash_embedder import HashEmbedder


class Moody(HashEmbedder):
    """Refuses texts with "poison"; `away` makes it unavailable, `hold` keeps it busy."""

    def __init__(self, model: str = "test-hash") -> None:
        self.model = model
        self.away = False
        self.calls = 0
        self.hold = asyncio.Event()
        self.hold.set()
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        self.calls += 1
        await self.hold.wait()
        if self.away:
            raise EmbedderUnavailable("away")
        if any("poison" in text for text in texts):
            raise TextRefused("not this one")
        self.texts.extend(texts)
        return await super().embed_passages(texts)


@pytest.fixture
def maker() -> Moody:
    return Moody()


@pytest.fixture
def store(pool: asyncpg.Pool) -> MemoryStore:
    async def no_embedding(text: str) -> str:
        return failed_embedding("test-hash", "not now")

    return MemoryStore(pool, no_embedding)


@asynccontextmanager
async def running(backfill: Backfill) -> AsyncIterator[None]:
    work = asyncio.create_task(backfill.run())
    try:
        yield
    finally:
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


async def embedded(pool: asyncpg.Pool, model: str = "test-hash") -> int:
    return await pool.fetchval(
        "select count(distinct id) from pgrecall.embeddings where model = $1", model
    )


def memories(*contents: str) -> list[NewMemory]:
    return [NewMemory(content=content) for content in contents]


async def test_a_memory_has_its_vector_within_a_second_of_the_write(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    async with running(backfill):
        await until(lambda: backlog_is(backfill, 0))
        await store.remember(ada, NewMemory(content="Bastion listens on 49222"))

        async def stored() -> bool:
            return await embedded(pool) == 1

        await until(stored, seconds=1.5)


async def backlog_is(backfill: Backfill, count: int) -> bool:
    return backfill.backlog == count


async def test_a_long_memory_has_a_vector_for_each_chunk(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    await backfill.use_model()
    await store.remember(ada, NewMemory(content="word " * 450))
    assert await backfill.drain() == 1
    assert await pool.fetchval("select count(*) from pgrecall.embeddings") == 3


async def test_one_refused_text_does_not_keep_the_others_waiting(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    await backfill.use_model()
    await store.remember_many(ada, memories("first", "poison", "third"))
    assert await backfill.drain() == 2
    assert backfill.backlog == 1
    assert backfill.trouble == "not this one"
    calls = maker.calls
    assert await backfill.drain() == 0
    assert maker.calls == calls, "its lease keeps it from being tried at once"


async def test_an_embedder_that_comes_back_finds_everything_due(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    maker.away = True
    backfill = Backfill(pool, maker, poll_seconds=0.05)
    await store.remember_many(ada, memories("first", "second"))
    async with running(backfill):

        async def troubled() -> bool:
            return backfill.trouble == "away"

        await until(troubled)
        maker.away = False

        async def stored() -> bool:
            return await embedded(pool) == 2 and backfill.trouble is None

        await until(stored)
    assert maker.calls < 10


async def test_two_workers_share_the_queue_and_embed_nothing_twice(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    await Backfill(pool, maker).use_model()
    await store.remember_many(ada, memories(*(f"memory {number}" for number in range(100))))
    rivals = [Backfill(pool, maker, batch=8) for _ in range(2)]
    done = await asyncio.gather(*(rival.drain() for rival in rivals))
    assert sum(done) == await embedded(pool) == 100
    assert all(done)
    assert len(maker.texts) == len(set(maker.texts)) == 100


async def test_a_memory_erased_while_it_is_embedded_leaves_no_vector(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    await backfill.use_model()
    gone, stays = await store.remember_many(ada, memories("gone", "stays"))
    maker.hold.clear()
    draining = asyncio.create_task(backfill.drain())

    async def busy() -> bool:
        return maker.calls == 1

    await until(busy)
    await pool.execute("delete from pgrecall.memories where id = $1", gone.id)
    maker.hold.set()
    assert await draining == 1
    assert await pool.fetch("select id from pgrecall.embeddings") == [(stays.id,)]


async def test_nothing_is_locked_while_vectors_are_made(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    await backfill.use_model()
    await store.remember(ada, NewMemory(content="first"))
    maker.hold.clear()
    draining = asyncio.create_task(backfill.drain())

    async def busy() -> bool:
        return maker.calls == 1

    await until(busy)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("lock table pgrecall.memories, pgrecall.embedding_queue nowait")
    maker.hold.set()
    assert await draining == 1


async def test_the_worker_outlives_its_connections(
    database: Database, pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    backfill = Backfill(pool, maker)
    async with running(backfill):
        await until(lambda: backlog_is(backfill, 0))
        killer = await asyncpg.connect(database.superuser_dsn)
        await killer.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
        await killer.close()

        async def remembered() -> bool:
            try:
                await store.remember(ada, NewMemory(content="first"))
            except Unavailable:  # a connection that the pool didn't know to be dead
                return False
            return True

        await until(remembered)

        async def stored() -> bool:
            return await embedded(pool) == 1

        await until(stored)


async def test_another_model_embeds_everything_again_and_fresh_memories_first(
    pool: asyncpg.Pool, store: MemoryStore, ada: Agent, maker: Moody
) -> None:
    first = Backfill(pool, maker)
    await first.use_model()
    await store.remember_many(ada, memories("old one", "old two"))
    await first.drain()
    other = Moody("test-other")
    second = Backfill(pool, other, batch=1)
    await second.use_model()
    await store.remember(ada, NewMemory(content="fresh"))
    assert await second.drain() == 3
    assert other.texts[0] == "fresh"
    assert await embedded(pool, "test-other") == 3
