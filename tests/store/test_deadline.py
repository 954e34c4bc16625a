"""A recall whose time is up answers with what it has, and says what it left out."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from sql.agents import Agent

VECTOR = "'test-hash [" + ",".join(["0.1"] * 384) + "]'"


async def recalled(
    pool: asyncpg.Pool, agent: Agent, deadline: str | None, arguments: str = "'deploy'"
) -> tuple[list[asyncpg.Record], list[str]]:
    notices: list[str] = []
    async with pool.acquire() as connection, connection.transaction():
        if deadline is not None:
            await connection.execute(
                "select set_config('pgrecall.deadline_ms', $1, true)", deadline
            )
        connection.add_log_listener(listen := lambda _, notice: notices.append(notice.message))
        await connection.execute("select set_config('pgrecall.agent', $1, true)", agent.name)
        try:
            rows = await connection.fetch(
                f"select * from memory.recall({arguments}, query_embedding => {VECTOR})"
            )
            await asyncio.sleep(0)  # listeners are called in the loop's next round
        finally:
            connection.remove_log_listener(listen)
    return rows, notices


async def test_the_lexical_leg_answers_when_no_time_is_left_for_the_vector_leg(
    pool, ada, remember, embed
):
    await remember("deploy one")
    await remember("something else")
    await embed()

    rows, notices = await recalled(pool, ada, "0.001")

    assert [(row["content"], row["vector_rank"]) for row in rows] == [("deploy one", None)]
    assert rows[0]["degraded"] == "the deadline passed before the vector leg"
    assert notices == ["recall() left out the vector leg: its deadline of 0.001 ms has passed"]


@pytest.mark.parametrize("deadline", [None, "", "0", "60000"])
async def test_nothing_is_left_out_in_time(pool, ada, remember, embed, deadline):
    await remember("deploy one")
    await remember("something else")
    await embed()

    rows, notices = await recalled(pool, ada, deadline)

    assert [row["degraded"] for row in rows] == [None, None]
    assert notices == []


async def test_each_recall_of_a_statement_has_its_own_time(pool, ada, remember, embed):
    await remember("deploy one")
    await embed()

    for deadline, said in (("0.001", "the deadline passed before the vector leg"), ("0", None)):
        for _ in range(2):
            rows, _ = await recalled(pool, ada, deadline)
            assert [row["degraded"] for row in rows] == [said]


async def test_a_vector_recall_is_never_left_without_its_only_leg(pool, ada, remember, embed):
    await remember("deploy one")
    await embed()

    rows, _ = await recalled(pool, ada, "0.001", "'deploy', mode => 'vector'")

    assert len(rows) == 1


async def test_a_recall_that_found_nothing_by_words_goes_on_past_its_deadline(
    pool, ada, remember, embed
):
    await remember("deploy one")
    await embed()

    rows, notices = await recalled(pool, ada, "0.001", "'zebra'")

    assert [row["content"] for row in rows] == ["deploy one"]
    assert notices == []


@pytest.mark.parametrize("deadline", ["soon", "NaN"])
async def test_a_deadline_that_is_no_number_is_refused(pool, ada, deadline):
    with pytest.raises(
        asyncpg.InvalidParameterValueError, match="must be a number of milliseconds"
    ):
        await recalled(pool, ada, deadline)
