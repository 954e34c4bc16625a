"""A client made of bytes, for what no driver would ever send."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.protocol import backend, frontend
from gateway.protocol.scram import MECHANISM, ClientExchange, Verifier, new_nonce
from gateway.protocol.startup import StartupMessage
from gateway.protocol.wire import Message

if TYPE_CHECKING:
    from tests.clients.conftest import Road

Dial = Callable[["Road"], Awaitable["Wire"]]


@dataclass(slots=True)
class Wire:
    """One raw connection; answers come as (tag, body)."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, host: str, port: int) -> Wire:
        if host.startswith("/"):
            return cls(*await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}"))
        return cls(*await asyncio.open_connection(host, port))

    def send(self, *messages: Message | bytes) -> None:
        encoded = (one if isinstance(one, bytes) else one.encode() for one in messages)
        self.writer.write(b"".join(encoded))

    async def message(self) -> tuple[str, bytes]:
        async with asyncio.timeout(10):
            header = await self.reader.readexactly(5)
            return chr(header[0]), await self.reader.readexactly(int.from_bytes(header[1:]) - 4)

    async def until(self, tag: str) -> list[tuple[str, bytes]]:
        """Return the messages up to and with the first of this tag."""
        messages = [await self.message()]
        while messages[-1][0] != tag:
            messages.append(await self.message())
        return messages

    async def rest(self) -> bytes:
        """Return everything up to the end of the connection."""
        async with asyncio.timeout(10):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""

    async def login(self, road: Road, minor: int = 0, **parameters: str) -> list[tuple[str, bytes]]:
        """Log in and return what came from AuthenticationOk to ReadyForQuery."""
        named = {"user": road.user, "database": road.database, **parameters}
        pairs = {name.encode(): value.encode() for name, value in named.items()}
        self.send(StartupMessage(minor, pairs))
        before = await self.until("R")
        await self.prove(road.password)
        return before[:-1] + await self.until("Z")

    async def prove(self, password: str) -> None:
        """Go through the SASL exchange that was offered, up to the server's signature."""
        nonce = new_nonce()
        self.send(frontend.SASLInitialResponse(MECHANISM, b"n,,n=,r=" + nonce))
        _, body = await self.message()
        step = backend.Authentication.decode(body)
        assert step.kind == backend.SASL_CONTINUE
        exchange = proving(password, nonce, step.payload)
        self.send(frontend.SASLResponse(exchange.final(step.payload)))
        _, body = await self.message()
        assert backend.Authentication.decode(body).kind == backend.SASL_FINAL

    def close(self) -> None:
        self.writer.close()


def proving(password: str, nonce: bytes, server_first: bytes) -> ClientExchange:
    """A client that knows the password."""
    fields = dict(field.split(b"=", 1) for field in server_first.split(b","))
    salt, iterations = base64.b64decode(fields[b"s"]), int(fields[b"i"])
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    key = hmac.digest(salted, b"Client Key", "sha256")
    exchange = ClientExchange(key, Verifier.of_password(password, salt, iterations), nonce)
    exchange.first()
    return exchange


def sqlstate(body: bytes) -> str:
    return (backend.ErrorResponse.decode(body).get(b"C") or b"").decode()


def tags(messages: list[tuple[str, bytes]]) -> str:
    return "".join(tag for tag, _ in messages)


async def running(road: Road, pid: int) -> None:
    """Wait until this backend runs pg_sleep()."""
    async with await road.connect() as watcher, asyncio.timeout(10):
        asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and pid = %s"
        while await (await watcher.execute(asleep, [pid])).fetchone() is None:
            pass
