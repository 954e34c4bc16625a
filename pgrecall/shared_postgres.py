"""The embedded Postgres among processes that come and go: whoever is first runs it.

MCP clients start a `pgrecall mcp` each. The first claims the state folder and runs Postgres, the
others connect to it; when the first one ends, another takes over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.errors import StateFolderInUse
from pgrecall.state_folder import StateFolder
from pgrecall.supervision import keep_running
from sql.migrate import migrate

_LOOK_SECONDS = 0.2


@asynccontextmanager
async def shared_postgres(state: StateFolder) -> AsyncIterator[EmbeddedPostgres]:
    """Yield the server once it answers, ours or another process's.

    Raises what starting and migrating raise.
    """
    postgres = EmbeddedPostgres(state)
    ready = asyncio.Event()
    running = asyncio.create_task(_run_or_wait(state, postgres, ready))
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        yield postgres
    finally:
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _run_or_wait(
    state: StateFolder, postgres: EmbeddedPostgres, ready: asyncio.Event
) -> None:
    while True:
        if state.holder() is None:
            try:
                await _run(state, postgres, ready)
            except StateFolderInUse:  # another was faster
                continue
        if postgres.answers():
            ready.set()
        await asyncio.sleep(_LOOK_SECONDS)


async def _run(state: StateFolder, postgres: EmbeddedPostgres, ready: asyncio.Event) -> None:
    with state.claim():
        await postgres.start()
        try:
            await migrate(postgres.app_dsn)
            ready.set()
            await keep_running(postgres)
        finally:
            await postgres.stop()
