"""Transactions that Postgres takes for an agent's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import asyncpg

from sql.agents import Agent
from sql.errors import Forbidden, Unavailable, translated
from sql.loader import queries
from sql.pool import Connection, Pool

Answer = TypeVar("Answer")

_QUERIES: Final = queries("acting")
_ACQUIRE_SECONDS: Final = 10


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """Yield a connection in a transaction of the app role; errors come out as `sql.errors`."""
    with translated():
        async with (
            pool.acquire(timeout=_ACQUIRE_SECONDS) as connection,
            connection.transaction(),
        ):
            yield connection


async def act_as(connection: Connection, agent: Agent) -> None:
    """Make the rest of the transaction the agent's."""
    await connection.execute(_QUERIES["act_as"], agent.name, agent.role)


async def act_as_app(connection: Connection) -> None:
    """Give the rest of the transaction back to the app role."""
    await connection.execute(_QUERIES["act_as_app"])


@asynccontextmanager
async def acting(pool: Pool, agent: Agent) -> AsyncIterator[Connection]:
    """Yield a connection whose transaction Postgres takes for the agent's own."""
    async with transaction(pool) as connection:
        await act_as(connection, agent)
        yield connection


@asynccontextmanager
async def changing(pool: Pool, agent: Agent) -> AsyncIterator[Connection]:
    """Yield what acting() does, to an agent that may change something; raises Forbidden."""
    if agent.reader:  # Postgres refuses too, in words about a function
        raise Forbidden(f'agent "{agent.name}" only reads', sqlstate="42501")
    async with acting(pool, agent) as connection:
        yield connection


async def read(pool: Pool, agent: Agent, query: str, *arguments: Any) -> list[asyncpg.Record]:
    """Run one reading query as the agent; once more, when the connection proved to be dead."""
    return await read_by(pool, agent, lambda connection: connection.fetch(query, *arguments))


async def read_by(
    pool: Pool, agent: Agent, work: Callable[[Connection], Awaitable[Answer]]
) -> Answer:
    """Do reading work as the agent; once more, when the connection proved to be dead."""
    try:
        async with acting(pool, agent) as connection:
            return await work(connection)
    except Unavailable:
        async with acting(pool, agent) as connection:
            return await work(connection)
