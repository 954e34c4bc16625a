"""The doctor against the wheel's Postgres 16, as somebody's own server with a plain role."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from pgrecall.checks import Check, check_database
from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from sql.migrate import migrate
from tests.conftest import FAST, new_folder
from tests.ops.processes import pgrecall


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

    async def failed(self) -> dict[str, str | None]:
        return failed(await check_database(self.dsn))


def failed(checks: list[Check]) -> dict[str, str | None]:
    return {check.label: check.remedy for check in checks if check.outcome == "failed"}


@pytest.fixture(scope="module")
async def sixteen() -> AsyncIterator[EmbeddedPostgres]:
    state = StateFolder(new_folder() / "state")
    with state.claim():
        postgres = EmbeddedPostgres(state, settings=FAST, major=16)
        await postgres.start()
        yield postgres
        await postgres.stop()


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
    roles = "app, pgrecall_owner, pgrecall_service, pgrecall_agent, pgrecall_reader, me"
    for role in roles.split(", "):
        await server.run(f"DROP ROLE IF EXISTS {role}", database="postgres")


async def test_a_missing_extension_is_told_with_the_statement_that_makes_it(
    own_server: OwnServer,
) -> None:
    assert await own_server.failed() == {
        "extension vector 0.8.5 is there, and not in this database": (
            "as a superuser in database app: CREATE EXTENSION vector;"
        )
    }


async def test_an_old_extension_is_told_with_its_update_and_package(own_server: OwnServer) -> None:
    await own_server.run(
        "CREATE EXTENSION vector",
        "UPDATE pg_extension SET extversion = '0.5.1' WHERE extname = 'vector'",
    )
    assert await own_server.failed() == {
        "extension vector 0.5.1, needs 0.8": (
            "ALTER EXTENSION vector UPDATE;   (package postgresql-16-pgvector)"
        )
    }


async def test_missing_privileges_are_told_with_their_grants(own_server: OwnServer) -> None:
    await own_server.run(
        "CREATE EXTENSION vector",
        "ALTER ROLE app NOCREATEROLE",
        "REVOKE CREATE ON DATABASE app FROM app",
    )
    assert await own_server.failed() == {
        "may create roles: no": "ALTER ROLE app CREATEROLE;",
        "may create schemas in app: no": "GRANT CREATE ON DATABASE app TO app;",
    }


async def test_a_database_that_takes_no_writes_is_told(own_server: OwnServer) -> None:
    await own_server.run(
        "CREATE EXTENSION vector", "ALTER ROLE app SET default_transaction_read_only = on"
    )
    assert list(await own_server.failed()) == [
        "takes writes: no: a replica, or default_transaction_read_only is on"
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("secret", "wrong", "refuses the login: password authentication failed"),
        ("/app?", "/nowhere?", 'refuses the login: database "nowhere" does not exist'),
        ("port=5432", "port=5433", "can't be reached"),
    ],
)
async def test_a_database_that_does_not_let_us_in_is_one_finding(
    own_server: OwnServer, old: str, new: str, told: str
) -> None:
    [check] = await check_database(own_server.dsn.replace(old, new))
    assert check.outcome == "failed"
    assert told in check.label


async def test_a_plain_role_with_the_extension_in_place_passes_and_migrates(
    own_server: OwnServer,
) -> None:
    await own_server.run("CREATE EXTENSION vector")
    assert await own_server.failed() == {}
    await migrate(own_server.dsn)
    assert await own_server.failed() == {}


async def test_the_command_lists_every_finding_and_fails_with_one(
    own_server: OwnServer, tmp_path: Path
) -> None:
    result = pgrecall(tmp_path / "state", "doctor", expect=1, PGRECALL_DATABASE_URL=own_server.dsn)
    assert "✓ PostgreSQL 16." in result.stdout
    assert "✗ extension vector 0.8.5 is there, and not in this database" in result.stdout
    assert "→ as a superuser in database app: CREATE EXTENSION vector;" in result.stdout


async def test_the_command_finds_nothing_wrong_on_a_fresh_machine(tmp_path: Path) -> None:
    result = pgrecall(tmp_path / "state", "doctor", "--json")
    outcomes = {check["outcome"] for check in json.loads(result.stdout)}
    assert "failed" not in outcomes
