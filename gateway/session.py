"""One client from its first byte: opening, login, and the relay that follows."""

from __future__ import annotations

import asyncio
import socket

import structlog

from gateway import metrics
from gateway.channel import Channel, ChannelClosed
from gateway.config import GatewayConfig
from gateway.embedding_source import EmbeddingSource
from gateway.login import Logins, with_database
from gateway.opening import Opened, Unanswerable, open_client
from gateway.places import Place, Places
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.startup import CancelRequest, StartupMessage, negotiate
from gateway.refusals import (
    BadProtocol,
    CannotConnect,
    Forwarded,
    LoginTooSlow,
    Refusal,
    ShuttingDown,
)
from gateway.relay import Relay
from gateway.rewriter import Rewriter
from gateway.tls import CertificateStore
from gateway.upstream import Backend, forward_cancel, open_backend
from gateway.upstream_facts import UpstreamFacts

_log = structlog.get_logger(__name__)


class Sessions:
    """Admits clients and knows every session of this process."""

    def __init__(
        self,
        config: GatewayConfig,
        logins: Logins,
        embed: EmbeddingSource,
        certificates: CertificateStore | None,
        places: Places,
    ) -> None:
        self._config = config
        self._logins = logins
        self._embed = embed
        self._certificates = certificates
        self._places = places
        self._relays: dict[Relay, Place] = {}
        self._cancelling: set[asyncio.Task[None]] = set()
        self._facts = UpstreamFacts(config.upstream)
        self.draining = False
        self.empty = asyncio.Event()
        self.empty.set()

    @property
    def relays(self) -> tuple[Relay, ...]:
        """The logged-in sessions."""
        return tuple(self._relays)

    async def admit(self, connection: socket.socket, place: Place) -> None:
        """Take a new connection through its login; never raises for what a client does."""
        opened: Opened | None = None
        try:
            async with asyncio.timeout(self._config.limits.login_timeout_seconds):
                tls = None if self._certificates is None else self._certificates.current()
                opened = await open_client(connection, tls)
                if isinstance(opened.packet, CancelRequest):
                    await self._cancel_from_client(opened.packet)
                    opened.channel.close()
                else:
                    with metrics.LOGIN_SECONDS.time():
                        await self._log_in(opened, opened.packet, place)
        except Unanswerable as error:
            violation = error.violation
            self._refuse(error.channel, BadProtocol(str(violation), sqlstate=violation.sqlstate))
        except TimeoutError:
            self._refuse(None if opened is None else opened.channel, LoginTooSlow())
            _close(opened, connection)
        except (ChannelClosed, OSError):
            _close(opened, connection)

    async def _log_in(self, opened: Opened, asked: StartupMessage, place: Place) -> None:
        role = asked.user.decode("utf-8", "replace")
        try:
            if self.draining:
                raise ShuttingDown
            self._places.seat(place, role)
            backend, oid = await self._authenticated(opened, asked)
            self._start(opened.channel, backend, Rewriter(oid), place)
        except Forwarded as error:
            opened.channel.write(error.response)
            opened.channel.close()
            metrics.REFUSALS.labels("postgres", error.sqlstate).inc()
            _log.info(
                "login_refused_by_postgres",
                role=role,
                address=place.address,
                sqlstate=error.sqlstate,
            )
        except ProtocolViolation as error:
            self._refuse(opened.channel, BadProtocol(str(error), sqlstate=error.sqlstate))
        except Refusal as error:
            self._refuse(opened.channel, error, role=role, address=place.address)

    async def _authenticated(
        self, opened: Opened, asked: StartupMessage
    ) -> tuple[Backend, int | None]:
        startup, negotiation = negotiate(asked, await self._facts.newest_minor(asked))
        if negotiation is not None:
            opened.channel.write(negotiation.encode())
        credentials = await self._logins.authenticate(
            opened.channel, startup, opened.channel_binding
        )
        upstream = self._config.upstream
        startup = with_database(startup, upstream)
        backend = await open_backend(upstream, startup, credentials)
        try:
            return backend, await self._facts.embedding_oid(backend.channel, startup)
        except BaseException as error:
            backend.channel.close()
            if isinstance(error, ChannelClosed):
                raise CannotConnect("the database closed the connection during login") from error
            raise

    def _start(self, channel: Channel, backend: Backend, rewriter: Rewriter, place: Place) -> None:
        relay = Relay(rewriter, self._embed, self._config.limits, self._cancel, self._ended)
        try:
            relay.start(channel, backend)
        except ChannelClosed:
            backend.channel.close()
            raise
        self._places.logged_in(place)
        self._relays[relay] = place
        self.empty.clear()
        metrics.LOGINS.inc()
        metrics.SESSIONS.inc()
        _log.info(
            "session_started",
            role=place.role,
            address=place.address,
            backend_pid=relay.process_id,
        )

    def _ended(self, relay: Relay) -> None:
        place = self._relays.pop(relay, None)
        if place is not None:
            self._places.leave(place)
            if not self._relays:
                self.empty.set()
            metrics.SESSIONS.dec()
            metrics.SPLICES.inc(relay.splices)
            metrics.BYTES.labels("from_client").inc(relay.bytes_from_client)
            metrics.BYTES.labels("to_client").inc(relay.bytes_to_client)
            _log.info(
                "session_ended",
                role=place.role,
                address=place.address,
                backend_pid=relay.process_id,
                bytes_from_client=relay.bytes_from_client,
                bytes_to_client=relay.bytes_to_client,
                splices=relay.splices,
            )

    def _refuse(self, channel: Channel | None, refusal: Refusal, **about: str) -> None:
        metrics.REFUSALS.labels(refusal.reason, refusal.code).inc()
        _log.info("login_refused", reason=refusal.reason, sqlstate=refusal.code, **about)
        if channel is not None:
            channel.write(refusal.encode())
            channel.close()

    # --- cancel

    async def _cancel_from_client(self, request: CancelRequest) -> None:
        metrics.CANCELS.labels("client").inc()
        for relay in self._relays:
            if relay.cancel_request == request:
                relay.abort_embedding()
        await forward_cancel(self._config.upstream, request)

    def _cancel(self, request: CancelRequest) -> None:
        metrics.CANCELS.labels("gateway").inc()
        task = asyncio.create_task(forward_cancel(self._config.upstream, request))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)


def _close(opened: Opened | None, connection: socket.socket) -> None:
    if opened is None:
        connection.close()
    else:
        opened.channel.close()
