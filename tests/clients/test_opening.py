"""The first packets of a connection, in every shape that they can have."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import asyncpg
import pytest

from embedding.queries import QueryEmbeddings
from gateway import GatewayConfig, InsecureBind, Upstream, serve
from gateway.protocol import backend, frontend
from gateway.protocol.startup import GSSENCRequest, SSLRequest, StartupMessage
from gateway.protocol.wire import frame
from sql.logins import login_secret
from tests.clients.conftest import Road, upstream_of
from tests.clients.wire import Dial, Wire, sqlstate, tags
from tests.conftest import Database


async def test_requests_for_encryption_are_declined_and_the_session_goes_on(
    wire: Wire, road: Road
) -> None:
    for request in (GSSENCRequest(), SSLRequest()):
        wire.send(request.encode())
        assert await wire.reader.readexactly(1) == b"N"
    assert tags(await wire.login(road)).endswith("Z")


async def test_a_request_for_encryption_twice_is_a_violation(wire: Wire) -> None:
    wire.send(SSLRequest().encode() * 2)
    assert await wire.reader.readexactly(1) == b"N"
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")


async def test_a_startup_may_come_byte_by_byte(wire: Wire, road: Road) -> None:
    startup = StartupMessage(0, {b"user": road.user.encode()}).encode()
    for byte in startup:
        wire.send(bytes([byte]))
        await wire.writer.drain()
        await asyncio.sleep(0)
    assert (await wire.message())[0] == "R"


@pytest.mark.parametrize(
    ("packet", "code"),
    [
        (b"\x00\x00\x00\x00\x00\x03\x00\x00", "08P01"),
        (b"\x00\x00\x00\x07\x00\x03\x00", "08P01"),
        (b"\x7f\xff\xff\xff\x00\x03\x00\x00", "08P01"),
        (b"\xff\xff\xff\xff\x00\x03\x00\x00", "08P01"),
        (b"GET / HTTP/1.1\r\n\r\n", "08P01"),
        (b"\x00\x00\x00\x09\x00\x02\x00\x00\x00", "0A000"),
        (b"\x00\x00\x00\x09\x00\x03\x00\x00\x00", "28000"),
        (b"\x00\x00\x00\x09\x00\x03\x00\x00x", "08P01"),
    ],
)
async def test_a_bad_startup_has_its_sqlstate_and_an_end(
    wire: Wire, packet: bytes, code: str
) -> None:
    wire.send(packet)
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", code)
    assert await wire.rest() == b""


@pytest.mark.parametrize(
    "answer",
    [
        frontend.Query(b"select 1").encode(),
        frontend.SASLInitialResponse(b"PLAIN", b"x").encode(),
        frontend.SASLInitialResponse(b"SCRAM-SHA-256", None).encode(),
        frame(ord("p"), b"SCRAM-SHA-256\x00\x7f\xff\xff\xff"),
        b"p\x7f\xff\xff\xff",
        frame(ord("p"), bytes(2000)),
    ],
)
async def test_a_bad_answer_during_login_is_a_violation(
    wire: Wire, road: Road, answer: bytes
) -> None:
    wire.send(StartupMessage(0, {b"user": road.user.encode()}).encode())
    await wire.message()
    wire.send(answer)
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")
    assert await wire.rest() == b""


async def test_version_3_2_brings_a_long_key_and_a_newer_one_is_negotiated_once(
    dial: Dial,
    road: Road,
) -> None:
    wire = await dial(road)
    messages = await wire.login(road, 9999, **{"_pq_.test_protocol_negotiation": ""})
    assert tags(messages).count("v") == 1
    told = backend.NegotiateProtocolVersion.decode(messages[0][1])
    assert (told.version, told.unknown_options) == (0x30002, (b"_pq_.test_protocol_negotiation",))
    (key,) = [body for tag, body in messages if tag == "K"]
    assert len(backend.BackendKeyData.decode(key).secret_key) == 32


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_an_address_beyond_this_machine_needs_tls(
    database: Database, pool: asyncpg.Pool, host: str
) -> None:
    config = GatewayConfig(upstream=upstream_of(database), host=host, port=0)
    with pytest.raises(InsecureBind):
        await serve(config, partial(login_secret, pool), QueryEmbeddings(None))


async def test_an_upstream_that_is_away_is_told_as_such(
    dial: Dial, road: Road, pool: asyncpg.Pool
) -> None:
    config = GatewayConfig(upstream=Upstream(host="/nowhere"), port=0)
    gateway = await serve(config, partial(login_secret, pool), QueryEmbeddings(None))
    wire = await dial(replace(road, port=gateway.port))
    wire.send(StartupMessage(0, {b"user": road.user.encode()}).encode())
    await wire.message()
    await wire.prove(road.password)
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", "08006")
    await gateway.close()
