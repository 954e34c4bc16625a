"""Upstreams that do what Postgres may do and seldom does, and what it never would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest

from embedding.queries import QueryEmbeddings
from gateway import Gateway, GatewayConfig, Limits, Upstream, serve
from gateway.protocol import backend, frontend
from gateway.protocol.scram import MECHANISM, ServerExchange, Verifier, new_nonce
from gateway.protocol.startup import StartupMessage
from gateway.protocol.wire import frame
from sql.logins import LoginSecret
from tests.clients.conftest import Road
from tests.clients.wire import Dial, Wire, sqlstate, tags

PASSWORD = "a password"
VERIFIER = Verifier.of_password(PASSWORD, b"salt" * 4)
READY = backend.ReadyForQuery(b"I").encode()
IN = backend.Authentication(backend.OK).encode()
KEY = backend.BackendKeyData(4711, b"\x7f\x00\x00\x01").encode()


@dataclass(slots=True)
class Peer:
    """The server's end of one connection."""

    wire: Wire
    startup: bytes

    async def authenticate(self, verifier: Verifier = VERIFIER, signature: bytes = b"") -> None:
        wire = self.wire
        exchange = ServerExchange(verifier, new_nonce())
        wire.send(backend.Authentication.sasl((MECHANISM,)))
        initial = frontend.SASLInitialResponse.decode((await wire.message())[1])
        server_first = exchange.first(initial.mechanism, initial.response or b"")
        wire.send(backend.Authentication(backend.SASL_CONTINUE, server_first))
        accepted = exchange.final((await wire.message())[1])
        final = signature or accepted.server_final
        wire.send(backend.Authentication(backend.SASL_FINAL, final))


Behaviour = Callable[[Peer], Awaitable[None]]


@pytest.fixture
async def behave() -> AsyncIterator[Callable[[Behaviour], Awaitable[Road]]]:
    """Put a gateway before an upstream that behaves so, and return the road to it."""
    servers: list[asyncio.Server] = []
    gateways: list[Gateway] = []

    async def login_secret(role: str) -> LoginSecret | None:
        return LoginSecret(str(VERIFIER), None)

    async def start(behaviour: Behaviour) -> Road:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                size = int.from_bytes(await reader.readexactly(4)) - 4
                await behaviour(Peer(Wire(reader, writer), await reader.readexactly(size)))
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        servers.append(await asyncio.start_server(connected, "127.0.0.1", 0))
        upstream = Upstream("127.0.0.1", servers[-1].sockets[0].getsockname()[1])
        config = GatewayConfig(upstream=upstream, port=0, limits=Limits(drain_seconds=0.1))
        gateways.append(await serve(config, login_secret, QueryEmbeddings(None)))
        return Road("127.0.0.1", gateways[-1].port, "ada", PASSWORD, "any")

    yield start
    for gateway in gateways:
        await gateway.close()
    for server in servers:
        server.close()


async def answer_the_type_query(peer: Peer) -> None:
    assert (await peer.wire.message())[0] == "Q"
    peer.wire.send(backend.DataRow((b"16400",)), READY)


async def refusal(road: Road, dial: Dial) -> str:
    """The SQLSTATE that a client with the right password is refused with."""
    wire = await dial(road)
    wire.send(StartupMessage(0, {b"user": b"ada"}))
    await wire.message()
    await wire.prove(PASSWORD)
    tag, body = await wire.message()
    assert tag == "E"
    assert await wire.rest() == b""
    return sqlstate(body)


async def test_a_server_without_cancel_keys_gives_the_client_none(
    behave: Callable[[Behaviour], Awaitable[Road]], dial: Dial
) -> None:
    gone = asyncio.Event()

    async def keyless(peer: Peer) -> None:
        await peer.authenticate()
        peer.wire.send(IN, READY)
        await answer_the_type_query(peer)
        await peer.wire.rest()
        gone.set()

    road = await behave(keyless)
    wire = await dial(road)
    assert tags(await wire.login(road)) == "RZ"
    wire.send(frontend.Query(b"select pg_sleep(60)"))
    await wire.writer.drain()
    wire.writer.transport.abort()
    async with asyncio.timeout(10):
        await gone.wait()


