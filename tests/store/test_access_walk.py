"""What every agent may read, change and share: the store against an oracle, step by step.

A walk that fails is cut down to the moves it needs, and printed as SQL to be run by hand.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Complaint:
    """Where the store and the oracle disagree, and the steps that had been walked by then."""

    told: str
    steps: Steps


def complaint(world: World, steps: Steps) -> Complaint | None:
    """Walk the steps in an empty store."""
    walked = 0
    try:
        moves = Moves(world)
        for walked, (move, number) in enumerate(steps, 1):  # noqa: B007
            moves.step(move, number)
        for agent in sorted(world.oracle.agents):
            moves.lookout.recall(agent)
    except AssertionError as error:
        return Complaint(str(error), steps[:walked])
    return None


def shrunk(world: World, failed: Complaint) -> Complaint:
    """Leave out what is not needed to fail: halves, then quarters, down to single moves."""
    size = len(failed.steps) // 2
    while size:
        start = 0
        while start < len(failed.steps):
            fewer = failed.steps[:start] + failed.steps[start + size :]
            if again := complaint(world, fewer):
                failed = again
            else:
                start += size
        size //= 2
    return failed


async def walk(dsn: str, seeds: Iterator[int] | range) -> None:
    def drive() -> None:
        world = World(dsn)
        try:
            for seed in seeds:
                if failed := complaint(world, drawn(seed)):
                    pytest.fail(f"walk {seed}: {shrunk(world, failed).told}")
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
