"""An MCP server over stdio for tests: `python -m tests.fronts.stdio_server DSN AGENT`."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from embedding.queries import QueryEmbeddings
from mcp_server import Caller, run_stdio
from sql.agents import find_agent
from sql.pool import create_pool
from sql.store import MemoryStore

dsn, agent = sys.argv[1:3]
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@asynccontextmanager
async def opened() -> AsyncIterator[Caller]:
    print("a stray line that must not reach the protocol")  # noqa: T201
    pool = await create_pool(dsn)
    try:
        yield Caller(MemoryStore(pool, QueryEmbeddings(None)), pool, await find_agent(pool, agent))
    finally:
        await pool.close()


asyncio.run(run_stdio(opened, version="0"))
