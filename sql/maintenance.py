"""Keeps the store in order behind everyone's back."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool
from sql.scrubbing import scrub

log = structlog.get_logger(__name__)

EVERY_SECONDS: Final = 60.0
KEEP_DELETED: Final = timedelta(days=30)
# So small a store is written anew in a second or two.
SCRUB_AT_ONCE_BYTES: Final = 32 * 1024 * 1024


async def maintain(pool: Pool, keep_deleted: timedelta = KEEP_DELETED) -> None:
    """Run every maintenance step once; of many processes that ask, one does the work.

    What was deleted longer ago than `keep_deleted` is erased. After an erasure a small store is
    scrubbed; for a larger one that takes `pgrecall scrub`.
    """
    with translated():
        row = await pool.fetchrow(queries("memories")["maintain"], keep_deleted)
    if row is None:
        return
    if row["expired"] or row["recall_log_dropped"] or row["erased"]:
        done = {name: row[name] for name in ("expired", "recall_log_dropped", "erased")}
        log.info("maintained", **done)
    if row["scrub_due"] and row["store_bytes"] < SCRUB_AT_ONCE_BYTES:
        await scrub(pool, lock_timeout_seconds=2)


async def run(pool: Pool, keep_deleted: timedelta = KEEP_DELETED) -> None:
    """Maintain once a minute until cancelled; a failure is logged, and tried again."""
    while True:
        try:
            await maintain(pool, keep_deleted)
        except StoreError as error:
            log.warning("maintenance failed", reason=error.message)
        await asyncio.sleep(EVERY_SECONDS)
