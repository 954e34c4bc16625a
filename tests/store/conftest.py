"""Agents that write and read in a test's own database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from embedding.backfill import Backfill
from sql import agents
from sql.acting import act_as
from sql.agents import Agent
from sql.records import NewMemory, RecallAnswer, RecallQuery, Remembered
from sql.store import MemoryStore

AddAgent = Callable[..., Awaitable[Agent]]


@pytest.fixture
def add_agent(pool: asyncpg.Pool) -> AddAgent:
    """`await add_agent("ada", spaces=["infra"])`: no SQL login, so names may repeat over tests."""

    async def add(name: str, **options: Any) -> Agent:
        await agents.add_agent(pool, name, **options)
        return await agents.find_agent(pool, name)

    return add


@pytest.fixture
async def ada(add_agent: AddAgent) -> Agent:
    return await add_agent("ada", spaces=["infra"])


@pytest.fixture
def remember(store: MemoryStore, ada: Agent) -> Callable[..., Awaitable[Remembered]]:
    """`await remember("text", key="…")` as ada."""

    async def call(content: str, **fields: Any) -> Remembered:
        return await store.remember(ada, NewMemory(content=content, **fields))

    return call


@pytest.fixture
def recall(store: MemoryStore, ada: Agent) -> Callable[..., Awaitable[RecallAnswer]]:
    """`await recall("query", k=5)` as ada."""

    async def call(query: str, **fields: Any) -> RecallAnswer:
        return await store.recall(ada, RecallQuery(query=query, **fields))

    return call


@pytest.fixture
async def embed(pool, embedder) -> Callable[[], Awaitable[int]]:
    """`await embed()`: give every memory its vector."""
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    return backfill.drain


@pytest.fixture
def call(pool, ada) -> Callable[..., Awaitable[list[asyncpg.Record]]]:
    """`await call("select …", 1, agent=bob)`: rows, as the agent; ada if none is named."""

    async def run(statement: str, *arguments: Any, agent: Any = None) -> list[asyncpg.Record]:
        async with pool.acquire() as connection, connection.transaction():
            await act_as(connection, agent or ada)
            return await connection.fetch(statement, *arguments)

    return run


def contents(answer: RecallAnswer) -> list[str]:
    return [result.content for result in answer.results]
