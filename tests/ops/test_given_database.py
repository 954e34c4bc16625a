"""`up` on somebody's own PostgreSQL 16, as a role that may do little."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import httpx

from pgrecall.embedded import EmbeddedPostgres
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


async def test_a_database_that_is_away_refuses_and_then_serves_with_nothing_lost(
    temporary_folder: Path, own_server: OwnServer, sixteen: EmbeddedPostgres
) -> None:
    await own_server.run("CREATE EXTENSION vector")
    with running_up(temporary_folder / "state", PGRECALL_DATABASE_URL=own_server.dsn) as up:
        endpoints = up.ready()
        headers = {"Authorization": f"Bearer {up.credentials.token}"}
        async with httpx.AsyncClient(
            base_url=endpoints.http, headers=headers, timeout=30
        ) as client:
            writers = [RestWriter(client, number) for number in range(4)]
            tasks = [asyncio.create_task(writer.run()) for writer in writers]
            await reached(lambda: all(len(writer.acknowledged) > 5 for writer in writers))
            await sixteen.stop()
            await reached(lambda: all(writer.refused for writer in writers))
            ready = await client.get("/readyz")
            assert ready.status_code == 503
            await sixteen.start()
            before = [len(writer.acknowledged) for writer in writers]
            await reached(
                lambda: all(
                    len(writer.acknowledged) > count + 5
                    for writer, count in zip(writers, before, strict=True)
                )
            )
            for writer in writers:
                writer.enough = True
            await asyncio.gather(*tasks)
        assert {status for writer in writers for status in writer.refused} == {503}, up.told
        with connect(up) as connection:
            kept = contents(connection)
        for writer in writers:
            assert set(writer.acknowledged) <= kept


class RestWriter:
    """Remembers over REST without a pause; notes what was acknowledged, and each refusal."""

    def __init__(self, client: httpx.AsyncClient, number: int) -> None:
        self.acknowledged: list[str] = []
        self.refused: list[int] = []
        self.enough = False
        self._client = client
        self._number = number

    async def run(self) -> None:
        for attempt in itertools.count():
            if self.enough:
                return
            content = f"fact {attempt} of writer {self._number}"
            answer = await self._client.post("/v1/memories", json={"content": content})
            if answer.status_code == 201:
                self.acknowledged.append(content)
            else:
                self.refused.append(answer.status_code)
                await asyncio.sleep(0.05)


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.02)


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
