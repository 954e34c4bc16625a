"""Keeps the store in order behind everyone's back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

import asyncpg
import structlog

from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool

log = structlog.get_logger(__name__)

EVERY_SECONDS: Final = 60.0
KEEP_DELETED: Final = timedelta(days=30)
# So small a store is written anew in a second or two.
SCRUB_AT_ONCE_BYTES: Final = 32 * 1024 * 1024
_DAY_SECONDS: Final = 86_400
_QUERIES: Final = queries("scrubbing")


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


async def scrub(pool: Pool, *, lock_timeout_seconds: int = 0) -> None:
    """Write every table anew, so that the files hold nothing of what was erased or replaced.

    Locks each table while it is written, for as long as building its indexes takes. A role that
    may not write the planner's statistics anew leaves those to somebody who may. Raises
    Unavailable when a lock is not to be had in `lock_timeout_seconds`; 0 waits for ever.
    """
    with translated():
        async with pool.acquire() as connection:
            due = await connection.fetchval(_QUERIES["due"])
            await connection.execute(_QUERIES["set_lock_timeout"], f"{lock_timeout_seconds}s")
            try:
                for row in await connection.fetch(_QUERIES["tables"]):
                    # VACUUM takes no parameters; the names are the catalog's own, quoted by it.
                    await connection.execute(
                        f"vacuum (full, analyze) {row['name']}", timeout=_DAY_SECONDS
                    )
            finally:
                await connection.execute(_QUERIES["set_lock_timeout"], "0")
            with suppress(asyncpg.InsufficientPrivilegeError):
                await connection.execute("checkpoint", timeout=_DAY_SECONDS)
            await connection.execute(_QUERIES["scrubbed"], due)


async def run(pool: Pool, keep_deleted: timedelta = KEEP_DELETED) -> None:
    """Maintain once a minute until cancelled; a failure is logged, and tried again."""
    while True:
        try:
            await maintain(pool, keep_deleted)
        except StoreError as error:
            log.warning("maintenance failed", reason=error.message)
        await asyncio.sleep(EVERY_SECONDS)
