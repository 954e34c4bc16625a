"""An upstream of another version, or one that stops and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import psycopg
import pytest

from embedding.queries import QueryEmbeddings
from gateway import GatewayConfig, Limits, Upstream, serve
from gateway.protocol import backend, frontend
from gateway.protocol.startup import CancelRequest
from pgrecall.embedded import EmbeddedPostgres
from sql.logins import LoginSecret
from tests.clients.conftest import Road
from tests.clients.wire import Dial, running, sqlstate, tags
from tests.conftest import started

ROLE = "postgres"


@asynccontextmanager
async def gateway_before(postgres: EmbeddedPostgres) -> AsyncIterator[tuple[Road, Road]]:
    """The superuser's roads: through a gateway, and straight."""
    straight = psycopg.conninfo.conninfo_to_dict(postgres.superuser_dsn)
    admin = await asyncpg.connect(postgres.superuser_dsn)
    secret = await admin.fetchval("select rolpassword from pg_authid where rolname = $1", ROLE)
    await admin.close()

    async def login_secret(role: str) -> LoginSecret | None:
        return LoginSecret(secret, None) if role == ROLE else None

    host = str(postgres.socket_folder)
    config = GatewayConfig(upstream=Upstream(host=host), port=0, limits=Limits(drain_seconds=0.1))
    gateway = await serve(config, login_secret, QueryEmbeddings(None))
    password = str(straight["password"])
    yield (
        Road("127.0.0.1", gateway.port, ROLE, password, "postgres"),
        Road(host, 5432, ROLE, password, "postgres"),
    )
    await gateway.close()


@pytest.mark.parametrize(("major", "minor", "key_bytes"), [(16, 0, 4), (18, 2, 32)])
async def test_a_client_is_promised_what_the_upstream_speaks(
    temporary_folder: Path, dial: Dial, major: int, minor: int, key_bytes: int
) -> None:
    async with (
        started(temporary_folder / "state", major=major) as postgres,
        gateway_before(postgres) as (road, straight),
    ):
        for asked in (0, 1, 2, 9999, 2):
            wire = await dial(road)
            said = await wire.login(road, asked)
            told = [
                backend.NegotiateProtocolVersion.decode(body) for tag, body in said if tag == "v"
            ]
            assert [one.version for one in told] == ([0x30000 | minor] if asked > minor else [])
            (body,) = [body for tag, body in said if tag == "K"]
            key = backend.BackendKeyData.decode(body)
            assert len(key.secret_key) == (key_bytes if asked >= 2 else 4)
            wire.send(frontend.Query(b"select pg_sleep(60)"))
            await running(straight, key.process_id)
            canceller = await dial(road)
            canceller.send(CancelRequest(key.process_id, key.secret_key).encode())
            assert await canceller.rest() == b""
            assert sqlstate((await wire.until("Z"))[-2][1]) == "57014"
        async with await road.connect(max_protocol_version="latest") as connection:
            assert (await (await connection.execute("select 1")).fetchone()) == (1,)


async def test_a_restart_is_told_to_idle_and_busy_sessions_and_nothing_is_replayed(
    temporary_folder: Path, dial: Dial
) -> None:
    async with (
        started(temporary_folder / "state") as postgres,
        gateway_before(postgres) as (road, straight),
    ):
        async with await straight.connect() as admin:
            await admin.execute("create table written (n int)")
        idle, busy, in_transaction = [await dial(road) for _ in range(3)]
        for wire in (idle, busy, in_transaction):
            said = await wire.login(road)
        in_transaction.send(frontend.Query(b"begin; insert into written values (1)"))
        await in_transaction.until("Z")
        busy.send(frontend.Query(b"insert into written select 2 from pg_sleep(60)"))
        async with await straight.connect() as watcher, asyncio.timeout(10):
            asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep'"
            while await (await watcher.execute(asleep)).fetchone() is None:
                pass

        await postgres.stop()

        for wire in (idle, busy, in_transaction):
            tag, body = (await wire.until("E"))[-1]
            assert (tag, sqlstate(body)) == ("E", "57P01")
            assert await wire.rest() == b""
        with pytest.raises(psycopg.OperationalError, match="can't be reached"):
            await road.connect()

        await postgres.start()

        async with await road.connect() as again:
            assert await (await again.execute("select count(*) from written")).fetchone() == (0,)
        assert tags(said).endswith("Z")


async def test_the_crash_of_a_neighbour_reads_as_postgres_puts_it(
    temporary_folder: Path, dial: Dial
) -> None:
    async with (
        started(temporary_folder / "state") as postgres,
        gateway_before(postgres) as (road, straight),
    ):
        wires = []
        for one in (road, straight):
            wires.append(await dial(one))
            await wires[-1].login(one)
        async with await straight.connect() as neighbour:
            os.kill(neighbour.info.backend_pid, signal.SIGKILL)
            for wire in wires:
                told = await wire.rest()
                assert b"57P02" in told or told == b""
        await answering(road)


async def answering(road: Road) -> None:
    """Wait until Postgres has recovered."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                async with await road.connect() as again:
                    assert await (await again.execute("select 1")).fetchone() == (1,)
                    return
