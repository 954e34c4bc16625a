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
from gateway import EmbeddingServer, Workers
from tests.clients.conftest import QUESTION, Road
from tests.conftest import Database
from tests.hash_embedder import HashEmbedder

WORKER = Path(__file__).parent / "programs" / "worker.py"
COUNT = 2
MOST = 12


@pytest.fixture
async def workers(
    database: Database, temporary_folder: Path, direct: Road
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
            "count": str(temporary_folder / "sessions"),
            "embedder": str(embedder),
            "workers": COUNT,
            "max_connections": MOST,
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

        made = Workers(COUNT, spawn, stop)
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
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(20):
        while len(kept.process_ids) < COUNT or first in kept.process_ids:
            await asyncio.wait([asyncio.create_task(asyncio.sleep(0.02))])
    assert second in kept.process_ids
    again = [await road.connect() for _ in range(3)]
    for connection in [*connections, *again]:
        await connection.close()


async def cancelled_by_any_worker(connection: psycopg.AsyncConnection) -> None:
    """Cancel often enough that requests reach more than the session's own worker."""
    for _ in range(6):
        running = asyncio.create_task(connection.execute("select pg_sleep(60)"))
        while not running.done():
            await connection.cancel_safe()
            await asyncio.wait([running], timeout=0.05)
        with pytest.raises(psycopg.errors.QueryCanceled):
            await running
