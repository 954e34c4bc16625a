"""A proxy that hands bytes on in the smallest pieces, so that every message is cut everywhere."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from itertools import cycle

# Byte by byte for as long as most scenarios talk, then in pieces that still cut any header.
SINGLE_BYTES = 6_000
LATER_PIECES = (1, 2, 3, 5, 7, 11, 251)


class Splitter:
    """Listens on `port` of 127.0.0.1 and cuts both directions."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        single_bytes: int = SINGLE_BYTES,
        pieces: tuple[int, ...] = LATER_PIECES,
    ) -> None:
        self._host, self._port = host, port
        self._single_bytes, self._pieces = single_bytes, pieces
        self._server: asyncio.Server
        self._relays: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        for relay in self._relays:
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._host.startswith("/"):
            path = f"{self._host}/.s.PGSQL.{self._port}"
            behind = await asyncio.open_unix_connection(path)
        else:
            behind = await asyncio.open_connection(self._host, self._port)
        pairs = ((reader, behind[1]), (behind[0], writer))
        relays = [asyncio.create_task(self._relay(*pair)) for pair in pairs]
        self._relays.update(relays)
        for relay in relays:
            relay.add_done_callback(self._relays.discard)
        await asyncio.gather(*relays, return_exceptions=True)
        for end in (writer, behind[1]):
            end.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sizes = cycle(self._pieces)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(65_536):
                start = 0
                while start < len(chunk):
                    size = 1 if sent < self._single_bytes else next(sizes)
                    writer.write(chunk[start : start + size])
                    # The other end must find the piece by itself, or cuts would be healed.
                    await asyncio.sleep(0)
                    start += size
                    sent += size
            if writer.can_write_eof():
                writer.write_eof()
