"""How a connection opens: TLS or not, cancel or startup.

The socket is read by hand until it's clear whether TLS begins, so that no byte sent in the clear
can be taken for one sent over TLS (CVE-2021-23214).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.channel import Channel, ChannelClosed
from gateway.protocol.client_hello import (
    MAX_RECORD_BYTES,
    NO_APPLICATION_PROTOCOL,
    RECORD_HEADER_BYTES,
    offered_protocols,
    record_bytes,
)
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.startup import (
    TLS_HANDSHAKE_BYTE,
    CancelRequest,
    GSSENCRequest,
    SSLRequest,
    StartupMessage,
    body_bytes,
    decode,
)
from gateway.tls import ALPN_PROTOCOL, ServerTls

_HANDSHAKE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection whose first real packet was read; `channel_binding` is None without TLS."""

    channel: Channel
    packet: CancelRequest | StartupMessage
    channel_binding: bytes | None


async def open_client(connection: socket.socket, tls: ServerTls | None) -> Opened:
    """Answer the requests for encryption and read the packet that follows them.

    Raises ChannelClosed, or Unanswerable with a channel through which the client can be told.
    """
    if tls is not None and await _first_byte(connection) == TLS_HANDSHAKE_BYTE:
        channel = await _over_tls(connection, tls)
        secured = channel.transport.get_extra_info("ssl_object")
        if secured.selected_alpn_protocol() != ALPN_PROTOCOL:
            channel.transport.abort()
            raise ChannelClosed
        return await _read(channel, tls)
    return await _requests(connection, tls)


class Unanswerable(Exception):
    """A packet that can't be accepted; the channel is there to say so."""

    def __init__(self, channel: Channel, violation: ProtocolViolation) -> None:
        super().__init__(str(violation))
        self.channel = channel
        self.violation = violation


async def _requests(connection: socket.socket, tls: ServerTls | None) -> Opened:
    channel = await _plain(connection)
    asked: set[type] = set()
    with _dropped_on_failure(channel):
        while True:
            packet = await _packet(channel)
            if isinstance(packet, CancelRequest | StartupMessage):
                return Opened(channel, packet, None)
            if type(packet) in asked:
                raise Unanswerable(channel, ProtocolViolation("unsupported frontend protocol"))
            asked.add(type(packet))
            if isinstance(packet, GSSENCRequest) or tls is None:
                channel.write(b"N")
                continue
            return await _read(await _upgraded(channel, tls), tls)


@contextlib.contextmanager
def _dropped_on_failure(channel: Channel) -> Iterator[None]:
    try:
        yield
    except Unanswerable:
        raise
    except BaseException:
        channel.transport.abort()
        raise


async def _upgraded(channel: Channel, tls: ServerTls) -> Channel:
    # Nothing may be read in the clear between the answer and the handshake.
    channel.transport.pause_reading()
    if channel.ahead:
        raise Unanswerable(
            channel, ProtocolViolation("received unencrypted data after SSL request")
        )
    channel.write(b"S")
    await _no_foreign_protocol(channel)
    secured = Channel()
    try:
        transport = await asyncio.get_running_loop().start_tls(
            channel.transport,
            secured,
            tls.context,
            server_side=True,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )
    except OSError as error:
        raise ChannelClosed from error
    if transport is None:
        raise ChannelClosed
    secured.connection_made(transport)
    return secured


async def _no_foreign_protocol(channel: Channel) -> None:
    """Refuse a client that speaks TLS for something else, as Postgres 17 does.

    Behind an SSLRequest a client need not name a protocol; the handshake can't tell one that names
    none from one that names others. So its hello is looked at while it's still in the socket.
    """
    hello = await _first_record(channel.transport.get_extra_info("socket").fileno())
    offered = offered_protocols(hello)
    if offered and ALPN_PROTOCOL.encode() not in offered:
        channel.write(NO_APPLICATION_PROTOCOL)
        channel.close()
        raise ChannelClosed


async def _first_record(descriptor: int) -> bytes:
    """Return the TLS record that comes next without taking it; less of it from one who leaves."""
    # The loop takes no reader for the descriptor itself, which is the transport's.
    with socket.socket(fileno=os.dup(descriptor)) as hello:
        try:
            header = await _ahead(hello, RECORD_HEADER_BYTES)
            if header[:1] != bytes([TLS_HANDSHAKE_BYTE]):
                return header
            return await _ahead(hello, min(record_bytes(header), MAX_RECORD_BYTES))
        finally:
            hello.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def _ahead(connection: socket.socket, size: int) -> bytes:
    """Wait for so many bytes, or the last, and return them without taking them."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    await _readable(connection)
    try:
        return connection.recv(size, socket.MSG_PEEK)
    except OSError as error:
        raise ChannelClosed from error


async def _plain(connection: socket.socket) -> Channel:
    channel = Channel()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: channel, connection)
    return channel


async def _over_tls(connection: socket.socket, tls: ServerTls) -> Channel:
    channel = Channel()  # uvloop returns a protocol of its own in its place
    try:
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: channel,
            connection,
            ssl=tls.context,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS,
        )
    except OSError as error:
        raise ChannelClosed from error
    return channel


async def _read(channel: Channel, tls: ServerTls) -> Opened:
    with _dropped_on_failure(channel):
        packet = await _packet(channel)
    if isinstance(packet, CancelRequest | StartupMessage):
        return Opened(channel, packet, tls.channel_binding)
    raise Unanswerable(channel, ProtocolViolation("unsupported frontend protocol"))


async def _packet(
    channel: Channel,
) -> SSLRequest | GSSENCRequest | CancelRequest | StartupMessage:
    try:
        size = body_bytes(await channel.exactly(4))
        return decode(await channel.exactly(size))
    except ProtocolViolation as violation:
        raise Unanswerable(channel, violation) from violation


async def _first_byte(connection: socket.socket) -> int:
    """Look at the first byte and leave it where it is."""
    first = await _ahead(connection, 1)
    if not first:
        raise ChannelClosed
    return first[0]


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection)
