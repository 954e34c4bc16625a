"""Writes down what recalls answered; no recall waits for it or fails with it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from sql.agents import Agent
from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool
from sql.records import RecallAnswer, RecallQuery

log = structlog.get_logger(__name__)

# What is kept while the database is away; the oldest entries go first.
_MAX_WAITING: Final = 10_000
_FLUSH_SECONDS: Final = 1.0


class RecallLog:
    """Collects entries and writes them about once a second, many in one statement."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: list[dict[str, Any]] = []

    def add(self, agent: Agent, query: RecallQuery, answer: RecallAnswer) -> None:
        """Take one answered recall; returns at once."""
        self._waiting.append(
            {
                "space": query.space,
                "at": datetime.now(UTC).isoformat(),
                "agent": agent.name,
                "query": query.query,
                "mode": query.mode,
                "ids": [str(result.id) for result in answer.results],
                "lexical_hits": answer.legs.lexical,
                "vector_hits": answer.legs.vector,
                "took_ms": answer.took_ms,
                "degraded": answer.degraded,
            }
        )
        del self._waiting[:-_MAX_WAITING]

    async def run(self) -> None:
        """Write until cancelled, then write what is left."""
        try:
            while True:
                await asyncio.sleep(_FLUSH_SECONDS)
                await self.flush()
        finally:
            await self.flush()

    async def flush(self) -> None:
        """Write what waits; on failure it goes on waiting."""
        entries, self._waiting = self._waiting, []
        if not entries:
            return
        try:
            with translated():
                await self._pool.execute(queries("memories")["log_recalls"], entries)
        except StoreError as error:
            self._waiting = (entries + self._waiting)[-_MAX_WAITING:]
            log.warning("recall log not written", reason=error.message, waiting=len(self._waiting))
