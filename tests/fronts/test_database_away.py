"""A database that keeps breaking off: clear refusals, and no acknowledged write is lost."""

from __future__ import annotations

import asyncio

import asyncpg

WRITERS = 4
WRITES = 25
BREAK_OFF = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


async def test_every_acknowledged_write_stands_after_connections_broke_off(ada, database):
    acknowledged: list[str] = []
    statuses: set[int] = set()
    killer = await asyncpg.create_pool(database.superuser_dsn, min_size=1, max_size=1)

    async def write(writer: int) -> None:
        for number in range(WRITES):
            if number % 8 == 2 * writer:
                await killer.execute(BREAK_OFF)
            answer = await ada.post("/v1/memories", json={"content": f"{writer}: {number}"})
            statuses.add(answer.status_code)
            if answer.status_code == 201:
                acknowledged.append(answer.json()["id"])
            else:
                assert answer.json()["type"] == "urn:problem-type:pgrecall:unavailable"

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    await killer.close()

    assert statuses == {201, 503}
    for memory_id in acknowledged:
        assert (await ada.get(f"/v1/memories/{memory_id}")).status_code == 200
    after = await ada.post("/v1/memories", json={"content": "the database is back"})
    assert after.status_code == 201
