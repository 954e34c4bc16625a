"""How many memories a second remember() takes, in batches of 1,000 and one by one; no embedding.

Batches are also written in words that stand in other spaces already: those are looked up as echoes.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from statistics import median
from typing import Final

from rich.console import Console

from bench.deployment import Deployment, deployment, load_average
from embedding.queries import QueryEmbeddings
from sql.records import NewMemory
from sql.store import MemoryStore

BATCH: Final = 1000
ROUNDS: Final = 7
console = Console()


def _memory(space: str, number: int, release: int) -> NewMemory:
    return NewMemory(
        content=f"Deploy {number} of the billing service was rolled back after error {number % 97}"
        f" in region eu-{number % 7}; the on-call engineer restored v{release}.{number}.2",
        space=space,
        entity=f"service-{number % 50}",
        tags=["deploy"],
    )


async def batches(run_on: Deployment, *, repeated: bool = False) -> float:
    """Return the median rows a second over rounds of one batch each, in new words or the same."""
    store = MemoryStore(run_on.pool, QueryEmbeddings(None))
    rates = []
    for turn in range(ROUNDS):
        space = f"writes-{uuid.uuid4()}"
        release = 0 if repeated else turn
        memories = [_memory(space, number, release) for number in range(BATCH)]
        started = time.perf_counter()
        await store.remember_many(run_on.agent, memories)
        rates.append(BATCH / (time.perf_counter() - started))
    return median(rates)


async def single(run_on: Deployment) -> float:
    """Return writes a second of one caller, each in a transaction of its own."""
    store = MemoryStore(run_on.pool, QueryEmbeddings(None))
    space = f"writes-{uuid.uuid4()}"
    started = time.perf_counter()
    for number in range(200):
        await store.remember(run_on.agent, _memory(space, number, ROUNDS))
    return 200 / (time.perf_counter() - started)


async def run() -> None:
    """Measure both, and leave the database as it was."""
    async with deployment("writes") as run_on:
        console.print(f"remember_many, batches of {BATCH:,}: {await batches(run_on):,.0f} rows/s")
        console.print(
            f"the same in words said before: {await batches(run_on, repeated=True):,.0f} rows/s"
        )
        console.print(f"remember, one by one: {await single(run_on):,.0f} writes/s")
        console.print(load_average())
        await run_on.pool.execute(
            "truncate pgrecall.memories, pgrecall.embedding_queue, pgrecall.events,"
            " pgrecall.chain_heads cascade"
        )


def main() -> None:
    asyncio.run(run())
