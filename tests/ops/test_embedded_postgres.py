from __future__ import annotations

import asyncpg
import pytest

from pgrecall.embedded import EmbeddedPostgres
from tests.conftest import Database


async def test_the_app_role_owns_the_memory_database_and_is_no_superuser(
    server: EmbeddedPostgres,
) -> None:
    connection = await asyncpg.connect(server.app_dsn)
    row = await connection.fetchrow(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolname = current_user AS owner FROM pg_roles"
        " JOIN pg_database ON datdba = pg_roles.oid WHERE datname = current_database()"
    )
    await connection.close()
    assert row is not None
    assert dict(row) == {
        "rolsuper": False,
        "rolcreaterole": True,
        "rolcreatedb": False,
        "owner": True,
    }


@pytest.mark.parametrize("user", ["postgres", "pgrecall"])
async def test_nobody_enters_through_the_socket_without_the_password(
    server: EmbeddedPostgres, user: str
) -> None:
    for password in ("", "wrong", user):
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(server.dsn(user, password))


async def test_a_clone_of_the_extension_database_has_vectors(empty_database: Database) -> None:
    connection = await asyncpg.connect(empty_database.dsn)
    distance = await connection.fetchval("SELECT '[1,0]'::vector <=> '[1,0]'::vector")
    await connection.close()
    assert distance == 0.0
