"""`pgrecall mcp`: MCP over standard input and output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from embedding import QueryEmbeddings
from embedding.backfill import Backfill
from mcp_server import Caller, run_bridge, run_stdio
from pgrecall import __version__
from pgrecall.database import require_ready
from pgrecall.embedders import serving_embedder
from pgrecall.endpoints import Credentials, Endpoints
from pgrecall.first_agent import ensure_first_agent
from pgrecall.settings import Settings
from pgrecall.shared_postgres import shared_postgres
from pgrecall.state_folder import StateFolder
from sql import recall_log
from sql.agents import find_agent
from sql.migrate import migrate
from sql.pool import create_pool
from sql.store import MemoryStore


async def serve_stdio(settings: Settings, agent: str | None) -> None:
    """Serve one MCP client as the agent, the first one by default, until it closes.

    Through a running `up` where that knows the agent by a token at hand, which saves a second
    copy of the model; else straight at the database, which is started if nobody runs it.
    """
    state = StateFolder(settings.state_dir)
    running = Endpoints.read(state)
    token = _token(state, agent)
    if running is not None and token is not None:
        await run_bridge(running.mcp, token)
    else:
        await run_stdio(
            lambda: _caller(settings, state, agent),
            version=__version__,
            groups=settings.mcp_tools,
        )


def _token(state: StateFolder, agent: str | None) -> str | None:
    kept = Credentials.read(state)
    if agent is None and (given := os.environ.get("PGRECALL_TOKEN")):
        return given
    return kept.token if kept and agent in (None, kept.agent) else None


@asynccontextmanager
async def _caller(
    settings: Settings, state: StateFolder, agent: str | None
) -> AsyncIterator[Caller]:
    serving = serving_embedder(settings)
    async with _database(settings, state) as dsn:
        pool = await create_pool(dsn, min_size=1, max_size=5)
        behind = [recall_log.run(pool)]
        if serving is not None:
            behind.append(Backfill(pool, serving.wanted, serving=serving).run())
        working = [asyncio.create_task(work) for work in behind]
        try:
            first = await ensure_first_agent(pool, state)
            store = MemoryStore(pool, QueryEmbeddings(serving))
            yield Caller(store, pool, await find_agent(pool, agent or first))
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
            await pool.close()
            if serving is not None:
                await serving.close()


@asynccontextmanager
async def _database(settings: Settings, state: StateFolder) -> AsyncIterator[str]:
    if settings.database_dsn:
        await require_ready(settings.database_dsn)
        await migrate(settings.database_dsn)
        yield settings.database_dsn
    else:
        async with shared_postgres(state, "mcp") as postgres:
            yield postgres.app_dsn
