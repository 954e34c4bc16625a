"""How many events a second verify() checks, and what the log costs eight writers of remember()."""

from __future__ import annotations

import argparse
import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final

import psutil
from rich.console import Console

from bench.deployment import Deployment, deployment, load_average
from sql import agents, loader
from sql.acting import acting
from sql.agents import Agent
from sql.errors import NotFound
from sql.pool import Pool, create_pool
from sql.records import NewMemory
from sql.writing import write

WRITERS: Final = 8
BATCH: Final = 1000
# Nothing is appended, and nothing hashed that would be.
_NO_LOG: Final = """
create or replace function pgrecall.append_event(
    target text, who text, action text, id uuid, version int, payload jsonb, commitment bytea
) returns void language plpgsql set search_path = pg_catalog, pg_temp as 'begin end';
create or replace function pgrecall.append_remembered(
    target text, who text, fresh pgrecall.memories[]
) returns void language plpgsql set search_path = pg_catalog, pg_temp as 'begin end';
create or replace function pgrecall.commitment(m pgrecall.memories) returns bytea
language sql stable parallel safe return null::bytea"""
_LOG: Final = (
    "pgrecall.append_event.sql",
    "pgrecall.append_remembered.sql",
    "pgrecall.commitment.sql",
)
console = Console()


def _memory(space: str, number: int) -> NewMemory:
    return NewMemory(
        content=f"Deploy {number} of the billing service was rolled back after error {number % 97}"
        f" in region eu-{number % 7}; the on-call engineer restored v1.{number}.2",
        space=space,
        entity=f"service-{number % 50}",
        tags=["deploy"],
    )


