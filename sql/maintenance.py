"""Keeps the store in order behind everyone's back."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool

log = structlog.get_logger(__name__)

EVERY_SECONDS: Final = 60.0


async def maintain(pool: Pool) -> None:
    """Run every maintenance step once; of many processes that ask, one does the work."""
    with translated():
        row = await pool.fetchrow(queries("memories")["maintain"])
    if row is not None and (row["expired"] or row["recall_log_dropped"]):
        log.info("maintained", expired=row["expired"], log_dropped=row["recall_log_dropped"])


async def run(pool: Pool) -> None:
    """Maintain once a minute until cancelled; a failure is logged, and tried again."""
    while True:
        try:
            await maintain(pool)
        except StoreError as error:
            log.warning("maintenance failed", reason=error.message)
        await asyncio.sleep(EVERY_SECONDS)
