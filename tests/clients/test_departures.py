"""A client, a backend or the gateway leaves: what the others see, and what is left."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import replace
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from embedding.queries import QueryEmbeddings
from gateway import Gateway, GatewayConfig, Limits, Upstream, serve
from gateway.protocol import backend, frontend
from gateway.protocol.startup import StartupMessage
from sql.logins import login_secret
from tests.clients.conftest import Road
from tests.clients.splitter import Splitter
from tests.clients.wire import Dial, Wire, running, sqlstate, tags
from tests.conftest import Database


async def test_a_client_that_only_stops_writing_still_gets_its_answer(session: Wire) -> None:
    session.send(frontend.Query(b"select pg_sleep(0.1)"))
    session.writer.write_eof()
    assert tags(await session.until("Z")) == "TDCZ"
    assert await session.rest() == b""


@pytest.mark.parametrize("killed", [True, False])
async def test_the_query_of_a_client_that_is_gone_is_cancelled(
    limited: Road, dial: Dial, direct: Road, killed: bool
) -> None:
    wire = await dial(limited)
    (key,) = [body for tag, body in await wire.login(limited) if tag == "K"]
    pid = backend.BackendKeyData.decode(key).process_id
    wire.send(frontend.Query(b"select pg_sleep(60)"))
    connection = wire.writer.get_extra_info("socket")
    await running(direct, pid)
    if killed:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.writer.transport.abort()
    async with await direct.connect() as watcher, asyncio.timeout(5):
        alive = "select 1 from pg_stat_activity where pid = %s"
        while await (await watcher.execute(alive, [pid])).fetchone():
            pass


async def test_clients_that_are_gone_leave_no_backend_behind(
    road: Road, gateway: Gateway, dial: Dial, direct: Road
) -> None:
    left_at: list[tuple[bytes, ...]] = [
        (),
        (frontend.Query(b"select pg_sleep(60)").encode(),),
        (frontend.Query(b"begin").encode(),),
        (frontend.Query(b"copy (select * from generate_series(1, 9999999)) to stdout").encode(),),
        (frontend.Query(b"create temp table t (n int); copy t from stdin").encode(), b"d\0\0"),
        (frontend.Parse(b"", b"select recall($1), pg_sleep(60)").encode(),),
        (b"Q\0\0",),
    ]
    for number in range(40):
        wire = await dial(road)
        if number % 10 == 9:
            wire.send(StartupMessage(0, {b"user": road.user.encode()}))
        else:
            await wire.login(road)
            wire.send(*left_at[number % len(left_at)])
        await wire.writer.drain()
        wire.writer.transport.abort()
    async with await direct.connect() as watcher, asyncio.timeout(20):
        left = (
            "select count(*) from pg_stat_activity where usename = %s and pid <> pg_backend_pid()"
        )
        while await (await watcher.execute(left, [road.user])).fetchone() != (0,):
            pass
    assert gateway.session_count == 0


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells of its timers")
async def test_peers_that_vanish_are_probed_for_on_both_legs(
    road: Road, database: Database, pool: asyncpg.Pool, dial: Dial
) -> None:
    proxy = Splitter(str(database.server.socket_folder), 5432, single_bytes=0, pieces=(65_536,))
    await proxy.start()
    upstream = Upstream(host="127.0.0.1", port=proxy.port, database=database.name)
    config = GatewayConfig(upstream=upstream, port=0, limits=Limits(drain_seconds=0.1))
    gateway = await serve(config, partial(login_secret, pool), QueryEmbeddings(None))
    wire = await dial(replace(road, port=gateway.port))
    await wire.login(road)
    client_port = wire.writer.get_extra_info("sockname")[1]
    assert probed(local=gateway.port, remote=client_port) == [True]
    assert probed(remote=proxy.port) == [True]
    assert probed(remote=gateway.port) == [False]  # the client's own end, which asks for none
    await gateway.close()
    await proxy.close()


def probed(remote: int, local: int | None = None) -> list[bool]:
    """Of each established connection between these ports, whether its keepalive timer runs."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, own, peer, state, _, timer, *_ = line.split()
        ports = [int(end.partition(":")[2], 16) for end in (own, peer)]
        if state == "01" and ports[1] == remote and local in (None, ports[0]):
            found.append(timer.startswith("02"))
    return found


async def test_the_death_of_a_backend_is_seen_as_postgres_shows_it(
    session: Wire, database: Database
) -> None:
    session.send(frontend.Query(b"select pg_backend_pid()"))
    (pid,) = backend.DataRow.decode((await session.until("Z"))[1][1]).values
    admin = await asyncpg.connect(database.superuser_dsn)
    await admin.execute("select pg_terminate_backend($1)", int(pid or 0))
    await admin.close()
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "57P01")
    assert await session.rest() == b""


async def test_closing_the_gateway_lets_a_transaction_end_and_then_says_so(
    session: Wire, gateway: Gateway, dial: Dial, road: Road
) -> None:
    idle = await dial(road)
    await idle.login(road)
    session.send(frontend.Query(b"begin"))
    await session.until("Z")
    closing = asyncio.create_task(gateway.close())
    for one in (idle, session):
        tag, body = await one.message()
        assert (tag, sqlstate(body)) == ("E", "57P01")
        assert await one.rest() == b""
    await closing
    with pytest.raises(ConnectionRefusedError):
        await dial(road)
