"""MCP over streamable HTTP, for mounting: each request proves its agent with a bearer token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import structlog
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.authentication import AuthenticationError
from starlette.datastructures import Headers
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.callers import AgentToken
from sql.agents import Agent
from sql.errors import Unavailable

_RETRY_AFTER: Final = {"Retry-After": "2"}


class _DatabaseAway(AuthenticationError):
    """Nobody can say whose token it is."""


class _AgentTokens(TokenVerifier):
    def __init__(self, authenticate: Callable[[str], Awaitable[Agent | None]]) -> None:
        self._authenticate = authenticate

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            agent = await self._authenticate(token)
        except Unavailable as error:
            raise _DatabaseAway("the database is not available") from error
        if agent is None:
            return None
        structlog.contextvars.bind_contextvars(agent=agent.name)
        return AgentToken(token=token, client_id=agent.name, scopes=[], agent=agent)


class McpEndpoint:
    """The ASGI app; it serves inside `running()`, which can be entered once."""

    def __init__(self, app: ASGIApp, server: MCPServer[Any]) -> None:
        self._app = app
        self._server = server

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep what serves requests alive; leaving ends those in flight."""
        async with self._server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)


def mcp_asgi(
    server: MCPServer[Any],
    authenticate: Callable[[str], Awaitable[Agent | None]],
    *,
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "::1"),
    max_body_bytes: int = 16 * 2**20,
) -> McpEndpoint:
    """Return the endpoint, to be mounted at /mcp for all methods and run inside its `running()`.

    It keeps no sessions: any request may come to any process, and after a restart clients go on.
    `authenticate` finds the agent of a token; `hosts` are the names that it answers
    to, `*` for any.

        mcp = mcp_asgi(create_server(request_caller(store, pool), version=…), authenticate)
        app = create_app(store, pool, …, mounted={"/mcp": mcp}, lifespan=mcp.running)
    """
    server.streamable_http_app(  # makes the session manager; its routes are not used
        json_response=True,
        stateless_http=True,
        max_request_body_size=max_body_bytes,
        transport_security=_transport_security(hosts),
    )
    guarded = RequireAuthMiddleware(_by_method(server.session_manager.asgi_app), [])
    app = AuthenticationMiddleware(
        guarded, backend=BearerAuthBackend(_AgentTokens(authenticate)), on_error=_database_away
    )
    return McpEndpoint(app, server)


def _by_method(serve_message: ASGIApp) -> ASGIApp:
    """Serve POST; a GET gets a stream where it asks for one, and everything else 405.

    Some clients open the stream first and take anything else for a dead server (Claude Code 2.1.84,
    claude.ai); a browser that asks for a page is told what to send.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        accepted = Headers(scope=scope).get("accept", "")
        if scope["method"] == "POST":
            await serve_message(scope, receive, send)
        elif scope["method"] == "GET" and "text/event-stream" in accepted:
            await _silent_stream()(scope, receive, send)
        else:
            told = {"error": "this is an MCP endpoint: POST JSON-RPC messages to it"}
            await JSONResponse(told, 405, {"Allow": "POST, GET"})(scope, receive, send)

    return serve


def _silent_stream() -> EventSourceResponse:
    """Return a stream with heartbeats alone, since a server without sessions has nothing to say.

    It ends in good order when the server stops; the SDK's own would be cut off.
    """
    stopping = anyio.Event()

    async def no_events() -> AsyncIterator[ServerSentEvent]:
        await stopping.wait()
        yield ServerSentEvent(comment="the server stops")

    return EventSourceResponse(no_events(), shutdown_event=stopping, shutdown_grace_period=1)


def _transport_security(hosts: Sequence[str]) -> TransportSecuritySettings:
    if "*" in hosts:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [f"[{host}]" if ":" in host else host for host in hosts]
    allowed = [*names, *(f"{name}:*" for name in names)]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in allowed]
    return TransportSecuritySettings(allowed_hosts=allowed, allowed_origins=origins)


def _database_away(_: HTTPConnection, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 503, _RETRY_AFTER)
