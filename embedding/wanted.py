"""Embeds the query texts that recall() had no embedding for, so that the next call has."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import structlog

from embedding.listening import listening, set_within, stop_if_cancelled
from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool
from sql.records import QueryEmbedding

log = structlog.get_logger(__name__)

_QUERIES: Final = queries("embedding")

CHANNEL: Final = "pgrecall_wanted"
BATCH: Final = 64
# What is asked for beyond this while the embedder is busy is left for its next call.
MOST_WAITING: Final = 2000
RETRY_SECONDS: Final = 2.0
IDLE_SECONDS: Final = 1.0


class EmbedsQueries(Protocol):
    """Makes query embeddings, many at once; a failure is an answer too."""

    async def many(self, texts: list[str]) -> list[QueryEmbedding]:
        """Return the embeddings in the order of the texts."""
        ...


class WantedQueries:
    """Hears which texts are wanted, and keeps their embeddings in the database."""

    def __init__(self, pool: Pool, embeddings: EmbedsQueries) -> None:
        self._pool = pool
        self._embeddings = embeddings
        self._waiting: dict[str, None] = {}  # sealed texts: a set that keeps its order
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled, through outages of the database."""
        while True:
            try:
                async with listening(self._pool, CHANNEL, self._want) as listener:
                    while not listener.is_closed():
                        stop_if_cancelled()
                        self._wake.clear()
                        await self.drain()
                        await set_within(self._wake, IDLE_SECONDS)
            except StoreError as error:
                log.warning("query embeddings wait", reason=error.message)
            stop_if_cancelled()
            await asyncio.sleep(RETRY_SECONDS)

    async def drain(self) -> None:
        """Embed all that waits."""
        while self._waiting:
            batch = list(self._waiting)[:BATCH]
            with translated():
                rows = await self._pool.fetch(_QUERIES["unsealed"], batch)
            texts = [row["text"] for row in rows]
            made = await self._embeddings.many(texts)
            with translated():
                await self._pool.execute(_QUERIES["keep_query_embeddings"], texts, made)
            for notice in batch:
                self._waiting.pop(notice, None)

    def _want(self, notice: str) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting[notice] = None
            self._wake.set()
