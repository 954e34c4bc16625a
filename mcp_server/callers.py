"""Who makes the present request, and the store that it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from sql.agents import Agent
from sql.pool import Pool
from sql.store import MemoryStore

RequestContext: TypeAlias = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent, and its way to the memories."""

    store: MemoryStore
    pool: Pool
    agent: Agent


ResolveCaller: TypeAlias = Callable[[RequestContext], Awaitable[Caller]]


class AgentToken(AccessToken):
    """A bearer token that proved to be an agent's."""

    agent: Agent


def request_caller(store: MemoryStore, pool: Pool) -> ResolveCaller:
    """Return a resolver that takes each HTTP request's own bearer token."""

    async def resolve(context: RequestContext) -> Caller:
        assert context.request is not None
        token = context.request.user.access_token  # mcp_asgi lets nobody through without one
        assert isinstance(token, AgentToken)
        return Caller(store, pool, token.agent)

    return resolve


class CurrentCaller:
    """The caller of the request that is being served: `await caller()`.

    Resources of a fixed URI are given no context by the SDK, so the request's stands here.
    """

    def __init__(self, resolve: ResolveCaller) -> None:
        self._resolve = resolve
        self._context: ContextVar[RequestContext] = ContextVar("mcp_request")

    async def middleware(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Note the request for as long as it is served."""
        token = self._context.set(ctx)
        try:
            return await call_next(ctx)
        finally:
            self._context.reset(token)

    async def __call__(self) -> Caller:
        """Return the present request's caller."""
        return await self._resolve(self._context.get())
