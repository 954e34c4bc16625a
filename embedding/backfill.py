"""The back-fill worker: every memory gets its vectors, whoever wrote it and by whatever road."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import TypeAlias

import asyncpg
import structlog

from embedding.listening import listening, set_within, stop_if_cancelled
from embedding.maker import Embedder, EmbedderUnavailable, EmbeddingError, Vectors
from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool
from sql.records import vector_text

log = structlog.get_logger(__name__)

CHANNEL = "pgrecall_backlog"
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
# Counting a long queue is a scan; nobody needs the figure more often.
BACKLOG_SECONDS = 1.0

Claimed: TypeAlias = Sequence[asyncpg.Record]


class Backfill:
    """Embeds what waits in `pgrecall.embedding_queue`; any number of workers may run at once.

    A claim is a lease, and no transaction is open while vectors are made: a worker that dies
    leaves nothing locked, and its rows come up again.

    `backlog` is how many versions wait (None: not known yet), `trouble` why some of them wait
    longer than it takes, or None.
    """

    def __init__(
        self, pool: Pool, embedder: Embedder, *, batch: int = 32, poll_seconds: float = 1.0
    ) -> None:
        self.backlog: int | None = None
        self.trouble: str | None = None
        self._pool = pool
        self._embedder = embedder
        self._batch = batch
        self._poll_seconds = poll_seconds
        self._sql = queries("embedding")
        self._counted_at = 0.0

    async def run(self) -> None:
        """Work until cancelled, through outages of the database and of the embedder."""
        pause = FIRST_PAUSE_SECONDS
        wake = asyncio.Event()
        while True:
            try:
                await self.use_model()
                async with listening(self._pool, CHANNEL, lambda _: wake.set()) as listener:
                    while not listener.is_closed():
                        stop_if_cancelled()
                        wake.clear()
                        if await self.drain() or not self.backlog:
                            self.trouble = None
                        pause = FIRST_PAUSE_SECONDS
                        await set_within(wake, self._poll_seconds)
            except (EmbeddingError, StoreError) as error:
                self._report(error, pause)
            except Exception as error:
                log.exception("back-fill failed")
                self.trouble = type(error).__name__
            stop_if_cancelled()
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def use_model(self) -> None:
        """Make the embedder's model the current one; what has other vectors joins the queue."""
        with translated():
            await self._pool.execute(
                self._sql["use_model"], self._embedder.model, self._embedder.dimension
            )

    async def drain(self) -> int:
        """Embed until nothing is due; returns how many versions got vectors.

        Raises EmbedderUnavailable and StoreError; what was claimed is due again soon.
        """
        stored = 0
        while claimed := await self._claim():
            stored += await self._embed(claimed)
            stop_if_cancelled()
            if monotonic() - self._counted_at > BACKLOG_SECONDS:
                await self._count()
        await self._count()
        return stored

    async def _claim(self) -> Claimed:
        with translated():
            return await self._pool.fetch(self._sql["claim"], self._embedder.model, self._batch)

    async def _embed(self, claimed: Claimed) -> int:
        try:
            made = await self._embedder.embed_passages([row["embed_text"] for row in claimed])
        except EmbedderUnavailable:
            await self._release(claimed)
            raise
        except EmbeddingError as error:
            if len(claimed) > 1:  # one text spoils the batch: find out which
                return sum([await self._embed([row]) for row in claimed])
            # Its lease stands: the next attempt comes later each time.
            self.trouble = str(error)
            log.warning("a memory can't be embedded", id=str(claimed[0]["id"]), reason=self.trouble)
            return 0
        return sum(
            [await self._store(row, chunks) for row, chunks in zip(claimed, made, strict=True)]
        )

    async def _store(self, row: asyncpg.Record, chunks: Vectors) -> bool:
        """Store one version's vectors; False when it was erased meanwhile."""
        texts = [vector_text(chunk) for chunk in chunks.tolist()]
        key = (row["space"], row["id"], row["version"])
        with translated():
            return bool(
                await self._pool.fetchval(self._sql["store"], *key, self._embedder.model, texts)
            )

    async def _release(self, claimed: Claimed) -> None:
        keys = [[row[column] for row in claimed] for column in ("space", "id", "version")]
        with translated():
            await self._pool.execute(
                self._sql["release"], *keys, timedelta(seconds=FIRST_PAUSE_SECONDS)
            )

    async def _count(self) -> None:
        with translated():
            self.backlog = await self._pool.fetchval(self._sql["backlog"])
        self._counted_at = monotonic()

    def _report(self, error: EmbeddingError | StoreError, pause: float) -> None:
        self.trouble = str(error)
        log.warning("back-fill waits", reason=self.trouble, seconds=pause)
