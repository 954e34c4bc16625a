"""More processes of the gateway on the same port, each with its own pool and embedder.

A worker reads its orders from standard input, says a line once it listens, and ends when its
standard input does: so none outlives `up`, however that ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from functools import partial

import uvloop

from embedding import QueryEmbeddings
from gateway.server import serve
from pgrecall.deployment import Deployment
from pgrecall.embedders import configured_embedder
from pgrecall.errors import ComponentDied
from pgrecall.logs import configure_logging
from pgrecall.parts import Parts
from pgrecall.settings import load_settings
from pgrecall.upstream import gateway_config, upstream_of
from sql.logins import login_secret
from sql.pool import create_pool

_START_SECONDS = 30.0
_STOP_SECONDS = 15.0


async def start_workers(
    stack: AsyncExitStack, parts: Parts, deployment: Deployment, *, port: int, count: int
) -> None:
    """Start `count` workers on the port and wait until they listen."""
    workers = [await _spawn(deployment, port) for _ in range(count)]
    for worker in workers:
        stack.push_async_callback(_stop, worker)
        parts.add("gateway worker", worker.wait())
    async with asyncio.timeout(_START_SECONDS):
        for worker in workers:
            assert worker.stdout is not None
            if not await worker.stdout.readline():
                raise ComponentDied("a gateway worker ended before it listened")


async def _spawn(deployment: Deployment, port: int) -> Process:
    orders = {
        "dsn": deployment.dsn,
        "mock": deployment.state.secrets["mock"],
        "port": port,
        "settings": deployment.settings.given(),
    }
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgrecall.gateway_workers"),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(orders).encode() + b"\n")
    await worker.stdin.drain()
    return worker


async def _stop(worker: Process) -> None:
    """Let it drain; end it when that takes too long."""
    assert worker.stdin is not None
    worker.stdin.close()
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await worker.wait()
    except TimeoutError:
        worker.kill()


async def _work() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    orders = json.loads(await reader.readline())
    settings = load_settings(**orders["settings"])
    configure_logging(settings.log_level, settings.log_format)
    pool = await create_pool(orders["dsn"], min_size=1, max_size=4)
    embedder = configured_embedder(settings)
    config = gateway_config(
        settings,
        await upstream_of(orders["dsn"], pool),
        port=orders["port"],
        mock_secret=orders["mock"].encode(),
        many=True,
    )
    gateway = await serve(config, partial(login_secret, pool), QueryEmbeddings(embedder))
    os.write(sys.stdout.fileno(), b"listening\n")
    await reader.read()  # until `up` ends, or wants us to
    await gateway.close()
    await pool.close()


if __name__ == "__main__":
    uvloop.run(_work())
