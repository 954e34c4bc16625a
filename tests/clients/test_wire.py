"""What no driver sends, and what all of them rely on, byte by byte."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import asyncpg
import psycopg
import pytest
from prometheus_client import REGISTRY

from embedding.queries import QueryEmbeddings
from gateway import Gateway, GatewayConfig, InsecureBind, Limits, Upstream, serve
from gateway.protocol import backend, frontend
from gateway.protocol.startup import CancelRequest, GSSENCRequest, SSLRequest, StartupMessage
from gateway.protocol.wire import frame
from sql.logins import login_secret
from tests.clients.conftest import Road, upstream_of
from tests.clients.splitter import Splitter
from tests.clients.wire import Dial, Wire, running, sqlstate, tags
from tests.conftest import Database
from tests.hash_embedder import HashEmbedder

RECALL = b"select content from recall($1)"


@pytest.fixture
async def wire(dial: Dial, road: Road) -> Wire:
    return await dial(road)


@pytest.fixture
async def session(wire: Wire, road: Road) -> Wire:
    await wire.login(road)
    return wire


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


async def test_a_bad_length_inside_a_session_ends_it(session: Wire) -> None:
    session.send(b"Q\x00\x00\x00\x03")
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")
    assert await session.rest() == b""


async def test_an_unknown_message_is_refused_by_postgres_itself(session: Wire) -> None:
    session.send(frame(ord("!"), b""))
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")
    assert b"invalid frontend message type" in body


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


async def test_a_long_key_cancels_from_any_connection(dial: Dial, road: Road) -> None:
    wire = await dial(road)
    (key,) = [body for tag, body in await wire.login(road, 2) if tag == "K"]
    wire.send(frontend.Query(b"select pg_sleep(60)"))
    told = backend.BackendKeyData.decode(key)
    await running(road, told.process_id)
    canceller = await dial(road)
    canceller.send(CancelRequest(told.process_id, told.secret_key).encode())
    assert await canceller.rest() == b""
    messages = await wire.until("Z")
    assert sqlstate(messages[-2][1]) == "57014"


async def test_an_error_comes_at_once_without_a_flush(session: Wire) -> None:
    session.send(frontend.Parse(b"", b"select recall( from"))
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "42601")
    session.send(frontend.Sync())
    assert (await session.message())[0] == "Z"


async def test_the_client_never_sees_the_hidden_parameter(
    session: Wire, remembered: tuple[str, ...]
) -> None:
    session.send(
        frontend.Parse(b"s", RECALL),
        frontend.Describe(b"S", b"s"),
        frontend.Bind(b"", b"s", (1,), (b"billing deploy",), (0,)),
        frontend.Execute(b"", 1),
        frontend.Sync(),
    )
    messages = await session.until("Z")
    assert tags(messages) == "1tT2DsZ"
    assert backend.ParameterDescription.decode(messages[1][1]).oids == (25,)
    assert backend.DataRow.decode(messages[4][1]).values == (remembered[0].encode(),)


@pytest.mark.parametrize("oids", [(), (0,), (25,), (1043,)])
@pytest.mark.parametrize("formats", [(), (0,), (1,), (0, 1)])
async def test_types_and_formats_of_the_client_stay_its_own(
    session: Wire, remembered: tuple[str, ...], oids: tuple[int, ...], formats: tuple[int, ...]
) -> None:
    number = (5).to_bytes(4) if formats in ((1,), (0, 1)) else b"5"
    session.send(
        frontend.Parse(b"", b"select content from recall($1, k => $2)", oids),
        frontend.Bind(b"", b"", formats, (b"billing deploy", number)),
        frontend.Execute(),
        frontend.Sync(),
    )
    messages = await session.until("Z")
    assert tags(messages) == "12DDDCZ"


async def test_a_bind_with_the_wrong_count_is_postgres_to_refuse(session: Wire) -> None:
    session.send(frontend.Parse(b"", RECALL), frontend.Bind(b"", b""), frontend.Sync())
    messages = await session.until("Z")
    assert tags(messages) == "1EZ"
    assert sqlstate(messages[1][1]) == "08P01"


async def test_a_named_statement_that_fails_to_be_parsed_again_keeps_its_hidden_parameter(
    session: Wire, remembered: tuple[str, ...]
) -> None:
    session.send(frontend.Parse(b"s", RECALL), frontend.Sync())
    assert tags(await session.until("Z")) == "1Z"
    session.send(
        frontend.Parse(b"s", b"select 1"),
        frontend.Sync(),
        frontend.Bind(b"", b"s", (), (b"billing deploy",)),
        frontend.Describe(b"S", b"s"),
        frontend.Execute(b"", 1),
        frontend.Sync(),
    )
    assert tags(await session.until("Z")) == "EZ"
    assert tags(await session.until("Z")) == "2tTDsZ"


async def test_everything_behind_an_error_is_ignored_up_to_the_sync(session: Wire) -> None:
    session.send(
        frontend.Parse(b"", b"select * from nowhere"),
        frontend.Bind(b"", b""),
        frontend.Query(b"select recall('x')"),
        frontend.Close(b"S", b"a"),
        frontend.Sync(),
        frontend.Query(b"select 1"),
    )
    assert tags(await session.until("Z")) == "EZ"
    assert tags(await session.until("Z")) == "TDCZ"


async def test_a_copy_may_be_sent_in_one_go(session: Wire) -> None:
    session.send(
        frontend.Query(b"create temp table t (n int)"),
        frontend.Query(b"copy t from stdin"),
        frontend.CopyData(b"1\n2"),
        frontend.CopyData(b"\n"),
        frontend.CopyDone(),
        frontend.Query(b"select count(*) from t"),
    )
    assert tags(await session.until("Z")) == "CZ"
    assert tags(await session.until("Z")) == "GCZ"
    assert tags(await session.until("Z")) == "TDCZ"


async def test_syncs_inside_a_copy_and_stray_copy_messages_are_ignored(session: Wire) -> None:
    session.send(
        frontend.CopyData(b"stray"),
        frontend.CopyDone(),
        frontend.Query(b"create temp table t (n int)"),
    )
    assert tags(await session.until("Z")) == "CZ"
    session.send(
        frontend.Parse(b"", b"copy t from stdin"),
        frontend.Bind(b"", b""),
        frontend.Execute(),
        frontend.Sync(),
        frontend.CopyData(b"1\n"),
        frontend.CopyDone(),
        frontend.Sync(),
        frontend.Parse(b"", RECALL),
        frontend.Bind(b"", b"", (), (b"x",)),
        frontend.Execute(),
        frontend.Sync(),
    )
    assert tags(await session.until("Z")) == "12GCZ"
    assert tags(await session.until("Z")).startswith("12")


async def test_a_function_call_passes(session: Wire) -> None:
    session.send(frontend.Query(b"select 'pg_backend_pid'::regproc::oid"))
    oid = int(backend.DataRow.decode((await session.until("Z"))[1][1]).values[0] or 0)
    session.send(frontend.FunctionCall(oid.to_bytes(4) + bytes(6)))
    assert tags(await session.until("Z")) == "VZ"


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


async def test_sessions_splices_and_refusals_are_counted(
    road: Road, gateway: Gateway, remembered: tuple[str, ...]
) -> None:
    def counted(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"pgrecall_gateway_{name}", labels) or 0

    names = ("logins_total", "splices_total", "sessions")
    before = [counted(name) for name in names]
    refused = counted("refusals_total", reason="password", sqlstate="28P01")
    async with await road.connect() as connection:
        await connection.execute("select * from recall('x') a, recall('y') b")
        assert counted("sessions") == before[2] + 1
    with pytest.raises(psycopg.OperationalError):
        await road.connect(password="wrong")
    await gateway.close()
    assert [counted(name) for name in names] == [before[0] + 1, before[1] + 2, before[2]]
    assert counted("refusals_total", reason="password", sqlstate="28P01") == refused + 1


async def test_no_secret_and_no_text_is_logged(
    road: Road, remembered: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    async with await road.connect() as connection:
        await connection.execute("select * from recall('a private question')")
        await connection.execute("select remember(%s)", ["a private memory"])
        for sql in ("select private from recall('private')", "select recall('private'", "private"):
            with pytest.raises(psycopg.Error):
                await connection.execute(sql)
        running_query = asyncio.create_task(
            connection.execute("select pg_sleep(60), recall('private')")
        )
        while not running_query.done():
            await connection.cancel_safe()
            await asyncio.wait([running_query], timeout=0.05)
        with pytest.raises(psycopg.errors.QueryCanceled):
            await running_query
    for change in ({"password": "private"}, {"options": "-c private=private"}):
        with pytest.raises(psycopg.OperationalError):
            await road.connect(**change)
    logged = capsys.readouterr().out
    assert f"role={road.user}" in logged
    assert "address=127.0.0.1" in logged
    assert "backend_pid" in logged
    assert "private" not in logged
    assert road.password not in logged


@pytest.fixture
async def limited(
    database: Database, pool: asyncpg.Pool, agent: tuple[str, str]
) -> AsyncIterator[Road]:
    """The road through a gateway that grants next to nothing."""
    limits = Limits(
        max_connections=2,
        login_timeout_seconds=0.3,
        idle_timeout_seconds=0.3,
        drain_seconds=0.1,
        half_close_seconds=0.3,
    )
    config = GatewayConfig(upstream=upstream_of(database), port=0, limits=limits)
    started = await serve(config, partial(login_secret, pool), QueryEmbeddings(HashEmbedder()))
    yield Road("127.0.0.1", started.port, *agent, database.name)
    await started.close()


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
