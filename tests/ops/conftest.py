"""Somebody's own server: the wheel's Postgres 16 with a plain role."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from pgrecall.embedded import EmbeddedPostgres
from tests.conftest import short_lived_folder, started


class OwnServer:
    """A PostgreSQL 16 with a database `app` and a role `app` that may do little."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        self.dsn = postgres.dsn("app", "secret", "app")

    async def run(self, *statements: str, database: str = "app") -> None:
        dsn = self._postgres.superuser_dsn.replace("/memory?", f"/{database}?")
        connection = await asyncpg.connect(dsn)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def column(self, query: str) -> list[str]:
        connection = await asyncpg.connect(
            self._postgres.superuser_dsn.replace("/memory?", "/postgres?")
        )
        try:
            return [row[0] for row in await connection.fetch(query)]
        finally:
            await connection.close()


@pytest.fixture(scope="session")
async def sixteen() -> AsyncIterator[EmbeddedPostgres]:
    with short_lived_folder() as folder:
        async with started(folder / "state", major=16) as postgres:
            yield postgres


@pytest.fixture
async def own_server(sixteen: EmbeddedPostgres) -> AsyncIterator[OwnServer]:
    server = OwnServer(sixteen)
    await server.run(
        "CREATE ROLE app LOGIN CREATEROLE PASSWORD 'secret'",
        "CREATE DATABASE app",
        "GRANT CONNECT, CREATE ON DATABASE app TO app",
        database="postgres",
    )
    yield server
    await server.run("DROP DATABASE app WITH (FORCE)", database="postgres")
    made = "SELECT rolname FROM pg_roles WHERE oid >= 16384 AND rolname <> 'pgrecall'"
    for role in await server.column(f"{made} ORDER BY rolname = 'app'"):
        await server.run(f'DROP ROLE "{role}"', database="postgres")
