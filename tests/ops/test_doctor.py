"""The doctor against the wheel's Postgres 16, as somebody's own server with a plain role."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgrecall.checks import check_database
from sql.migrate import migrate
from tests.ops.conftest import OwnServer
from tests.ops.processes import pgrecall


async def failed(server: OwnServer) -> dict[str, str | None]:
    checks = await check_database(server.dsn)
    return {check.label: check.remedy for check in checks if check.outcome == "failed"}


async def test_a_missing_extension_is_told_with_the_statement_that_makes_it(
    own_server: OwnServer,
) -> None:
    assert await failed(own_server) == {
        "extension vector 0.8.5 is there, and not in this database": (
            "as a superuser in database app: CREATE EXTENSION vector;"
        )
    }


async def test_an_old_extension_is_told_with_its_update_and_package(own_server: OwnServer) -> None:
    await own_server.run(
        "CREATE EXTENSION vector",
        "UPDATE pg_extension SET extversion = '0.5.1' WHERE extname = 'vector'",
    )
    assert await failed(own_server) == {
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
    assert await failed(own_server) == {
        "may create roles: no": "ALTER ROLE app CREATEROLE;",
        "may create schemas in app: no": "GRANT CREATE ON DATABASE app TO app;",
    }


async def test_roles_that_another_deployment_made_are_told_with_their_grant(
    own_server: OwnServer,
) -> None:
    await own_server.run("CREATE EXTENSION vector", "CREATE ROLE pgrecall_owner")
    assert await failed(own_server) == {
        "may not use pgrecall_owner, which others made": (
            "GRANT pgrecall_owner TO app WITH ADMIN OPTION;   or use the role that made them"
        )
    }
    await own_server.run("GRANT pgrecall_owner TO app WITH ADMIN OPTION")
    assert await failed(own_server) == {}


async def test_a_database_that_takes_no_writes_is_told(own_server: OwnServer) -> None:
    await own_server.run(
        "CREATE EXTENSION vector", "ALTER ROLE app SET default_transaction_read_only = on"
    )
    assert list(await failed(own_server)) == [
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
    assert await failed(own_server) == {}
    await migrate(own_server.dsn)
    assert await failed(own_server) == {}


async def test_a_schema_on_the_path_that_anybody_may_create_in_is_told(
    own_server: OwnServer,
) -> None:
    async def advised() -> set[str]:
        checks = await check_database(own_server.dsn)
        return {check.label for check in checks if "schema public" in check.label}

    assert await advised() == set()
    await own_server.run("GRANT CREATE ON SCHEMA public TO PUBLIC")
    assert len(await advised()) == 1


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
