"""`up` on somebody's own PostgreSQL 16, as a role that may do little."""

from __future__ import annotations

import json
from pathlib import Path

from tests.ops.conftest import OwnServer
from tests.ops.processes import connect, contents, pgrecall, remember, running_up


async def test_a_given_database_serves_like_the_embedded_one(
    temporary_folder: Path, own_server: OwnServer
) -> None:
    await own_server.run("CREATE EXTENSION vector")
    given = {"PGRECALL_DATABASE_URL": own_server.dsn}
    with running_up(temporary_folder / "state", **given) as up:
        up.ready()
        assert not up.state.postgres_folder.exists()
        with connect(up) as connection:
            remember(connection, "kept elsewhere")
            assert contents(connection) == {"kept elsewhere"}
        added = pgrecall(up.state.path, "agent", "add", "eve", "--sql", "--json", **given)
        assert json.loads(added.stdout)["password"]
        pgrecall(up.state.path, "agent", "remove", "eve", **given)
    found = pgrecall(temporary_folder / "state", "recall", "elsewhere", **given)
    assert "kept elsewhere" in found.stdout


async def test_a_first_agent_whose_role_is_taken_gets_another_name(
    temporary_folder: Path, own_server: OwnServer
) -> None:
    await own_server.run("CREATE EXTENSION vector", "CREATE ROLE me")
    given = {"PGRECALL_DATABASE_URL": own_server.dsn}
    with running_up(temporary_folder / "state", **given) as up:
        up.ready()
        assert up.credentials.agent == "me-2"
    await own_server.run('DROP ROLE "me-2"')


async def test_what_the_database_lacks_stops_the_start_with_the_remedy(
    temporary_folder: Path, own_server: OwnServer
) -> None:
    refused = pgrecall(
        temporary_folder / "state", "up", expect=1, PGRECALL_DATABASE_URL=own_server.dsn
    )
    assert "error: extension vector 0.8.5 is there, and not in this database" in refused.stderr
    assert "hint: as a superuser in database app: CREATE EXTENSION vector;" in refused.stderr