async def test_a_server_that_trusts_the_socket_is_logged_in_to(
    behave: Callable[[Behaviour], Awaitable[Road]], dial: Dial
) -> None:
    async def trusting(peer: Peer) -> None:
        peer.wire.send(IN, KEY, READY)
        await answer_the_type_query(peer)
        await peer.wire.rest()

    road = await behave(trusting)
    assert tags(await (await dial(road)).login(road)) == "RKZ"


async def test_a_newer_protocol_that_a_server_takes_back_is_not_negotiated_twice(
    behave: Callable[[Behaviour], Awaitable[Road]], dial: Dial
) -> None:
    connections: list[Peer] = []

    async def changing(peer: Peer) -> None:
        connections.append(peer)
        if len(connections) > 1:  # the first only asks what is spoken
            peer.wire.send(backend.NegotiateProtocolVersion(0x30000))
        await peer.authenticate()
        peer.wire.send(IN, KEY, READY)
        await answer_the_type_query(peer)
        await peer.wire.rest()

    road = await behave(changing)
    assert tags(await (await dial(road)).login(road, 2)) == "RKZ"
    assert connections[1].startup[:4] == (0x30002).to_bytes(4)


async def asks_for_md5(peer: Peer) -> None:
    peer.wire.send(backend.Authentication(5, b"salt"))
    await peer.wire.rest()


async def has_another_verifier(peer: Peer) -> None:
    await peer.authenticate(Verifier.of_password(PASSWORD, b"another salt....", 5000))


async def does_not_know_the_password_itself(peer: Peer) -> None:
    await peer.authenticate(signature=b"v=" + b"A" * 43 + b"=")
    await peer.wire.rest()


async def hangs_up_during_login(peer: Peer) -> None:
    peer.wire.send(backend.Authentication.sasl((MECHANISM,)))
    await peer.wire.message()


async def speaks_another_protocol(peer: Peer) -> None:
    peer.wire.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")


async def announces_two_gigabytes(peer: Peer) -> None:
    peer.wire.send(b"R\x7f\xff\xff\xff")
    await peer.wire.rest()


async def hangs_up_when_it_is_asked_for_the_type(peer: Peer) -> None:
    await peer.authenticate()
    peer.wire.send(IN, KEY, READY)
    await peer.wire.message()


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (asks_for_md5, "28000"),
        (has_another_verifier, "28P01"),
        (does_not_know_the_password_itself, "28000"),
        (hangs_up_during_login, "08006"),
        (speaks_another_protocol, "08006"),
        (announces_two_gigabytes, "08006"),
        (hangs_up_when_it_is_asked_for_the_type, "08006"),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
async def test_a_login_that_the_upstream_spoils_is_refused_for_what_it_is(
    behave: Callable[[Behaviour], Awaitable[Road]], dial: Dial, behaviour: Behaviour, code: str
) -> None:
    assert await refusal(await behave(behaviour), dial) == code


@pytest.mark.parametrize(
    ("last_words", "told"),
    [
        (b"", "08006"),
        (backend.CommandComplete(b"SELECT 1").encode(), "08006"),
        (frame(ord("E"), b"SFATAL\0VFATAL\0C57P01\0Mbye\0\0"), "57P01"),
        (frame(ord("D"), bytes(100))[:50], None),  # what comes behind half a row is part of it
        (b"Z\0\0", "08006"),
        (b"\x01\0\0\0\x01", None),
    ],
)
async def test_an_upstream_that_is_lost_leaves_no_half_message_behind(
    behave: Callable[[Behaviour], Awaitable[Road]],
    dial: Dial,
    last_words: bytes,
    told: str | None,
) -> None:
    async def dying(peer: Peer) -> None:
        await peer.authenticate()
        peer.wire.send(IN, KEY, READY)
        await answer_the_type_query(peer)
        await peer.wire.message()
        peer.wire.send(last_words)

    road = await behave(dying)
    wire = await dial(road)
    await wire.login(road)
    wire.send(frontend.Query(b"select 1"))
    rest = await wire.rest()
    errors = [rest[at:] for at in range(len(rest)) if rest.startswith(b"E\0\0", at)]
    assert [sqlstate(error[5:]) for error in errors] == ([] if told is None else [told])
