"""Several gateway processes on one port: started, counted together, and replaced when they die.

Each worker listens with `reuse_port` and the kernel spreads connections over them. A cancel request
may reach any of them, since it carries Postgres's own key. They count connections together, see
gateway.places.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

_log = structlog.get_logger(__name__)

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 10.0
_LIVED_WELL_SECONDS: Final = 60.0


class Workers:
    """Keeps `count` workers alive. `spawn` starts the one of an index, and returns once it listens.

    A worker that dies is replaced, at once when it had lived well, after a growing pause when it
    had not; `buried` is told of it first. `stop` asks a worker to drain and returns when it has
    ended.
    """

    def __init__(
        self,
        count: int,
        spawn: Callable[[int], Awaitable[Process]],
        stop: Callable[[Process], Awaitable[None]],
        buried: Callable[[int], None] = lambda _index: None,
    ) -> None:
        self._spawn = spawn
        self._stop = stop
        self._buried = buried
        self._count = count
        self._alive: dict[int, Process] = {}
        self._keepers: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all; raises what `spawn` raises, with none left running."""
        try:
            for index in range(self._count):
                self._alive[index] = await self._spawn(index)
        except BaseException:
            await self.close()
            raise
        self._keepers = [asyncio.create_task(self._keep(index)) for index in range(self._count)]

    async def close(self) -> None:
        """Stop all of them at the same time."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await asyncio.gather(*map(self._stop, self._alive.values()))
        self._alive.clear()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The workers that are alive, by index."""
        return tuple(worker.pid for _, worker in sorted(self._alive.items()))

    async def _keep(self, index: int) -> None:
        loop = asyncio.get_running_loop()
        pause = 0.0
        while True:
            started = loop.time()
            code = await self._alive[index].wait()
            del self._alive[index]
            self._buried(index)
            lived_well = loop.time() - started > _LIVED_WELL_SECONDS
            _log.error("gateway_worker_died", index=index, code=code, pause_seconds=pause)
            while index not in self._alive:
                pause = 0.0 if lived_well else pause
                await asyncio.sleep(pause)
                pause = min(max(pause * 2, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
                lived_well = False
                try:
                    self._alive[index] = await self._spawn(index)
                except Exception:  # whatever kept it from starting may pass
                    _log.exception("gateway_worker_not_started", index=index)
