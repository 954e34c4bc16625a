"""Listening, and a shutdown that lets transactions end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from functools import partial
from typing import Final

import structlog

from gateway import metrics
from gateway.config import Embeddings, GatewayConfig, LoginSecrets
from gateway.embedding_source import EmbeddingSource
from gateway.keepalive import keep_alive
from gateway.login import Logins
from gateway.places import Place, Places
from gateway.refusals import TooManyClients
from gateway.session import Sessions
from gateway.tls import CertificateStore

_log = structlog.get_logger(__name__)

_BACKLOG: Final = 1024
_LAST_WORDS_SECONDS: Final = 1.0
# A login costs milliseconds of the loop that every session shares. More than so many a second one
# process hardly completes, so that honest clients lose nothing, and a flood leaves the loop free.
_ACCEPTS_PER_SECOND: Final = 400
_ACCEPTS_AT_ONCE: Final = 20
# After accept() fails, for want of file descriptors say, trying at once only burns CPU.
_ACCEPT_PAUSE_SECONDS: Final = 0.1


class InsecureBind(Exception):
    """An address beyond this machine without TLS."""


class Gateway:
    """A listening gateway; `port` is the one it got."""

    def __init__(
        self,
        listeners: list[socket.socket],
        sessions: Sessions,
        places: Places,
        config: GatewayConfig,
    ) -> None:
        self._listeners = listeners
        self._sessions = sessions
        self._places = places
        self._limits = config.limits
        self.port: int = listeners[0].getsockname()[1]
        self._logins: set[asyncio.Task[None]] = set()
        self._pace = _Pace(_ACCEPTS_PER_SECOND, _ACCEPTS_AT_ONCE)
        self._background = [asyncio.create_task(self._accept(one)) for one in listeners]
        if config.limits.idle_timeout_seconds is not None:
            sweep = self._end_idle(config.limits.idle_timeout_seconds)
            self._background.append(asyncio.create_task(sweep))

    @property
    def session_count(self) -> int:
        """How many sessions are logged in."""
        return len(self._sessions.relays)

    async def close(self) -> None:
        """Stop listening, let transactions end for a while, then end every session (57P01)."""
        await self._stop_listening()
        self._sessions.draining = True
        for relay in self._sessions.relays:
            relay.drain()
        await self._emptied(self._limits.drain_seconds)
        for relay in self._sessions.relays:
            relay.shut_down()
        for login in tuple(self._logins):
            login.cancel()
        await self._emptied(_LAST_WORDS_SECONDS)
        self._places.close()

    async def _stop_listening(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        for listener in self._listeners:
            listener.close()

    async def _emptied(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*self._logins, return_exceptions=True)
                await self._sessions.empty.wait()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listener)
            except OSError as error:
                _log.warning("accept_failed", error=str(error))
                await asyncio.sleep(_ACCEPT_PAUSE_SECONDS)
                continue
            self._begin_login(connection, address[0])
            await self._pace.wait()

    def _begin_login(self, connection: socket.socket, address: str) -> None:
        place = self._places.enter(address)
        if place is None:  # a flood; whoever is honest tries again
            metrics.REFUSALS.labels(TooManyClients.reason, TooManyClients.sqlstate).inc()
            connection.close()
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(connection)
        login = asyncio.create_task(self._sessions.admit(connection, place))
        self._logins.add(login)
        login.add_done_callback(partial(self._login_done, place))

    def _login_done(self, place: Place, login: asyncio.Task[None]) -> None:
        self._logins.discard(login)
        if not place.is_session:
            self._places.leave(place)
        if not login.cancelled() and (error := login.exception()) is not None:
            _log.error("login_failed", exc_info=error)

    async def _end_idle(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            for relay in self._sessions.relays:
                relay.end_if_idle()


class _Pace:
    """So many a second, and so many at once after a quiet time."""

    def __init__(self, per_second: float, at_once: int) -> None:
        self._seconds = 1 / per_second
        self._ahead = at_once * self._seconds
        self._due = 0.0

    async def wait(self) -> None:
        """Let the loop go round, and return when the next may come."""
        now = asyncio.get_running_loop().time()
        self._due = max(self._due + self._seconds, now - self._ahead)
        await asyncio.sleep(max(0.0, self._due - now))


async def serve(
    config: GatewayConfig, login_secrets: LoginSecrets, embeddings: Embeddings
) -> Gateway:
    """Listen and return the gateway.

    Raises InsecureBind for an address beyond loopback without TLS, and OSError for an address
    that can't be had or a certificate that can't be loaded.
    """
    listeners = await _listeners(config)
    try:
        certificates = None if config.tls is None else CertificateStore(config.tls)
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    logins = Logins(login_secrets, config.mock_secret)
    embed = EmbeddingSource(embeddings, config.limits.embedding_timeout_seconds)
    places = Places(config.limits, config.shared_places)
    sessions = Sessions(config, logins, embed, certificates, places)
    gateway = Gateway(listeners, sessions, places, config)
    _log.info("gateway_listening", host=config.host, port=gateway.port, tls=config.tls is not None)
    return gateway


async def _listeners(config: GatewayConfig) -> list[socket.socket]:
    found = await asyncio.get_running_loop().getaddrinfo(
        config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    addresses = list(dict.fromkeys((family, address) for family, _, _, _, address in found))
    for _, address in addresses:
        if config.tls is None and not ipaddress.ip_address(address[0]).is_loopback:
            raise InsecureBind(
                f"the gateway does not listen on {address[0]}, beyond this machine, without TLS"
            )
    listeners: list[socket.socket] = []
    try:
        for family, address in addresses:
            port = listeners[0].getsockname()[1] if listeners else address[1]
            listeners.append(_listening(family, (address[0], port, *address[2:]), config))
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _listening(
    family: socket.AddressFamily, address: tuple[str | int | bytes, ...], config: GatewayConfig
) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if config.reuse_port:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
