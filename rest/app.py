"""Puts the HTTP interface together from what it is handed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from rest import (
    agents,
    aliases,
    docs,
    erasures,
    errors,
    events,
    health,
    life,
    memories,
    quarantine,
    recall,
    sharing,
    spaces,
    tidying,
)
from rest.dependencies import Authenticate, Services
from rest.envelope import Envelope
from rest.guards import LOOPBACK_HOSTS, BodyLimit, HostGuard, RateLimit
from rest.limits import Limits
from rest.metrics import Metrics
from rest.openapi import describe
from sql.agents import agent_for_token
from sql.pool import Pool
from sql.store import MemoryStore

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]

ROUTERS: Final = (
    memories.router,
    life.router,
    erasures.router,
    tidying.router,
    recall.router,
    quarantine.router,
    spaces.router,
    sharing.shares,
    sharing.delegations,
    agents.router,
    aliases.router,
    events.router,
    health.router,
    docs.router,
)

_NOTHING_MOUNTED: Final[Mapping[str, ASGIApp]] = MappingProxyType({})


def create_app(
    store: MemoryStore,
    pool: Pool,
    *,
    version: str,
    embedder: str | None = None,
    authenticate: Authenticate | None = None,
    limits: Limits | None = None,
    hosts: Sequence[str] = LOOPBACK_HOSTS,
    mounted: Mapping[str, ASGIApp] = _NOTHING_MOUNTED,
    lifespan: Lifespan = nullcontext,
    more_metrics: Callable[[], bytes] = bytes,
) -> FastAPI:
    """Return the app, which opens and closes nothing that it was handed.

    `embedder` is the model's name, for /readyz. `authenticate` finds a token's agent; left out, in
    the database at each request. `hosts` are the names that the server answers to, `*` for any.
    Each app of `mounted` answers all methods at exactly its path, behind the same guards; it runs
    inside `lifespan`, which is entered when the server starts. `more_metrics` is added to what
    /metrics shows. With MCP:

        mcp = mcp_asgi(create_server(request_caller(store, pool), …), authenticate, hosts=hosts)
        app = create_app(store, pool, …, mounted={"/mcp": mcp}, lifespan=mcp.running)
    """
    metrics = Metrics(more_metrics)
    app = _bare_app(version, lifespan)
    app.state.services = Services(
        store=store,
        pool=pool,
        authenticate=authenticate or partial(agent_for_token, pool),
        embedder=embedder,
        metrics=metrics,
    )
    for router in ROUTERS:
        app.include_router(router)
    for path, endpoint in mounted.items():
        app.router.routes.append(Route(path, endpoint, include_in_schema=False))
    errors.install(app)
    describe(app)
    # The last added is the outermost.
    limits = limits or Limits()
    app.add_middleware(BodyLimit, limits=limits)
    app.add_middleware(RateLimit, limits=limits)
    app.add_middleware(HostGuard, hosts=hosts)
    app.add_middleware(Envelope, metrics=metrics, mounted=mounted)
    return app


def _bare_app(version: str, lifespan: Lifespan) -> FastAPI:
    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        async with lifespan():
            yield

    # FastAPI's own pages of documentation load their scripts from elsewhere: see rest.docs.
    return FastAPI(
        title="pgrecall",
        version=version,
        description="Memory for AI agents that lives in Postgres.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=running,
    )
