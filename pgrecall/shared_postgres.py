"""The embedded Postgres among processes that come and go: whoever is first runs it.

MCP clients start a `pgrecall mcp` each. The first claims the state folder and runs Postgres, the
others and commands connect to it; when the first one ends, another takes over. An `up` that starts
asks them to give way, and they go on as its clients. Commands wait for each other.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.errors import DatabaseError, StateFolderInUse
from pgrecall.state_folder import Purpose, StateFolder
from pgrecall.supervision import keep_running
from sql.migrate import migrate

_LOOK_SECONDS = 0.2
_START_SECONDS = 90.0


@asynccontextmanager
async def shared_postgres(
    state: StateFolder, purpose: Purpose = "command", *, migrated: bool = True
) -> AsyncIterator[EmbeddedPostgres]:
    """Yield the server once it answers, ours or another process's.

    Raises what starting and migrating raise, and DatabaseError when another process holds the
    folder and does not get its server to answer.
    """
    shared = _Shared(state, purpose, migrated=migrated)
    running = asyncio.create_task(shared.run_or_wait())
    waiting = asyncio.create_task(shared.ready.wait())
    try:
        await asyncio.wait(
            (running, waiting), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if running.done():
            await running
        if not waiting.done():
            holder = state.holder()
            by = f"process {holder.pid}" if holder else "another process"
            raise DatabaseError(f"{by} holds {state.path}, and its Postgres does not answer")
        yield shared.postgres
    finally:
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class _Shared:
    def __init__(self, state: StateFolder, purpose: Purpose, *, migrated: bool) -> None:
        self.postgres = EmbeddedPostgres(state)
        self.ready = asyncio.Event()
        self._give_way = asyncio.Event()
        self._state = state
        self._purpose = purpose
        self._migrated = migrated

    async def run_or_wait(self) -> None:
        """Run Postgres whenever nobody else does."""
        if self._purpose == "mcp":
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._give_way.set)
        while True:
            holder = self._state.holder()
            if holder is None:
                with suppress(StateFolderInUse):  # another was faster
                    await self._run()
            elif holder.serving:
                self.ready.set()
            await asyncio.sleep(_LOOK_SECONDS)

    async def _run(self) -> None:
        with self._state.claim(self._purpose):
            self._give_way.clear()
            await self.postgres.start()
            try:
                if self._migrated:
                    await migrate(self.postgres.app_dsn)
                if self._purpose == "mcp":
                    self._state.tell_serving()
                self.ready.set()
                await self._until_asked()
            finally:
                await self.postgres.stop()

    async def _until_asked(self) -> None:
        keeping = asyncio.create_task(keep_running(self.postgres))
        asked = asyncio.create_task(self._give_way.wait())
        try:
            await asyncio.wait((keeping, asked), return_when=asyncio.FIRST_COMPLETED)
            if keeping.done():
                await keeping
        finally:
            asked.cancel()
            keeping.cancel()
            await asyncio.gather(asked, keeping, return_exceptions=True)
