"""One gateway worker for tests: orders on standard input, a line once it listens."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from pathlib import Path

import structlog

from gateway import GatewayConfig, Limits, SharedPlaces, SocketEmbeddings, Upstream, serve
from sql.logins import login_secret
from sql.pool import create_pool


async def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    orders = json.loads(sys.stdin.readline())
    pool = await create_pool(orders["dsn"], min_size=1, max_size=2)
    places = SharedPlaces(Path(orders["places"]), orders["index"], orders["workers"])
    embeddings = SocketEmbeddings(Path(orders["embedder"]))
    config = GatewayConfig(
        upstream=Upstream(host=orders["host"], database=orders["database"]),
        port=orders["port"],
        limits=Limits(**orders["limits"], drain_seconds=0.2),
        reuse_port=True,
        shared_places=places,
    )
    gateway = await serve(config, partial(login_secret, pool), embeddings)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await gateway.close()
    await embeddings.close()
    await pool.close()


asyncio.run(main())
