"""REST and MCP as one ASGI app."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fastapi import FastAPI

from gateway.metrics import exposition
from pgrecall import __version__
from pgrecall.deployment import Deployment
from pgrecall.late_mcp import Endpoint, LateEndpoint
from pgrecall.settings import is_loopback
from rest.app import create_app
from rest.guards import LOOPBACK_HOSTS
from sql.agents import agent_for_token


def build_app(deployment: Deployment) -> FastAPI:
    """Return the app; what it was handed stays open when it stops."""
    # Only this machine's own names, so that no web page reaches us under a name of its making.
    hosts = LOOPBACK_HOSTS if is_loopback(deployment.settings.http_host) else ("*",)
    mcp = LateEndpoint(partial(_make_mcp, deployment, hosts), deployment.settled)
    return create_app(
        deployment.store,
        deployment.pool,
        version=__version__,
        embedder=deployment.model,
        hosts=hosts,
        mounted={"/mcp": mcp},
        lifespan=mcp.running,
        more_metrics=exposition,
    )


def _make_mcp(deployment: Deployment, hosts: Sequence[str]) -> Endpoint:
    from mcp_server import create_server, mcp_asgi, request_caller

    pool = deployment.pool
    server = create_server(
        request_caller(deployment.store, pool),
        version=__version__,
        groups=deployment.settings.mcp_tools,
    )
    return mcp_asgi(server, partial(agent_for_token, pool), hosts=hosts)
