"""Scrubbing a store: table by table, with locks that end, and the vector index beside it."""

from __future__ import annotations

import pytest

from embedding.backfill import Backfill
from sql.errors import InvalidInput, Unavailable
from sql.maintenance import maintain
from sql.records import NewMemory
from sql.scrubbing import Scrubbed, scrub

INDEXES = """
select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
join pg_am a on a.oid = c.relam where a.amname = 'hnsw'
"""


@pytest.fixture
async def scrubbed(pool):
    """`await scrubbed(tables=…)`: what was written anew, also when it fails."""

    async def run(**options) -> list[Scrubbed]:
        done: list[Scrubbed] = []
        try:
            await scrub(pool, told=done.append, **options)
        finally:
            run.done = done
        return done

    return run


async def due(pool) -> bool:
    return await pool.fetchval("select exists (select from pgrecall.upkeep where task = 'scrub')")


@pytest.fixture
async def erased(remember, call):
    memory = await remember("to be erased", space="infra")
    await call("select memory.forget($1, 'erase')", memory.id)


async def test_every_table_that_can_hold_words_is_written_anew(pool, scrubbed, erased):
    assert await due(pool)

    done = await scrubbed()

    tables = {one.table for one in done}
    assert {"memories", "embeddings", "links", "recall_log", "quarantine", "pg_statistic"} <= tables
    assert tables & {"events", "chain_heads"} == set()
    assert all(one.locked_seconds >= 0 and one.bytes_after >= 0 for one in done)
    assert not await due(pool)


async def test_one_table_alone_leaves_the_rest_due(pool, scrubbed, erased):
    assert [one.table for one in await scrubbed(tables=["memories"])] == ["memories"]
    assert await due(pool)


@pytest.mark.parametrize("table", ["events", "nothing", "", "memories; drop table x", "pg_class"])
async def test_a_table_that_there_is_not_is_refused_before_anything_is_done(table, scrubbed):
    with pytest.raises(InvalidInput, match="no table"):
        await scrubbed(tables=["memories", table])
    assert scrubbed.done == []


async def test_a_table_in_use_is_left_out_and_named_and_stays_due(pool, scrubbed, erased):
    async with pool.acquire() as reader, reader.transaction():
        await reader.fetch("select from pgrecall.links")
        with pytest.raises(Unavailable, match="somebody holds them: links"):
            await scrubbed(lock_timeout_seconds=1)

    assert {"memories", "embeddings"} <= {one.table for one in scrubbed.done}
    assert await due(pool)
    await scrubbed(lock_timeout_seconds=1)
    assert not await due(pool)


async def test_the_vector_index_is_built_anew_beside_and_recall_finds_as_before(
    pool, store, ada, embedder, recall, scrubbed
):
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    for number in range(20):
        await store.remember(ada, NewMemory(content=f"note {number} of the bastion"))
    await backfill.drain()
    indexes = await pool.fetch(INDEXES)
    before = await recall("note 7", mode="vector")
    assert [row["indisvalid"] for row in indexes] == [True]

    await scrubbed(vectors_apart=True)

    assert await pool.fetch(INDEXES) == indexes
    after = await recall("note 7", mode="vector")
    assert [(r.id, r.distance) for r in after.results] == [
        (r.id, r.distance) for r in before.results
    ]


async def test_the_vector_index_comes_back_where_a_scrub_fails_or_was_interrupted(
    pool, embedder, scrubbed
):
    await Backfill(pool, embedder).use_model()
    indexes = await pool.fetch(INDEXES)
    async with pool.acquire() as reader, reader.transaction():
        await reader.fetch("select from pgrecall.embeddings")
        with pytest.raises(Unavailable, match="embeddings"):
            await scrubbed(tables=["embeddings"], vectors_apart=True, lock_timeout_seconds=1)
        assert await pool.fetch(INDEXES) == indexes
    name = indexes[0]["relname"]
    await pool.execute(f'drop index pgrecall."{name}"')

    await scrubbed(vectors_apart=True)

    assert await pool.fetch(INDEXES) == indexes


async def test_maintenance_that_finds_a_table_in_use_scrubs_at_its_next_turn(pool, erased):
    async with pool.acquire() as reader, reader.transaction():
        await reader.fetch("select from pgrecall.links")
        with pytest.raises(Unavailable):
            await maintain(pool)
        assert await due(pool)

    await maintain(pool)
    assert not await due(pool)
