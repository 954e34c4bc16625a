"""MCP over standard input and output, for clients that start the server themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

import structlog

from mcp_server.callers import Caller, RequestContext
from mcp_server.server import create_server
from sql.errors import Unavailable

log = structlog.get_logger(__name__)

OpenCaller: TypeAlias = Callable[[], AbstractAsyncContextManager[Caller]]


async def run_stdio(
    open_caller: OpenCaller, *, version: str, groups: Collection[str] = ("core",)
) -> None:
    """Serve until the client closes standard input; standard output carries the protocol alone.

    `initialize` is answered at once, while `open_caller()` is entered in the background; the first
    call that needs the memory waits for it. An opening that failed is told to the client, and tried
    again at the next call. Logging must be set up for standard error before.
    """
    opening = _Opening(open_caller)
    server = create_server(opening.caller, version=version, groups=groups)
    opening.begin()
    try:
        await server.run_stdio_async()
    finally:
        await opening.close()


class _Opening:
    """Enters and leaves a context in one task of its own, as task groups inside it demand."""

    def __init__(self, open_caller: OpenCaller) -> None:
        self._open_caller = open_caller
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Caller]
        self._task: asyncio.Task[None]

    def begin(self) -> None:
        """Start to open."""
        self._opened = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(self._opened))

    async def caller(self, _: RequestContext) -> Caller:
        """Wait until it is open; raises Unavailable when it can't be."""
        if self._task.done():
            self.begin()
        return await asyncio.shield(self._opened)

    async def close(self) -> None:
        """Leave the context."""
        self._closing.set()
        if not self._opened.done():
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _hold(self, opened: asyncio.Future[Caller]) -> None:
        try:
            async with self._open_caller() as caller:
                opened.set_result(caller)
                await self._closing.wait()
        except Exception as error:
            log.exception("the memory could not be opened or closed")
            if not opened.done():
                opened.set_exception(Unavailable(f"the memory can't be opened: {error}"))
                opened.exception()  # it may be that nobody asks
        finally:
            opened.cancel()
