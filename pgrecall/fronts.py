"""The fronts of `up`: the gateway and the HTTP server, each with its drain."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from socket import socket

import uvicorn

from gateway.server import serve as serve_gateway
from pgrecall.deployment import Deployment
from pgrecall.embedded import DATABASE
from pgrecall.endpoints import Gateway, http_url, reachable
from pgrecall.errors import SettingsError
from pgrecall.gateway_workers import share, start_workers
from pgrecall.http_app import build_app
from pgrecall.parts import Parts
from pgrecall.sockets import listen, port_in_use
from pgrecall.upstream import gateway_config, upstream_of
from sql.logins import login_secret

_DRAIN_SECONDS = 10


async def start_gateway(stack: AsyncExitStack, deployment: Deployment) -> Gateway:
    """Start the gateway, in more processes than ours where that is set."""
    settings = deployment.settings
    processes = settings.gateway_workers or os.cpu_count() or 1
    shared = share(stack, processes) if processes > 1 else None
    if shared:  # sharing the port, we would not notice a stranger who has it
        listen(settings.gateway_host, settings.gateway_port, option="--gateway").close()
    upstream = await upstream_of(deployment.dsn, deployment.pool)
    config = gateway_config(
        settings,
        upstream,
        port=settings.gateway_port,
        mock_secret=deployment.state.secrets["mock"].encode(),
        shared=shared.places(0) if shared else None,
    )
    try:
        gateway = await serve_gateway(
            config, partial(login_secret, deployment.pool), deployment.queries
        )
    except ssl.SSLError as error:
        raise SettingsError(
            f"the gateway's certificate can't be used: {error}",
            hint="see PGRECALL_GATEWAY_TLS_CERT and PGRECALL_GATEWAY_TLS_KEY",
        ) from error
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        host, port = settings.gateway_host, settings.gateway_port
        raise port_in_use(host, port, option="--gateway") from error
    stack.push_async_callback(gateway.close)
    if shared:
        await start_workers(stack, deployment, shared, port=gateway.port)
    return Gateway(
        host=reachable(settings.gateway_host),
        port=gateway.port,
        database=upstream.database or DATABASE,
        tls=config.tls is not None,
    )


async def start_http(
    stack: AsyncExitStack, parts: Parts, deployment: Deployment, listener: socket
) -> str:
    """Start the HTTP server on a socket that listens already."""
    server = _Server(
        uvicorn.Config(
            build_app(deployment),
            log_config=None,
            access_log=False,
            server_header=False,
            # Else anybody on this machine could name his address; behind a proxy, say which.
            proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
    )
    task = parts.add("HTTP server", server.serve(sockets=[listener]))
    stack.push_async_callback(_drain, server, task)
    while not server.started:
        if task.done():
            await task
        await asyncio.sleep(0.005)
    host, port = listener.getsockname()[:2]
    return http_url(host, port)


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers: stopping is ours."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _drain(server: uvicorn.Server, task: asyncio.Task[None]) -> None:
    server.should_exit = True
    await asyncio.gather(task, return_exceptions=True)
