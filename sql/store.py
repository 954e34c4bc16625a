"""The one way to the memories that REST, MCP and the command line share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg

from sql.acting import acting, read, read_by
from sql.agents import Agent
from sql.errors import NotFound, Unavailable, translated
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.records import (
    EmbedQuery,
    LegHits,
    Memory,
    NewMemory,
    RecallAnswer,
    Recalled,
    RecallQuery,
    Remembered,
)
from sql.writing import write

_QUERIES: Final = queries("memories")
_LEGS_WITH_VECTORS: Final = ("hybrid", "vector")


class MemoryStore:
    """Remembers and recalls for agents, each call in a transaction that acts as the agent.

    A recall embeds its text before it takes a connection, so that a slow embedder holds none.
    Every method raises the errors of `sql.errors`.
    """

    def __init__(self, pool: Pool, embed_query: EmbedQuery) -> None:
        self._pool = pool
        self._embed_query = embed_query

    async def remember(self, agent: Agent, memory: NewMemory) -> Remembered:
        """Store one memory, or refine the one that its key names."""
        return (await self.remember_many(agent, [memory]))[0]

    async def remember_many(self, agent: Agent, memories: Sequence[NewMemory]) -> list[Remembered]:
        """Store memories in one transaction; the answers stand in the same order."""
        async with acting(self._pool, agent) as connection:
            return await write(connection, agent, memories)

    async def recall(self, agent: Agent, query: RecallQuery) -> RecallAnswer:
        """Return the memories that answer a text, best first."""
        started = time.perf_counter()
        embedding = (
            await self._embed_query(query.query) if query.mode in _LEGS_WITH_VECTORS else None
        )
        arguments = (
            *(query.query, query.k, query.space, query.kinds, query.entity, query.tags),
            *(query.since, query.until, query.as_of, query.min_importance, query.min_confidence),
            *(query.mode, query.rrf_k, query.weights, query.include, query.skip, embedding),
        )

        async def ask(connection: Connection) -> tuple[Sequence[asyncpg.Record], str | None]:
            rows = await connection.fetch(_QUERIES["recall"], *arguments)
            if rows:
                return rows, rows[0]["degraded"]
            return rows, await connection.fetchval(_QUERIES["degraded"])

        rows, degraded = await read_by(self._pool, agent, ask)
        return _answer(rows, degraded, (time.perf_counter() - started) * 1000)

    async def get(self, agent: Agent, memory_id: UUID) -> Memory:
        """Return the head of a memory that the agent may read; raises NotFound otherwise."""
        rows = await read(self._pool, agent, _QUERIES["get"], memory_id)
        if not rows:
            raise NotFound(f"no memory {memory_id}", sqlstate="P0002")
        return Memory(**rows[0])

    async def ping(self) -> bool:
        """Return whether the database answers."""
        try:
            with translated():
                return bool(await self._pool.fetchval(_QUERIES["ping"], timeout=2) == 1)
        except Unavailable:
            return False


def _answer(rows: Sequence[asyncpg.Record], degraded: str | None, took_ms: float) -> RecallAnswer:
    results = [Recalled(**row) for row in rows]
    return RecallAnswer(
        results=results,
        degraded=degraded,
        took_ms=round(took_ms, 2),
        legs=LegHits(
            lexical=sum(result.lexical_rank is not None for result in results),
            vector=sum(result.vector_rank is not None for result in results),
        ),
    )
