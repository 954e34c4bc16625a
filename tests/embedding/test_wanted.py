"""A text that could not be embedded on its way in has its embedding by the next call."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import asyncpg
import pytest

from embedding.backfill import Backfill
from embedding.queries import QueryEmbeddings
from embedding.wanted import WantedQueries
from sql import agents
from tests.hash_embedder import HashEmbedder

LATERAL = """
select r.degraded, r.vector_rank from (values ('billing rollback'), ('bastion port')) t(subject),
    lateral memory.recall(t.subject, k => 1) r"""


@pytest.fixture
async def remembered(pool: asyncpg.Pool, embedder: HashEmbedder) -> None:
    await agents.add_agent(pool, "ada")
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        await connection.execute(
            "select memory.remember(c) from unnest(array['billing rollback of May',"
            " 'bastion port is 49222']) c"
        )
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    await backfill.drain()


async def ask(pool: asyncpg.Pool) -> list[tuple[str | None, int | None]]:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        return [tuple(row) for row in await connection.fetch(LATERAL)]


async def test_columns_are_hybrid_from_the_next_run_on(
    pool: asyncpg.Pool, embedder: HashEmbedder, remembered: None
) -> None:
    working = asyncio.create_task(WantedQueries(pool, QueryEmbeddings(embedder)).run())
    try:
        async with asyncio.timeout(20):
            while (answers := await ask(pool)) != [(None, 1), (None, 1)]:
                assert all(degraded in (None, "no query embedding") for degraded, _ in answers)
                await asyncio.sleep(0.02)
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    assert await pool.fetchval("select count(*) from pgrecall.query_embeddings") == 2


async def test_a_failed_embedding_is_not_kept(pool: asyncpg.Pool, remembered: None) -> None:
    await pool.execute(
        "select pgrecall.keep_query_embeddings(array['a'], array['test-hash ! away'])"
    )

    assert await pool.fetchval("select count(*) from pgrecall.query_embeddings") == 0


async def test_the_table_is_bounded(pool: asyncpg.Pool, remembered: None) -> None:
    await pool.execute(
        "insert into pgrecall.query_embeddings select 'test-hash', int4send(n), '[1]',"
        " now() - make_interval(secs => n) from generate_series(1, 10050) n"
    )
    await pool.execute("select pgrecall.keep_query_embeddings(array['a'], array['test-hash [1]'])")

    assert await pool.fetchval("select count(*) from pgrecall.query_embeddings") == 10_000
