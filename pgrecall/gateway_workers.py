"""More processes of the gateway on one port, which share an embedder and the limits.

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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from gateway.config import SharedPlaces
from gateway.embedding_socket import EmbeddingServer, SocketEmbeddings
from gateway.places import wipe
from gateway.server import serve
from gateway.workers import Workers
from pgrecall.deployment import Deployment
from pgrecall.errors import ComponentDied
from pgrecall.logs import configure_logging
from pgrecall.settings import load_settings
from pgrecall.upstream import gateway_config, upstream_of
from sql.logins import login_secret
from sql.pool import create_pool

_START_SECONDS = 30.0
_STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """What the processes on one port share: the count of connections, and our embedder's socket."""

    path: Path
    processes: int

    @property
    def embeddings(self) -> Path:
        """The socket on which the first process embeds for all."""
        return self.path / "embeddings"

    def places(self, index: int) -> SharedPlaces:
        """Return where the process of that index counts its connections; ours is 0."""
        return SharedPlaces(self.path, index, self.processes)


def share(stack: AsyncExitStack, processes: int) -> SharedFolder:
    """Make the folder: a short path for the socket, and nobody else's."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pgrecall-"))
    return SharedFolder(Path(folder), processes)


async def start_workers(
    stack: AsyncExitStack, deployment: Deployment, shared: SharedFolder, *, port: int
) -> None:
    """Start the processes beside ours and wait until they listen; one that dies is replaced."""
    embeddings = EmbeddingServer(deployment.queries, shared.embeddings)
    await embeddings.start()
    stack.push_async_callback(embeddings.close)

    async def spawn(index: int) -> Process:
        return await _spawn(deployment, shared, index=index + 1, port=port)

    def buried(index: int) -> None:
        wipe(shared.places(0), index + 1)

    workers = Workers(shared.processes - 1, spawn, _stop, buried)
    await workers.start()
    stack.push_async_callback(workers.close)


async def _spawn(deployment: Deployment, shared: SharedFolder, *, index: int, port: int) -> Process:
    orders = {
        "dsn": deployment.dsn,
        "mock": deployment.state.secrets["mock"],
        "port": port,
        "folder": str(shared.path),
        "processes": shared.processes,
        "index": index,
        "settings": deployment.settings.given(),
    }
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgrecall.gateway_workers"),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(orders).encode() + b"\n")
    await worker.stdin.drain()
    try:
        async with asyncio.timeout(_START_SECONDS):
            listens = await worker.stdout.readline()
    except TimeoutError:
        worker.kill()
        raise ComponentDied("a gateway worker does not get to listen") from None
    if not listens:
        raise ComponentDied("a gateway worker ended before it listened")
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
    shared = SharedFolder(Path(orders["folder"]), orders["processes"])
    settings = load_settings(**orders["settings"])
    configure_logging(settings.log_level, settings.log_format)
    pool = await create_pool(orders["dsn"], min_size=1, max_size=4)
    config = gateway_config(
        settings,
        await upstream_of(orders["dsn"], pool),
        port=orders["port"],
        mock_secret=orders["mock"].encode(),
        shared=shared.places(orders["index"]),
    )
    embeddings = SocketEmbeddings(shared.embeddings)
    gateway = await serve(config, partial(login_secret, pool), embeddings)
    os.write(sys.stdout.fileno(), b"listening\n")
    await reader.read()  # until `up` ends, or wants us to
    await gateway.close()
    await embeddings.close()
    await pool.close()


if __name__ == "__main__":
    uvloop.run(_work())
