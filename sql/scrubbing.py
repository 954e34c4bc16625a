"""Writing tables anew, so that the files hold nothing of what was erased or replaced.

VACUUM leaves dead bytes in the free room of pages: only a new file is without them, and only
VACUUM FULL makes one. It locks a table for as long as it writes it and builds its indexes, of
which the one over vectors takes by far the longest; so that one can be built afterwards, beside
all other work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import asyncpg

from sql.errors import InvalidInput, Unavailable, translated
from sql.loader import queries
from sql.pool import Connection, Pool

_DAY_SECONDS: Final = 86_400
_QUERIES: Final = queries("scrubbing")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A table that was written anew, with its indexes' bytes, and how long it was locked."""

    table: str
    bytes_before: int
    bytes_after: int
    locked_seconds: float


def _unheard(_: Scrubbed) -> None:
    pass


async def scrub(
    pool: Pool,
    *,
    tables: Collection[str] = (),
    lock_timeout_seconds: int = 0,
    vectors_apart: bool = False,
    told: Callable[[Scrubbed], None] = _unheard,
) -> None:
    """Write tables anew, all that can hold words by default; `told` hears of each when it is done.

    Each is locked while it is written. One that is not to be had within `lock_timeout_seconds` (0
    waits for ever, and whoever comes waits behind it) is left out, and named by the Unavailable
    that is raised when the others are done. With `vectors_apart` the vector indexes are dropped
    before and built afterwards without a lock: until then recall measures every vector. A role that
    may not write the planner's statistics anew leaves those to somebody who may. Raises
    InvalidInput for a table that there is not.
    """
    with translated():
        async with pool.acquire() as connection:
            due = await connection.fetchval(_QUERIES["due"])
            known = [row["name"] for row in await connection.fetch(_QUERIES["tables"])]
            chosen = [name for name in known if not tables or _plain(name) in tables]
            if unknown := set(tables) - {_plain(name) for name in known}:
                raise InvalidInput(
                    f'no table "{min(unknown)}" that holds words',
                    hint=f"There are {', '.join(map(_plain, known))}.",
                )
            locked = []
            for name in chosen:
                try:
                    told(await _written_anew(connection, name, lock_timeout_seconds, vectors_apart))
                except asyncpg.LockNotAvailableError:
                    locked.append(_plain(name))
            with suppress(asyncpg.InsufficientPrivilegeError):
                await connection.execute("checkpoint", timeout=_DAY_SECONDS)
            if locked:
                raise Unavailable(
                    f"not written anew, since somebody holds them: {', '.join(locked)}",
                    hint="Try again, or wait longer for the lock.",
                )
            if not tables:
                await connection.execute(_QUERIES["scrubbed"], due)


def _plain(name: str) -> str:
    return name.removeprefix("pgrecall.")


async def _written_anew(
    connection: Connection, name: str, lock_timeout_seconds: int, vectors_apart: bool
) -> Scrubbed:
    # Names that stand in statements are the catalog's own, quoted by it.
    before = await connection.fetchval(_QUERIES["bytes"], name)
    apart = vectors_apart and _plain(name) == "embeddings"
    await connection.execute(_QUERIES["set_lock_timeout"], f"{lock_timeout_seconds}s")
    began = time.perf_counter()
    try:
        if apart:
            for row in await connection.fetch(_QUERIES["vector_indexes"]):
                await connection.execute(f"drop index {row['name']}", timeout=_DAY_SECONDS)
        await connection.execute(f"vacuum (full, analyze) {name}", timeout=_DAY_SECONDS)
    finally:
        locked_seconds = time.perf_counter() - began
        await connection.execute(_QUERIES["set_lock_timeout"], "0")
        if apart:
            for row in await connection.fetch(_QUERIES["missing_vector_indexes"]):
                await connection.execute(row["make"], timeout=_DAY_SECONDS)
    after = await connection.fetchval(_QUERIES["bytes"], name)
    return Scrubbed(_plain(name), before, after, locked_seconds)