async def fill(run_on: Deployment, events: int) -> None:
    """Append at least that many events to chains of eight spaces."""
    each = -(-events // WRITERS)
    for writer in range(WRITERS):
        space = f"verify-{writer}-{uuid.uuid4()}"
        for first in range(0, each, BATCH):
            numbers = range(first, min(first + BATCH, each))
            async with acting(run_on.pool, run_on.agent) as connection:
                memories = [_memory(space, number) for number in numbers]
                await write(connection, run_on.agent, memories)
    await run_on.pool.execute("vacuum analyze pgrecall.events")
    await run_on.pool.execute("vacuum analyze pgrecall.memories")


async def verified(run_on: Deployment, rounds: int) -> tuple[int, float, float]:
    """Return how many events verify() checked, and medians: seconds, and the backend's own."""
    walls, cpus, events = [], [], 0
    async with run_on.pool.acquire() as connection:
        backend = psutil.Process(connection.get_server_pid())
        for _ in range(rounds):
            began, used = time.perf_counter(), _cpu_seconds(backend)
            rows = await connection.fetch(
                "select * from pgrecall.verify_chains(null, null, null, null)", timeout=600
            )
            walls.append(time.perf_counter() - began)
            cpus.append(_cpu_seconds(backend) - used)
            assert all(row["valid"] for row in rows)
            events = sum(row["events"] for row in rows)
    return events, median(walls), median(cpus)


def _cpu_seconds(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return spent.user + spent.system


async def writes(pool: Pool, writers: Sequence[Agent], seconds: float) -> float:
    """Return writes a second of all the writers, each in a space of its own."""
    ends = time.perf_counter() + seconds

    async def one(agent: Agent) -> int:
        space, number = f"~{agent.name}", 0
        mark = uuid.uuid4()
        while time.perf_counter() < ends:
            memory = _memory(space, number).model_copy(update={"thread": None, "title": f"{mark}"})
            memory.content += f" {mark}"
            async with acting(pool, agent) as connection:
                await write(connection, agent, [memory])
            number += 1
        return number

    began = time.perf_counter()
    done = await asyncio.gather(*(one(agent) for agent in writers))
    return sum(done) / (time.perf_counter() - began)


async def _switch(run_on: Deployment, on: bool) -> None:
    """Put the functions that log in place, or such as do nothing."""
    scripts = {script.name: script.text for script in loader.scripts("functions")}
    async with run_on.pool.acquire() as connection, connection.transaction():
        await connection.execute("set local role pgrecall_owner")
        for text in [scripts[name] for name in _LOG] if on else [_NO_LOG]:
            await connection.execute(text)


@dataclass(frozen=True, slots=True)
class WriteCost:
    """Of a way of writing, medians over rounds: writes a second, and the backends' CPU for one."""

    rate: float
    cpu_milliseconds: float


async def share_kept(
    run_on: Deployment, rounds: int, seconds: float
) -> tuple[WriteCost, WriteCost]:
    """Return what writes cost with the log and without it, in rounds that alternate.

    Processor time tells the one from the other where the machine has other work to do too.
    """
    writers = [await _writer(run_on.pool, number) for number in range(WRITERS)]
    pool = await create_pool(run_on.postgres.app_dsn, min_size=WRITERS, max_size=WRITERS)
    rates: dict[bool, list[float]] = {True: [], False: []}
    cpus: dict[bool, list[float]] = {True: [], False: []}
    try:
        await writes(pool, writers, seconds / 2)  # plans and caches
        backends = await _backends(pool)
        for number in range(2 * rounds):
            on = number % 4 in (0, 3)  # neither always comes first
            await _switch(run_on, on)
            used = sum(map(_cpu_seconds, backends))
            rate = await writes(pool, writers, seconds)
            rates[on].append(rate)
            cpus[on].append((sum(map(_cpu_seconds, backends)) - used) / (rate * seconds))
    finally:
        await _switch(run_on, True)
        await pool.close()
    logged, bare = (WriteCost(median(rates[on]), 1000 * median(cpus[on])) for on in (True, False))
    return logged, bare


async def _backends(pool: Pool) -> list[psutil.Process]:
    """Return the processes behind all of a pool's connections."""
    async with AsyncExitStack() as held:
        taken = [await held.enter_async_context(pool.acquire()) for _ in range(pool.get_size())]
        return [psutil.Process(connection.get_server_pid()) for connection in taken]


async def _writer(pool: Pool, number: int) -> Agent:
    name = f"writer-{number}"
    try:
        return await agents.find_agent(pool, name)
    except NotFound:
        await agents.add_agent(pool, name)
        return await agents.find_agent(pool, name)


async def run(events: int, rounds: int, seconds: float) -> tuple[float, float]:
    """Measure both, and empty the database; return events a second and the share of writes kept."""
    async with deployment("log") as run_on:
        await _empty(run_on)
        await _switch(run_on, True)
        await fill(run_on, events)
        checked, wall, cpu = await verified(run_on, 5)
        console.print(
            f"verify: {checked:,} events, {checked / wall:,.0f}/s"
            f" ({checked / cpu if cpu else 0:,.0f} a second of its CPU)"
        )
        console.print(load_average())
        with_log, without = await share_kept(run_on, rounds, seconds)
        console.print(
            f"remember, {WRITERS} writers: {with_log.rate:,.0f}/s with the log,"
            f" {without.rate:,.0f}/s without: {with_log.rate / without.rate:.2f} of it;"
            f" CPU of a write {with_log.cpu_milliseconds:.1f} and"
            f" {without.cpu_milliseconds:.1f} ms:"
            f" {without.cpu_milliseconds / with_log.cpu_milliseconds:.2f}"
        )
        console.print(load_average())
        await _empty(run_on)
    return checked / wall, with_log.rate / without.rate


async def _empty(run_on: Deployment) -> None:
    await run_on.pool.execute(
        "truncate pgrecall.memories, pgrecall.embedding_queue, pgrecall.events,"
        " pgrecall.chain_heads cascade"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench log")
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument(
        "--rounds", type=int, default=6, help="of writing, with the log and without"
    )
    parser.add_argument("--seconds", type=float, default=4, help="a round of writing takes")
    given = parser.parse_args(arguments)
    asyncio.run(run(given.events, given.rounds, given.seconds))
