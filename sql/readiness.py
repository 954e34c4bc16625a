"""Whether the database can serve, and what waits in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import asyncpg

from sql.errors import StoreError, translated
from sql.loader import queries, scripts
from sql.pool import Pool

_QUERIES: Final = queries("readiness")
_TIMEOUT_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class Readiness:
    """`embedding_backlog` is how many memories wait for a vector; None when nobody can say."""

    database: bool
    migrated: bool
    embedding_backlog: int | None


async def readiness(pool: Pool) -> Readiness:
    """Ask the database; never raises, answers within a few seconds."""
    asking = asyncio.create_task(_ask(pool))
    # Not a timeout around the question: from a database that hangs, even giving up takes an answer.
    await asyncio.wait({asking}, timeout=_TIMEOUT_SECONDS)
    if not asking.done():
        asking.cancel()
        return Readiness(database=False, migrated=False, embedding_backlog=None)
    try:
        row = asking.result()
    except StoreError as error:
        # 42P01, 3F000: it answers, and has no table or schema of ours yet.
        answers = error.sqlstate in ("42P01", "3F000")
        return Readiness(database=answers, migrated=False, embedding_backlog=None)
    known = {script.name for script in scripts("migrations")}
    return Readiness(True, known <= set(row["migrations"]), row["embedding_backlog"])


async def _ask(pool: Pool) -> asyncpg.Record:
    with translated():
        row = await pool.fetchrow(_QUERIES["readiness"])
    assert row is not None
    return row
