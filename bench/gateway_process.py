"""A gateway process for the benchmarks: orders on standard input, its port on standard output."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from functools import partial

import structlog
import uvloop

from gateway import GatewayConfig, Limits, Upstream, serve
from sql.logins import login_secret
from sql.pool import create_pool
from sql.records import query_embedding

DIMENSION = 384


class ReadyEmbeddings:
    """An embedder that takes no time, so that what is measured is the gateway."""

    def __init__(self, model: str, delay_seconds: float) -> None:
        self._made = query_embedding(model, [DIMENSION**-0.5] * DIMENSION)
        self._delay_seconds = delay_seconds

    async def many(self, texts: Sequence[str]) -> list[str]:
        if self._delay_seconds:
            await asyncio.sleep(self._delay_seconds)
        return [self._made] * len(texts)

    async def passage(self, text: str) -> str | None:
        return self._made


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    orders = json.loads(sys.stdin.readline())
    pool = await create_pool(orders["dsn"], min_size=1, max_size=2)
    gateway = await serve(
        GatewayConfig(
            upstream=Upstream(host=orders["host"], database=orders["database"]),
            port=orders["port"],
            limits=Limits(max_connections=5000, max_logins_at_once=2000),
            reuse_port=True,
        ),
        partial(login_secret, pool),
        ReadyEmbeddings(orders["model"], orders["delay_seconds"]),
    )
    print(gateway.port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await gateway.close()
    await pool.close()


if __name__ == "__main__":
    uvloop.run(main())
