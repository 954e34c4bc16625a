"""One client from its first byte: opening, login, and the relay that follows."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Final

import structlog

from gateway import metrics
from gateway.channel import Channel, ChannelClosed
from gateway.config import GatewayConfig
from gateway.embedding_source import EmbeddingSource
from gateway.login import Logins, with_database
from gateway.opening import Opened, Unanswerable, open_client
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.startup import NEWEST_MINOR, CancelRequest, StartupMessage, negotiate
from gateway.refusals import BadProtocol, Forwarded, LoginTooSlow, Refusal, ShuttingDown
from gateway.relay import Relay
from gateway.rewriter import Rewriter
from gateway.slots import Slot, Slots
from gateway.tls import CertificateStore
from gateway.upstream import Backend, embedding_oid, forward_cancel, open_backend

_log = structlog.get_logger(__name__)

# How long the type's OID is believed; it changes when the schema is made anew.
_OID_SECONDS: Final = 60.0


class Sessions:
    """Admits clients and knows every session of this process."""

    def __init__(
        self,
        config: GatewayConfig,
        logins: Logins,
        embed: EmbeddingSource,
        certificates: CertificateStore | None,
    ) -> None:
        self._config = config
        self._logins = logins
        self._embed = embed
        self._certificates = certificates
        self._slots = Slots(config.limits, config.shared_count)
        self._relays: dict[Relay, Slot] = {}
        self._cancelling: set[asyncio.Task[None]] = set()
        self._oid: int | None = None
        self._oid_until = 0.0
        self.draining = False
        self.empty = asyncio.Event()
        self.empty.set()

    @property
    def relays(self) -> tuple[Relay, ...]:
        """The logged-in sessions."""
        return tuple(self._relays)

    async def admit(self, connection: socket.socket, address: str) -> None:
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
                        await self._log_in(opened, opened.packet, address)
        except Unanswerable as error:
            violation = error.violation
            self._refuse(error.channel, BadProtocol(str(violation), sqlstate=violation.sqlstate))
        except TimeoutError:
            if opened is not None:
                self._refuse(opened.channel, LoginTooSlow())
            _close(opened, connection)
        except (ChannelClosed, OSError):
            _close(opened, connection)

    async def _log_in(self, opened: Opened, asked: StartupMessage, address: str) -> None:
        role = asked.user.decode("utf-8", "replace")
        slot: Slot | None = None
        try:
            if self.draining:
                raise ShuttingDown
            slot = self._slots.take(address, role)
            backend = await self._authenticated(opened, asked)
            self._start(opened.channel, backend, slot)
            slot = None
        except Forwarded as error:
            opened.channel.write(error.response)
            opened.channel.close()
            metrics.REFUSALS.labels("postgres", error.sqlstate).inc()
            _log.info(
                "login_refused_by_postgres", role=role, address=address, sqlstate=error.sqlstate
            )
        except ProtocolViolation as error:
            self._refuse(opened.channel, BadProtocol(str(error), sqlstate=error.sqlstate))
        except Refusal as error:
            self._refuse(opened.channel, error, role=role, address=address)
        finally:
            if slot is not None:
                self._slots.free(slot)

    async def _authenticated(self, opened: Opened, asked: StartupMessage) -> Backend:
        startup, negotiation = negotiate(asked, NEWEST_MINOR)
        if negotiation is not None:
            opened.channel.write(negotiation.encode())
        credentials = await self._logins.authenticate(
            opened.channel, startup, opened.channel_binding
        )
        upstream = self._config.upstream
        backend = await open_backend(upstream, with_database(startup, upstream), credentials)
        if b"replication" not in startup.parameters and time.monotonic() >= self._oid_until:
            self._oid = await embedding_oid(backend.channel)
            self._oid_until = time.monotonic() + _OID_SECONDS
        return backend

    def _start(self, channel: Channel, backend: Backend, slot: Slot) -> None:
        relay = Relay(
            Rewriter(self._oid), self._embed, self._config.limits, self._cancel, self._ended
        )
        try:
            relay.start(channel, backend)
        except ChannelClosed:
            backend.channel.close()
            raise
        self._relays[relay] = slot
        self.empty.clear()
        metrics.LOGINS.inc()
        metrics.SESSIONS.inc()
        _log.info(
            "session_started",
            role=slot.role,
            address=slot.address,
            backend_pid=relay.process_id,
        )

    def _ended(self, relay: Relay) -> None:
        slot = self._relays.pop(relay, None)
        if slot is not None:
            self._slots.free(slot)
            if not self._relays:
                self.empty.set()
            metrics.SESSIONS.dec()
            metrics.SPLICES.inc(relay.splices)
            metrics.BYTES.labels("from_client").inc(relay.bytes_from_client)
            metrics.BYTES.labels("to_client").inc(relay.bytes_to_client)
            _log.info(
                "session_ended",
                role=slot.role,
                address=slot.address,
                backend_pid=relay.process_id,
                bytes_from_client=relay.bytes_from_client,
                bytes_to_client=relay.bytes_to_client,
                splices=relay.splices,
            )

    def _refuse(self, channel: Channel, refusal: Refusal, **about: str) -> None:
        metrics.REFUSALS.labels(refusal.reason, refusal.code).inc()
        _log.info("login_refused", reason=refusal.reason, sqlstate=refusal.code, **about)
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
