"""One connection during login: bytes awaited one message at a time.

The relay that follows takes the transport over with a protocol of its own.
"""

from __future__ import annotations

import asyncio
from typing import Final, cast

from gateway.protocol.errors import Malformed

# What a peer may send ahead of its turn before we stop to read.
_MAX_AHEAD_BYTES: Final = 64 * 1024


class ChannelClosed(Exception):
    """The peer closed the connection in the middle of a login."""


class Channel(asyncio.Protocol):
    """Buffers what comes in and lets a coroutine wait for it."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._closed = False
        self._arrival: asyncio.Future[None] | None = None
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep the bytes for whoever waits."""
        self._buffer += data
        if len(self._buffer) > _MAX_AHEAD_BYTES:
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """Let the transport close."""
        self._closed = True
        self._wake()
        return False

    def connection_lost(self, _exc: Exception | None) -> None:
        """Let whoever waits know."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def exactly(self, size: int) -> bytes:
        """Return the next `size` bytes; raises ChannelClosed when they don't come."""
        while len(self._buffer) < size:
            if self._closed:
                raise ChannelClosed
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def message(self, max_bytes: int) -> tuple[int, bytes]:
        """Return the next message's tag and body; raises Malformed when it's above the limit."""
        header = await self.exactly(5)
        size = int.from_bytes(header[1:], signed=True) - 4
        if not 0 <= size <= max_bytes:
            raise Malformed("invalid message length")
        return header[0], await self.exactly(size)

    def write(self, data: bytes) -> None:
        """Send bytes; nothing happens on a closed connection."""
        if not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """Send what is written, then close."""
        self.transport.close()

    def hand_over(self, protocol: asyncio.Protocol) -> bytes:
        """Let another protocol take the connection; return what has come in already.

        Raises ChannelClosed when there is nothing left to take.
        """
        if self._closed:
            raise ChannelClosed
        self.transport.set_protocol(protocol)
        return bytes(self._buffer)

    @property
    def ahead(self) -> int:
        """How many bytes have come in that nobody has asked for yet."""
        return len(self._buffer)
