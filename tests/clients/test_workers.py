"""Several workers on one port, with one embedder and one limit."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from embedding.queries import QueryEmbeddings
from gateway import EmbeddingServer, SharedPlaces, Workers
from gateway.places import wipe
from tests.clients.conftest import QUESTION, Road
from tests.clients.wire import Dial
from tests.conftest import Database
from tests.hash_embedder import HashEmbedder

WORKER = Path(__file__).parent / "programs" / "worker.py"
COUNT = 2
MOST = 12


@pytest.fixture
def limits() -> dict[str, int]:
    return {"max_connections": MOST}


@pytest.fixture
async def workers(
    database: Database, temporary_folder: Path, direct: Road, limits: dict[str, int]
) -> AsyncIterator[tuple[Workers, Road]]:
    embedder = temporary_folder / "embedder"
    server = EmbeddingServer(QueryEmbeddings(HashEmbedder()), embedder)
    await server.start()
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        orders = {
            "dsn": database.dsn,
            "host": direct.host,
            "database": database.name,
            "port": reserved.getsockname()[1],
            "places": str(temporary_folder),
            "embedder": str(embedder),
            "workers": COUNT,
            "limits": limits,
        }

        async def spawn(index: int) -> Process:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                str(WORKER),
                stdin=PIPE,
                stdout=PIPE,
                env={**os.environ, "PYTHONPATH": os.getcwd()},
            )
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps({**orders, "index": index}).encode() + b"\n")
            assert await child.stdout.readline() == b"listening\n"
            return child

        async def stop(child: Process) -> None:
            assert child.stdin is not None
            child.stdin.close()
            await child.wait()

        def buried(index: int) -> None:
            wipe(SharedPlaces(temporary_folder, 0, COUNT), index)

        made = Workers(COUNT, spawn, stop, buried)
        await made.start()
        yield made, replace(direct, host="127.0.0.1", port=int(str(orders["port"])))
        await made.close()
    await server.close()


async def test_workers_share_port_embedder_and_limit_and_a_dead_one_is_replaced(
    workers: tuple[Workers, Road], remembered: tuple[str, ...]
) -> None:
    kept, road = workers
    connections = [await road.connect() for _ in range(MOST)]
    with pytest.raises(psycopg.OperationalError, match="too many clients already"):
        await road.connect()
    for connection in connections:
        rows = await connection.execute("select vector_rank from recall(%s)", [QUESTION])
        assert await rows.fetchone() == (1,)

    await cancelled_by_any_worker(connections[0])

    first, second = kept.process_ids
    await killed_and_replaced(kept, first)
    assert second in kept.process_ids
    again = [await road.connect() for _ in range(3)]
    for connection in [*connections, *again]:
        await connection.close()


async def killed_and_replaced(kept: Workers, worker: int) -> None:
    os.kill(worker, signal.SIGKILL)
    async with asyncio.timeout(20):
        while len(kept.process_ids) < COUNT or worker in kept.process_ids:
            await asyncio.wait([asyncio.create_task(asyncio.sleep(0.02))])


async def as_many_as_go(road: Road, refusal: str) -> list[psycopg.AsyncConnection]:
    """Connect until that is refused in these words."""
    made: list[psycopg.AsyncConnection] = []
    while True:
        try:
            made.append(await road.connect())
        except psycopg.OperationalError as error:
            if refusal not in str(error):
                raise
            return made


@pytest.mark.parametrize("limits", [{"max_connections_per_role": 6}])
async def test_a_roles_limit_holds_over_all_workers_and_a_dead_one_frees_its_share(
    workers: tuple[Workers, Road],
) -> None:
    kept, road = workers
    refusal = f'too many connections for role "{road.user}"'
    first = await as_many_as_go(road, refusal)
    assert len(first) == 6
    await first.pop().close()
    async with asyncio.timeout(10):
        while not (one_more := await as_many_as_go(road, refusal)):
            pass
    first += one_more
    assert len(first) == 6

    await killed_and_replaced(kept, kept.process_ids[0])

    alive = []
    for connection in first:
        try:
            await connection.execute("select 1")
            alive.append(connection)
        except psycopg.OperationalError:
            await connection.close()
    again = await as_many_as_go(road, refusal)
    assert len(alive) + len(again) == 6
    for connection in [*alive, *again]:
        await connection.close()


@pytest.mark.parametrize("limits", [{"max_connections_per_address": 5}])
async def test_an_addresses_limit_holds_over_all_workers_for_those_that_say_nothing_too(
    workers: tuple[Workers, Road], dial: Dial
) -> None:
    _, road = workers
    refusal = "too many connections from this address"
    silent = [await dial(road) for _ in range(3)]
    sessions = await as_many_as_go(road, refusal)
    assert len(sessions) == 2
    for wire in silent:
        wire.close()
    async with asyncio.timeout(10):
        while len(sessions) < 5:
            sessions += await as_many_as_go(road, refusal)
    for connection in sessions:
        await connection.close()


@pytest.mark.parametrize("limits", [{"max_logins_at_once": 6, "login_timeout_seconds": 0.5}])
async def test_one_deadline_ends_those_that_say_nothing_wherever_they_wait(
    workers: tuple[Workers, Road], dial: Dial
) -> None:
    _, road = workers
    flood = [await dial(road) for _ in range(24)]
    for wire in flood:
        assert await wire.rest() == b""
    async with await road.connect() as connection:
        await connection.execute("select 1")


async def cancelled_by_any_worker(connection: psycopg.AsyncConnection) -> None:
    """Cancel often enough that requests reach more than the session's own worker."""
    for _ in range(6):
        running = asyncio.create_task(connection.execute("select pg_sleep(60)"))
        while not running.done():
            await connection.cancel_safe()
            await asyncio.wait([running], timeout=0.05)
        with pytest.raises(psycopg.errors.QueryCanceled):
            await running
