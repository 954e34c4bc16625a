"""What every agent may read, change and share: the store against an oracle, step by step.

A walk that fails is cut down to the moves it needs, and printed as SQL to be run by hand.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from random import Random

import pytest

from tests.store.moves import MOVES, Moves
from tests.store.world import World

STEPS = 100
Steps = list[tuple[str, int]]


def drawn(seed: int) -> Steps:
    rng = Random(seed)
    moves = rng.choices(list(MOVES), list(MOVES.values()), k=STEPS)
    return [(move, rng.getrandbits(32)) for move in moves]


def complaint(world: World, steps: Steps) -> str | None:
    """Walk the steps in an empty store; answer where it and the oracle disagree."""
    try:
        moves = Moves(world)
        for move, number in steps:
            moves.step(move, number)
        for agent in sorted(world.oracle.agents):
            world.check_recall(agent)
    except AssertionError as error:
        return str(error)
    return None


def shrunk(world: World, steps: Steps) -> Steps:
    """Leave out what is not needed to fail: halves, then quarters, down to single moves."""
    size = len(steps) // 2
    while size:
        start = 0
        while start < len(steps):
            fewer = steps[:start] + steps[start + size :]
            if complaint(world, fewer):
                steps = fewer
            else:
                start += size
        size //= 2
    return steps


async def walk(dsn: str, seeds: Iterator[int] | range) -> None:
    def drive() -> None:
        world = World(dsn)
        try:
            for seed in seeds:
                if complaint(world, drawn(seed)):
                    told = complaint(world, shrunk(world, drawn(seed)))
                    pytest.fail(f"walk {seed}: {told}")
        finally:
            world.close()

    await asyncio.to_thread(drive)


async def test_two_thousand_steps_agree_with_the_oracle(database):
    await walk(database.dsn, range(2_000 // STEPS))


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_fifty_thousand_steps_agree_with_the_oracle(database):
    start = int.from_bytes(os.urandom(4), "big")
    await walk(database.dsn, range(start, start + 50_000 // STEPS))
