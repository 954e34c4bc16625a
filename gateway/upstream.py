"""The connection to Postgres: opened as the client's own role, with the key its proof revealed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from typing import Final

import structlog

from gateway.channel import Channel, ChannelClosed
from gateway.config import Upstream
from gateway.keepalive import keep_alive
from gateway.protocol import backend, frontend
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.scram import (
    MECHANISM,
    ClientExchange,
    ProofRefused,
    ScramError,
    Verifier,
    new_nonce,
)
from gateway.protocol.startup import NEWEST_MINOR, CancelRequest, SSLRequest, StartupMessage
from gateway.protocol.wire import frame
from gateway.refusals import CannotConnect, Forwarded, NotAuthorized, WrongPassword

_log = structlog.get_logger(__name__)

_MAX_LOGIN_MESSAGE_BYTES: Final = 1024 * 1024
_CANCEL_SECONDS: Final = 10.0
# Schema-qualified throughout: the session's search_path is the client's.
_EMBEDDING_OID: Final = b"select pg_catalog.to_regtype('memory.query_embedding')::pg_catalog.oid"


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend that waits for its first query.

    `greeting` is what it said from AuthenticationOk to ReadyForQuery, byte for byte.
    """

    channel: Channel
    greeting: bytes
    key: backend.BackendKeyData | None


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """What a proved client leaves us to log in with; only for this one login."""

    client_key: bytes
    verifier: Verifier


async def open_channel(upstream: Upstream) -> Channel:
    """Connect, with TLS where the upstream asks for it; raises CannotConnect."""
    loop = asyncio.get_running_loop()
    try:
        if upstream.is_socket:
            path = f"{upstream.host}/.s.PGSQL.{upstream.port}"
            _, channel = await loop.create_unix_connection(Channel, path)
            return channel
        _, channel = await loop.create_connection(Channel, upstream.host, upstream.port)
        connection: socket.socket = channel.transport.get_extra_info("socket")
        keep_alive(connection)
        if upstream.tls is not None:
            try:
                await _start_tls(channel, upstream)
            except BaseException:
                channel.close()
                raise
    except (OSError, ChannelClosed) as error:
        raise CannotConnect("the database can't be reached") from error
    return channel


async def _start_tls(channel: Channel, upstream: Upstream) -> None:
    assert upstream.tls is not None
    channel.write(SSLRequest().encode())
    if await channel.exactly(1) != b"S":
        raise CannotConnect("the database does not accept TLS connections")
    transport = await asyncio.get_running_loop().start_tls(
        channel.transport, channel, upstream.tls, server_hostname=upstream.host
    )
    if transport is None:
        raise CannotConnect("the database closed the connection during the TLS handshake")
    channel.connection_made(transport)


async def open_backend(
    upstream: Upstream, startup: StartupMessage, credentials: Credentials
) -> Backend:
    """Log in as the client.

    Raises Forwarded with Postgres's own refusal, or a Refusal.
    """
    channel = await open_channel(upstream)
    try:
        channel.write(startup.encode())
        await _authenticate(channel, startup, credentials)
        return await _greeting(channel)
    except BaseException as error:
        channel.close()
        if isinstance(error, ChannelClosed):
            raise CannotConnect("the database closed the connection during login") from error
        if isinstance(error, ProtocolViolation):
            raise CannotConnect("the database answered with what is no message") from error
        raise


async def _authenticate(
    channel: Channel, startup: StartupMessage, credentials: Credentials
) -> None:
    exchange = ClientExchange(credentials.client_key, credentials.verifier, new_nonce())
    while True:
        tag, body = await channel.message(_MAX_LOGIN_MESSAGE_BYTES)
        if tag == backend.ErrorResponse.tag:
            raise Forwarded(frame(tag, body))
        if tag != backend.Authentication.tag:
            continue  # NegotiateProtocolVersion, or a notice that belongs to nobody yet
        step = backend.Authentication.decode(body)
        if step.kind == backend.OK:
            return
        try:
            _answer(channel, exchange, step)
        except ProofRefused as error:
            _log.warning("verifier_differs", role=startup.user.decode("utf-8", "replace"))
            raise WrongPassword(startup.user) from error
        except ScramError as error:
            raise NotAuthorized(f"the database refused the login: {error}") from error


def _answer(channel: Channel, exchange: ClientExchange, step: backend.Authentication) -> None:
    if step.kind == backend.SASL and MECHANISM in step.mechanisms():
        channel.write(frontend.SASLInitialResponse(MECHANISM, exchange.first()).encode())
    elif step.kind == backend.SASL_CONTINUE:
        channel.write(frontend.SASLResponse(exchange.final(step.payload)).encode())
    elif step.kind == backend.SASL_FINAL:
        exchange.verify(step.payload)
    else:
        raise NotAuthorized(
            "the database asks for a kind of authentication that can't be passed on",
            hint="Let pg_hba.conf ask the gateway's connections for scram-sha-256.",
        )


async def _greeting(channel: Channel) -> Backend:
    said = [backend.Authentication(backend.OK).encode()]
    key = None
    while True:
        tag, body = await channel.message(_MAX_LOGIN_MESSAGE_BYTES)
        if tag == backend.ErrorResponse.tag:
            raise Forwarded(b"".join((*said, frame(tag, body))))
        said.append(frame(tag, body))
        if tag == backend.BackendKeyData.tag:
            key = backend.BackendKeyData.decode(body)
        elif tag == backend.ReadyForQuery.tag:
            return Backend(channel, b"".join(said), key)


async def embedding_oid(channel: Channel) -> int | None:
    """Ask an idle backend for the OID of memory.query_embedding; None where it can't be seen."""
    channel.write(frontend.Query(_EMBEDDING_OID).encode())
    oid = None
    while True:
        tag, body = await channel.message(_MAX_LOGIN_MESSAGE_BYTES)
        if tag == backend.DataRow.tag:
            (value,) = backend.DataRow.decode(body).values
            oid = int(value) if value else None
        elif tag == backend.ReadyForQuery.tag:
            return oid


async def newest_minor(upstream: Upstream, asked: StartupMessage) -> int:
    """Ask for the newest protocol and return the minor version that the upstream settles for.

    What it can't do it says before it asks for a password, and this goes no further than that.
    """
    channel = await open_channel(upstream)
    try:
        channel.write(StartupMessage(NEWEST_MINOR, asked.parameters).encode())
        tag, body = await channel.message(_MAX_LOGIN_MESSAGE_BYTES)
        if tag != backend.NegotiateProtocolVersion.tag:
            return NEWEST_MINOR
        told = backend.NegotiateProtocolVersion.decode(body)
        return min(told.version & 0xFFFF, NEWEST_MINOR)
    except (ChannelClosed, ProtocolViolation) as error:
        raise CannotConnect("the database closed the connection during login") from error
    finally:
        channel.close()


async def forward_cancel(upstream: Upstream, request: CancelRequest) -> None:
    """Pass a cancel request on, and return when Postgres has taken it."""
    with contextlib.suppress(CannotConnect, ChannelClosed, TimeoutError):
        async with asyncio.timeout(_CANCEL_SECONDS):
            channel = await open_channel(upstream)
            try:
                channel.write(request.encode())
                await channel.exactly(1)  # nothing comes but the end
            finally:
                channel.close()
