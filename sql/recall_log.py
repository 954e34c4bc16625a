"""Writes down what recalls answered; no recall waits for it or fails with it."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from sql.errors import StoreError, translated
from sql.loader import queries
from sql.pool import Pool

log = structlog.get_logger(__name__)

_EVERY_SECONDS: Final = 1.0


async def collect_recalls(pool: Pool) -> int:
    """Move the lines that recalls left, by whatever road, into the recall log; return how many."""
    with translated():
        moved: int = await pool.fetchval(queries("memories")["collect_recalls"])
    return moved


async def run(pool: Pool) -> None:
    """Collect about once a second until cancelled; what a failure leaves is collected later."""
    while True:
        try:
            await collect_recalls(pool)
        except StoreError as error:
            log.warning("recall log not written", reason=error.message)
        await asyncio.sleep(_EVERY_SECONDS)
