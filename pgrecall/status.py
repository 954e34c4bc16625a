"""`pgrecall status`: what runs, in which versions, and what waits."""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg

from pgrecall import __version__
from pgrecall.database import opened_database
from pgrecall.endpoints import Endpoints
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from sql.migrate import pending

_COUNTS = """
SELECT current_setting('server_version') AS postgres,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       (SELECT model FROM pgrecall.embedding_models WHERE current) AS model,
       (SELECT count(*) FROM pgrecall.embedding_queue) AS backlog,
       (SELECT count(*) FROM pgrecall.memories WHERE superseded_at IS NULL) AS memories,
       (SELECT name FROM pgrecall.migrations ORDER BY name DESC LIMIT 1) AS migration
"""


@dataclass(frozen=True, slots=True)
class Status:
    """The answer; `endpoints` is None when no `up` runs, `database_dsn` holds a password."""

    running: bool
    state_dir: str
    database_dsn: str
    versions: dict[str, str | None]
    migration: str | None
    migrations_pending: list[str]
    embedding_model: str | None
    embedding_backlog: int
    memories: int
    endpoints: dict[str, str] | None

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, without the password."""
        named = " · ".join(f"{name} {found}" for name, found in self.versions.items())
        waits = f"{self.embedding_backlog} waiting for {self.embedding_model or 'no embedder'}"
        where = self.endpoints or {"up": "not running"}
        return [
            *where.items(),
            ("versions", named),
            ("memories", f"{self.memories}, {waits}"),
            ("database", f"migrated to {self.migration}"),
            ("state", self.state_dir),
        ]


async def read_status(settings: Settings) -> Status:
    """Return the status; the embedded database is started for it if nobody runs it."""
    state = StateFolder(settings.state_dir)
    running = Endpoints.read(state)
    async with opened_database(settings) as database:
        connection = await asyncpg.connect(database.admin_dsn)
        try:
            row = await connection.fetchrow(_COUNTS)
        finally:
            await connection.close()
        assert row is not None
        return Status(
            running=running is not None,
            state_dir=str(state.path),
            database_dsn=database.admin_dsn,
            versions={
                "pgrecall": __version__,
                "postgres": row["postgres"].split()[0],
                "vector": row["vector"],
            },
            migration=row["migration"],
            migrations_pending=await pending(database.dsn),
            embedding_model=row["model"],
            embedding_backlog=row["backlog"],
            memories=row["memories"],
            endpoints=_told(running) if running else None,
        )


def _told(running: Endpoints) -> dict[str, str]:
    return {"gateway": running.gateway.url(), "REST": running.rest, "MCP": running.mcp}
