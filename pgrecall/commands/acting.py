"""The store for commands that change who may do what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder

if TYPE_CHECKING:
    from sql.agents import Agent
    from sql.pool import Pool


@asynccontextmanager
async def opened_pool(settings: Settings) -> AsyncIterator[Pool]:
    """Yield connections to the database, which is started where nobody runs it."""
    from pgrecall.database import opened_database
    from sql.pool import create_pool

    async with opened_database(settings) as database:
        pool = await create_pool(database.dsn, min_size=1, max_size=2)
        try:
            yield pool
        finally:
            await pool.close()


@asynccontextmanager
async def acting_as(settings: Settings, agent: str | None) -> AsyncIterator[tuple[Pool, Agent]]:
    """Yield connections, and the agent to act as; the first one by default."""
    from pgrecall.first_agent import ensure_first_agent
    from sql.agents import find_agent

    async with opened_pool(settings) as pool:
        first = await ensure_first_agent(pool, StateFolder(settings.state_dir))
        yield pool, await find_agent(pool, agent or first)
