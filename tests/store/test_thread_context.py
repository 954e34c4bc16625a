"""A turn's vector leans on its neighbours, and follows them as they come, change and go."""

import numpy as np
import pytest

from embedding.backfill import Backfill
from sql.agents import Agent


@pytest.fixture
async def backfill(pool, embedder) -> Backfill:
    made = Backfill(pool, embedder)
    await made.use_model()
    return made


async def searched(pool, memory) -> np.ndarray:
    text = await pool.fetchval(
        "select embedding::text from pgrecall.embeddings where id = $1 and head", memory.id
    )
    return np.array(text.strip("[]").split(","), dtype=float)


async def expected(embedder, own, before=None, after=None) -> np.ndarray:
    mixed = (await embedder.embed_passages([own]))[0][0].astype(float)
    for text, weight in ((before, 0.3), (after, 0.15)):
        if text is not None:
            mixed = mixed + weight * (await embedder.embed_passages([text]))[0][0]
    return mixed / np.linalg.norm(mixed)


async def test_each_turn_is_mixed_with_the_turns_beside_it(remember, pool, embedder, backfill):
    turns = ["shall we go hiking", "yes on sunday", "bring the red tent"]
    first, second, third = [await remember(turn, thread="trip") for turn in turns]
    await backfill.drain()

    wanted = [
        (first, await expected(embedder, turns[0], after=turns[1])),
        (second, await expected(embedder, turns[1], before=turns[0], after=turns[2])),
        (third, await expected(embedder, turns[2], before=turns[1])),
    ]
    for memory, vector in wanted:
        assert np.allclose(await searched(pool, memory), vector, atol=2e-3)


async def test_a_turn_revised_or_gone_leaves_its_neighbours_right(
    remember, pool, embedder, backfill, ada: Agent
):
    first = await remember("shall we go hiking", thread="trip", key="a")
    second = await remember("yes on sunday", thread="trip", key="b")
    await backfill.drain()

    await remember("no it will rain", thread="trip", key="b")
    await backfill.drain()
    assert np.allclose(
        await searched(pool, first),
        await expected(embedder, "shall we go hiking", after="no it will rain"),
        atol=2e-3,
    )

    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        await connection.execute("select memory.forget($1, 'erase')", second.id)
    assert np.allclose(
        await searched(pool, first), await expected(embedder, "shall we go hiking"), atol=2e-3
    )


async def test_a_private_turn_does_not_colour_a_shared_one(remember, pool, embedder, backfill):
    shared = await remember("deploy at noon", thread="t", space="infra")
    await remember("the password is swordfish", thread="t", space="infra", visibility="private")
    await backfill.drain()

    assert np.allclose(
        await searched(pool, shared), await expected(embedder, "deploy at noon"), atol=2e-3
    )


async def test_components_too_small_for_a_half_float_do_no_harm(remember, pool, embedder, backfill):
    first = await remember("one", thread="t")
    second = await remember("two", thread="t")
    tiny = "[" + ",".join(["1"] + ["6e-8"] * 383) + "]"
    for memory in (first, second):
        await pool.execute(
            "select pgrecall.store_embeddings($1, $2, 1, $3, $4)",
            memory.space,
            memory.id,
            embedder.model,
            [tiny],
        )

    assert (await searched(pool, first))[0] == pytest.approx(1, abs=1e-3)
