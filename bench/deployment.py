"""A Postgres of the benchmarks' own, kept between runs, with one agent that loads and asks."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from sql import agents
from sql.agents import Agent
from sql.errors import NotFound
from sql.migrate import migrate
from sql.pool import Pool, create_pool

CACHE_VARIABLE = "PGRECALL_BENCH_CACHE"


def cache_folder() -> Path:
    """Return where vectors and databases are kept; PGRECALL_BENCH_CACHE moves it."""
    return Path(os.environ.get(CACHE_VARIABLE, "~/.cache/pgrecall-bench")).expanduser()


@dataclass(frozen=True, slots=True)
class Deployment:
    """A running, migrated database: `agent` administers the spaces that the benchmarks make."""

    postgres: EmbeddedPostgres
    pool: Pool
    agent: Agent


@asynccontextmanager
async def deployment(name: str) -> AsyncIterator[Deployment]:
    """Start the database of that name in the cache folder, as `up` would run it."""
    state = StateFolder(cache_folder() / "states" / name)
    with state.claim():
        postgres = EmbeddedPostgres(state)
        await postgres.start()
        try:
            await migrate(postgres.app_dsn)
            pool = await create_pool(postgres.app_dsn, min_size=1, max_size=4)
            try:
                yield Deployment(postgres, pool, await _agent(pool))
            finally:
                await pool.close()
        finally:
            await postgres.stop()


async def _agent(pool: Pool) -> Agent:
    try:
        return await agents.find_agent(pool, "bench")
    except NotFound:
        await agents.add_agent(pool, "bench", admin=True)
        return await agents.find_agent(pool, "bench")


def load_average() -> str:
    """Return the machine's load, to be printed beside every figure."""
    return f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores"
