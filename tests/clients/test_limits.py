"""A gateway that grants next to nothing, and what it says to whoever wants more."""

from __future__ import annotations

import pytest

from gateway.protocol import frontend
from gateway.protocol.startup import StartupMessage
from tests.clients.conftest import Road
from tests.clients.wire import Dial, sqlstate


async def test_one_client_too_many_is_told_so(limited: Road, dial: Dial) -> None:
    wires = [await dial(limited) for _ in range(3)]
    startup = StartupMessage(0, {b"user": limited.user.encode()}).encode()
    for wire in wires[:2]:
        wire.send(startup)
        assert (await wire.message())[0] == "R"
    wires[2].send(startup)
    tag, body = await wires[2].message()
    assert (tag, sqlstate(body)) == ("E", "53300")


@pytest.mark.parametrize("sent", [b"", b"\x00\x00"])
async def test_a_startup_that_takes_too_long_is_ended(
    limited: Road, dial: Dial, sent: bytes
) -> None:
    wire = await dial(limited)
    wire.send(sent)
    assert await wire.rest() == b""


async def test_a_login_that_takes_too_long_is_ended(limited: Road, dial: Dial) -> None:
    wire = await dial(limited)
    wire.send(StartupMessage(0, {b"user": b"x"}).encode())
    await wire.message()
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", "57014")


async def test_an_idle_session_is_ended_and_told_why(limited: Road, dial: Dial) -> None:
    wire = await dial(limited)
    await wire.login(limited)
    tag, body = await wire.message()
    assert (tag, sqlstate(body)) == ("E", "57P05")
    assert await wire.rest() == b""


async def test_a_half_closed_client_with_an_endless_query_is_ended(
    limited: Road, dial: Dial
) -> None:
    wire = await dial(limited)
    await wire.login(limited)
    wire.send(frontend.Query(b"select pg_sleep(60)"))
    wire.writer.write_eof()
    assert await wire.rest() == b""
