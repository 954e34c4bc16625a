"""Two writers on one memory: one wins, the other is told, and nothing is lost."""

import asyncio
from itertools import pairwise

import asyncpg
import pytest

from sql.errors import Stale
from tests.store.conftest import until_somebody_waits


async def test_a_revision_of_a_version_that_is_not_the_newest_is_stale(remember, change):
    first = await remember("x")
    await change(first, expected=[1], content="y")

    with pytest.raises(Stale, match="is at version 2"):
        await change(first, expected=[1], content="z")


async def test_of_two_writers_on_one_head_one_wins_and_the_other_is_told(remember, as_agent, pool):
    memory = await remember("x")
    async with as_agent("ada") as winner:
        await winner.execute("select revise($1, 'first')", memory.id)

        async def second():
            async with as_agent("ada") as loser:
                await loser.execute("select revise($1, 'second')", memory.id)

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    with pytest.raises(asyncpg.SerializationError, match="is at version 2 now, not 1"):
        await waiting

    rows = await pool.fetch(
        "select version, content from pgrecall.memories where superseded_at is null"
    )
    assert [tuple(row) for row in rows] == [(2, "first")]


async def test_a_writer_that_waits_for_a_revision_still_forgets_the_memory(
    remember, as_agent, pool
):
    memory = await remember("x")
    async with as_agent("ada") as first:
        await first.execute("select revise($1, 'y')", memory.id)

        async def second():
            async with as_agent("ada") as connection:
                return await connection.fetchval("select forget($1, 'erase')", memory.id)

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    assert (await waiting).startswith("erased 2 versions")


async def test_many_revisions_at_once_leave_one_chain_and_lose_none(remember, as_agent, pool):
    memory = await remember("x")

    async def writer(number: int) -> int:
        done = 0
        for turn in range(5):
            try:
                async with as_agent("ada") as connection:
                    await connection.execute("select revise($1, $2)", memory.id, f"{number}.{turn}")
                done += 1
            except asyncpg.SerializationError:
                pass
        return done

    done = sum(await asyncio.gather(*(writer(number) for number in range(4))))

    rows = await pool.fetch(
        "select version, superseded_at is null as head, superseded_at, created_at"
        " from pgrecall.memories order by version"
    )
    assert [row["version"] for row in rows] == list(range(1, done + 2))
    assert [row["head"] for row in rows] == [False] * done + [True]
    for one, following in pairwise(rows):
        assert one["superseded_at"] == following["created_at"]


async def test_a_keyed_memory_refined_at_once_keeps_every_word_of_both(remember, as_agent, pool):
    memory = await remember("x", key="k")
    async with as_agent("ada") as first:
        await first.execute("select remember('y', key => 'k', title => 'T')")

        async def second():
            async with as_agent("ada") as connection:
                await connection.execute("select remember('z', key => 'k', entity => 'e')")

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    await waiting

    row = await pool.fetchrow(
        "select id, version, content, title, entity from pgrecall.memories"
        " where superseded_at is null"
    )
    assert tuple(row) == (memory.id, 3, "z", "T", "e")
