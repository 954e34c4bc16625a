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
from embedding.serving import ServingEmbedder
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
    longer than it takes, or None. `serving` is told which model's vectors are searched; its
    maker embeds fresh memories too, as long as that is another.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        *,
        serving: ServingEmbedder | None = None,
        batch: int = 32,
        poll_seconds: float = 1.0,
    ) -> None:
        self.backlog: int | None = None
        self.trouble: str | None = None
        self._pool = pool
        self._embedder = embedder
        self._serving = serving
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
        """Have every memory embedded by the embedder's model; what has no such vector is queued.

        Another model's vectors serve until that is done.
        """
        with translated():
            await self._pool.execute(
                self._sql["use_model"], self._embedder.model, self._embedder.dimension
            )
        await self._settle()

    async def drain(self) -> int:
        """Embed until nothing is due; returns how many versions got vectors.

        Raises EmbedderUnavailable and StoreError; what was claimed is due again soon.
        """
        stored = 0
        while claimed := await self._claim():
            stored += await self._embed(claimed)
            stop_if_cancelled()
            if monotonic() - self._counted_at > BACKLOG_SECONDS:
                await self._settle()
        await self._settle()
        return stored

    async def _claim(self) -> Claimed:
        with translated():
            return await self._pool.fetch(self._sql["claim"], self._embedder.model, self._batch)

    async def _embed(self, claimed: Claimed) -> int:
        try:
            made = await self._embedder.embed_passages([row["embed_text"] for row in claimed])
            await self._serve_at_once([row for row in claimed if row["unserved"]])
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

    async def _serve_at_once(self, fresh: Claimed) -> None:
        """Give what was written during a change the vectors of the model that still serves."""
        maker = self._serving.other if self._serving is not None else None
        if maker is None or not fresh:
            return
        made = await maker.embed_passages([row["embed_text"] for row in fresh])
        for row, chunks in zip(fresh, made, strict=True):
            await self._store(row, chunks, maker.model)

    async def _store(self, row: asyncpg.Record, chunks: Vectors, model: str | None = None) -> bool:
        """Store one version's vectors; False when it was erased meanwhile."""
        texts = [vector_text(chunk) for chunk in chunks.tolist()]
        key = (row["space"], row["id"], row["version"])
        with translated():
            return bool(
                await self._pool.fetchval(
                    self._sql["store"], *key, model or self._embedder.model, texts
                )
            )

    async def _release(self, claimed: Claimed) -> None:
        keys = [[row[column] for row in claimed] for column in ("space", "id", "version")]
        with translated():
            await self._pool.execute(
                self._sql["release"], *keys, timedelta(seconds=FIRST_PAUSE_SECONDS)
            )

    async def _settle(self) -> None:
        """Count what waits, and swap the models when nothing does any more."""
        with translated():
            row = await self._pool.fetchrow(self._sql["settle"])
        assert row is not None
        self.backlog = row["backlog"]
        self._counted_at = monotonic()
        if self._serving is not None:
            await self._serving.follow(row["serving"])

    def _report(self, error: EmbeddingError | StoreError, pause: float) -> None:
        self.trouble = str(error)
        log.warning("back-fill waits", reason=self.trouble, seconds=pause)
