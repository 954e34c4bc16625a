"""More processes of the gateway on the same port; one embedder, in the first, serves them all.

A worker reads its orders from standard input, says a line once it listens, and ends when its
standard input does: so none outlives `up`, however that ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import uvloop

from gateway.embedding_socket import EmbeddingServer, SocketEmbeddings
from gateway.server import serve
from pgrecall.deployment import Deployment
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
    if count < 1:
        return
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgrecall-"))
    socket = Path(folder) / "embeddings"  # a short path, and a folder of nobody else's
    embeddings = EmbeddingServer(deployment.queries, socket)
    await embeddings.start()
    stack.push_async_callback(embeddings.close)
    workers = [await _spawn(deployment, port, socket) for _ in range(count)]
    for worker in workers:
        stack.push_async_callback(_stop, worker)
        parts.add("gateway worker", worker.wait())
    try:
        async with asyncio.timeout(_START_SECONDS):
            await asyncio.gather(*map(_listening, workers))
    except TimeoutError:
        raise ComponentDied("a gateway worker does not get to listen") from None


async def _listening(worker: Process) -> None:
    assert worker.stdout is not None
    if not await worker.stdout.readline():
        raise ComponentDied("a gateway worker ended before it listened")


async def _spawn(deployment: Deployment, port: int, socket: Path) -> Process:
    orders = {
        "dsn": deployment.dsn,
        "mock": deployment.state.secrets["mock"],
        "port": port,
        "embeddings": str(socket),
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
    config = gateway_config(
        settings,
        await upstream_of(orders["dsn"], pool),
        port=orders["port"],
        mock_secret=orders["mock"].encode(),
        many=True,
    )
    embeddings = SocketEmbeddings(Path(orders["embeddings"]))
    gateway = await serve(config, partial(login_secret, pool), embeddings)
    os.write(sys.stdout.fileno(), b"listening\n")
    await reader.read()  # until `up` ends, or wants us to
    await gateway.close()
    await embeddings.close()
    await pool.close()


if __name__ == "__main__":
    uvloop.run(_work())
