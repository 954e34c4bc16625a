"""REST and MCP as one ASGI app."""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI

from mcp_server import create_server, mcp_asgi, request_caller
from pgrecall import __version__
from pgrecall.deployment import Deployment
from pgrecall.settings import is_loopback
from rest.app import create_app
from rest.guards import LOOPBACK_HOSTS
from sql.agents import agent_for_token


def build_app(deployment: Deployment) -> FastAPI:
    """Return the app; what it was handed stays open when it stops."""
    settings, pool, store = deployment.settings, deployment.pool, deployment.store
    # Only this machine's own names, so that no web page reaches us under a name of its making.
    hosts = LOOPBACK_HOSTS if is_loopback(settings.http_host) else ("*",)
    server = create_server(
        request_caller(store, pool), version=__version__, groups=settings.mcp_tools
    )
    mcp = mcp_asgi(server, partial(agent_for_token, pool), hosts=hosts)
    return create_app(
        store,
        pool,
        version=__version__,
        embedder=deployment.model,
        hosts=hosts,
        mounted={"/mcp": mcp},
        lifespan=mcp.running,
    )
