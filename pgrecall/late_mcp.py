"""The MCP endpoint, made when all else serves already: importing its SDK takes half a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from starlette.types import Receive, Scope, Send


class Endpoint(Protocol):
    """An ASGI app that serves inside a context."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep what serves requests alive."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        ...


class LateEndpoint:
    """Serves by an endpoint that is made, in a thread, when it is wanted.

    That is when somebody sets the event, or when the first request comes, which waits for it.
    """

    def __init__(self, make: Callable[[], Endpoint], wanted: asyncio.Event) -> None:
        self._make = make
        self._wanted = wanted
        self._made: asyncio.Future[Endpoint] | None = None
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Make the endpoint when it is wanted, and keep it running; enter this once."""
        self._made = asyncio.get_running_loop().create_future()
        holding = asyncio.create_task(self._hold(self._made))
        try:
            yield
        finally:
            self._closing.set()
            if not self._wanted.is_set():
                holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; raises what making the endpoint raised."""
        assert self._made is not None
        self._wanted.set()
        endpoint = await asyncio.shield(self._made)
        await endpoint(scope, receive, send)

    async def _hold(self, made: asyncio.Future[Endpoint]) -> None:
        # One task enters and leaves, as the task groups inside demand.
        await self._wanted.wait()
        try:
            endpoint = await asyncio.to_thread(self._make)
            async with endpoint.running():
                made.set_result(endpoint)
                await self._closing.wait()
        except Exception as error:
            if made.done():
                raise
            made.set_exception(error)
            made.exception()  # it may be that nobody asks
