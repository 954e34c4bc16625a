"""MCP over standard input and output for a server that runs already: each message goes there."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import anyio
import httpx
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

# A recall takes milliseconds; a server that was stopped must not hang its client.
_TIMEOUT: Final = httpx.Timeout(60, connect=5)
_HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}
_VERSION_HEADER: Final = "Mcp-Protocol-Version"


async def run_bridge(url: str, token: str) -> None:
    """Pass messages between standard input and output and the endpoint, until the client closes.

    `url` is the endpoint's own, such as http://127.0.0.1:8499/mcp; `token` decides the agent. The
    endpoint keeps no session, so that it may be restarted meanwhile; while it is away, requests are
    answered with an error.
    """
    headers = {**_HEADERS, "Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=_TIMEOUT) as http,
        stdio_server() as (from_client, to_client),
        to_client,  # its writer goes on until the stream is closed, and the process with it
        anyio.create_task_group() as tasks,
    ):
        endpoint = _Endpoint(http, url)

        async def pass_on(message: JSONRPCMessage) -> None:
            if (answer := await endpoint.ask(message)) is not None:
                await to_client.send(SessionMessage(answer))

        async for received in from_client:
            if isinstance(received, SessionMessage):  # else a line that is no message
                tasks.start_soon(pass_on, received.message)


class _Endpoint:
    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def ask(self, message: JSONRPCMessage) -> JSONRPCMessage | None:
        """Return the endpoint's answer; None where none is due."""
        body = message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            response = await self._http.post(self._url, content=body)
        except httpx.HTTPError as error:
            reason = f"the running pgrecall does not answer ({type(error).__name__})"
            return _failure(message, reason)
        if response.status_code == HTTPStatus.ACCEPTED:
            return None
        try:
            answer = jsonrpc_message_adapter.validate_json(response.content)
        except ValidationError:
            return _failure(message, f"the running pgrecall answered {response.status_code}")
        self._note_version(answer)
        return answer

    def _note_version(self, answer: JSONRPCMessage) -> None:
        """Name the version that initialize agreed upon in all that follows."""
        if isinstance(answer, JSONRPCResponse) and "protocolVersion" in answer.result:
            self._http.headers[_VERSION_HEADER] = str(answer.result["protocolVersion"])


def _failure(message: JSONRPCMessage, reason: str) -> JSONRPCError | None:
    if not isinstance(message, JSONRPCRequest):
        return None
    error = ErrorData(code=INTERNAL_ERROR, message=reason)
    return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
