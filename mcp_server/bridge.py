"""MCP over standard input and output for a server that runs already: each message goes there."""

from __future__ import annotations

from typing import Final, Protocol

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

# A recall takes milliseconds; a server that was stopped must not hang its client.
_TIMEOUT: Final = httpx2.Timeout(60, connect=5)


class _Source(Protocol):
    async def receive(self) -> SessionMessage | Exception: ...


class _Sink(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...


async def run_bridge(url: str, token: str) -> None:
    """Pass messages between standard input and output and the endpoint, until the client closes.

    `url` is the endpoint's own, such as http://127.0.0.1:8499/mcp; `token` decides the agent.
    """
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT) as http,
        stdio_server() as (from_client, to_client),
        to_client,  # its writer goes on until the stream is closed, and the process with it
        streamable_http_client(url, http_client=http) as (from_server, to_server),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_pass_on, from_server, to_client)
        await _pass_on(from_client, to_server)
        tasks.cancel_scope.cancel()


async def _pass_on(source: _Source, sink: _Sink) -> None:
    while True:
        try:
            message = await source.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return
        if isinstance(message, SessionMessage):  # else a line that is no message: nobody to tell
            await sink.send(message)
