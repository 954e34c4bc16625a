"""The database that a command works on: the given one, a running `up`'s, or one we start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgrecall.checks import check_database
from pgrecall.errors import NotReady
from pgrecall.settings import Settings
from pgrecall.shared_postgres import shared_postgres
from pgrecall.state_folder import StateFolder
from sql.migrate import migrate


@dataclass(frozen=True, slots=True)
class Database:
    """Ways into one database: `dsn` for pgrecall itself, `admin_dsn` for who looks behind it."""

    dsn: str
    admin_dsn: str


@asynccontextmanager
async def opened_database(settings: Settings, *, migrated: bool = True) -> AsyncIterator[Database]:
    """Yield the database, started for as long as the context lasts where nobody runs it.

    Raises NotReady when a given database lacks something, and what EmbeddedPostgres.start() and
    migrate() raise.
    """
    if settings.database_dsn:
        await require_ready(settings.database_dsn)
        if migrated:
            await migrate(settings.database_dsn)
        yield Database(settings.database_dsn, settings.database_dsn)
    else:
        async with shared_postgres(StateFolder(settings.state_dir), migrated=migrated) as postgres:
            yield Database(postgres.app_dsn, postgres.superuser_dsn)


async def require_ready(dsn: str) -> None:
    """Raise NotReady with the first remedy when a given database lacks something."""
    failed = [check for check in await check_database(dsn) if check.outcome == "failed"]
    if failed:
        more = f"\nand {len(failed) - 1} more: pgrecall doctor" if len(failed) > 1 else ""
        raise NotReady(failed[0].label, hint=(failed[0].remedy or "see pgrecall doctor") + more)
