"""TLS: both ways into it, channel binding, and a certificate that changes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import asyncpg
import psycopg
import pytest
import uvloop

from embedding.queries import QueryEmbeddings
from gateway import GatewayConfig, Limits, Tls, Upstream, serve
from gateway.protocol.startup import SSLRequest, StartupMessage
from sql.logins import login_secret
from sql.pool import create_pool
from tests.clients.certificates import make_certificate
from tests.clients.conftest import Road, upstream_of
from tests.clients.splitter import Splitter
from tests.clients.wire import Wire, tags
from tests.conftest import Database
from tests.hash_embedder import HashEmbedder

QUESTION = "billing deploy rolled back"


@pytest.fixture
def files(temporary_folder: Path) -> Tls:
    return make_certificate(temporary_folder)


@pytest.fixture
async def secure(
    database: Database, pool: asyncpg.Pool, agent: tuple[str, str], files: Tls
) -> AsyncIterator[Road]:
    config = GatewayConfig(
        upstream=upstream_of(database), port=0, tls=files, limits=Limits(drain_seconds=0.1)
    )
    started = await serve(config, partial(login_secret, pool), QueryEmbeddings(HashEmbedder()))
    yield Road("127.0.0.1", started.port, *agent, database.name)
    await started.close()


@pytest.mark.parametrize("negotiation", ["postgres", "direct"])
@pytest.mark.parametrize("binding", ["disable", "prefer", "require"])
async def test_a_verified_tls_session_recalls(
    secure: Road, files: Tls, remembered: tuple[str, ...], negotiation: str, binding: str
) -> None:
    async with await secure.connect(
        sslmode="verify-full",
        sslrootcert=str(files.certificate),
        sslnegotiation=negotiation,
        channel_binding=binding,
    ) as connection:
        assert connection.pgconn.ssl_in_use
        rows = await connection.execute("select content from recall(%s)", [QUESTION])
        assert await rows.fetchone() == (remembered[0],)


@contextmanager
def served_by_uvloop(config: GatewayConfig, dsn: str) -> Iterator[int]:
    """Serve on the loop that deployments run on, in a thread of its own; yields the port."""
    started: Future[tuple[int, Callable[[], object]]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        pool = await create_pool(dsn, min_size=1, max_size=2)
        gateway = await serve(config, partial(login_secret, pool), QueryEmbeddings(HashEmbedder()))
        loop = asyncio.get_running_loop()
        started.set_result((gateway.port, partial(loop.call_soon_threadsafe, stop.set)))
        await stop.wait()
        await gateway.close()
        await pool.close()

    with ThreadPoolExecutor(1) as executor:
        ended = executor.submit(uvloop.run, run())
        port, stop = started.result(20)
        try:
            yield port
        finally:
            stop()
        ended.result(20)


@pytest.mark.parametrize("negotiation", ["postgres", "direct"])
async def test_both_ways_into_tls_lead_to_a_session_on_uvloop_too(
    database: Database,
    agent: tuple[str, str],
    files: Tls,
    negotiation: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    limits = Limits(drain_seconds=0.1)
    config = GatewayConfig(upstream=upstream_of(database), port=0, tls=files, limits=limits)
    with served_by_uvloop(config, database.dsn) as port:
        road = Road("127.0.0.1", port, *agent, database.name)
        async with await road.connect(sslmode="require", sslnegotiation=negotiation) as connection:
            rows = await connection.execute("select 1")
            assert await rows.fetchone() == (1,)
    assert "eof_received" not in caplog.text


async def test_a_tls_session_whose_every_byte_comes_alone_recalls(
    secure: Road, remembered: tuple[str, ...]
) -> None:
    splitter = Splitter(secure.host, secure.port, single_bytes=20_000)
    await splitter.start()
    for negotiation in ("postgres", "direct"):
        async with await replace(secure, port=splitter.port).connect(
            sslmode="require", sslnegotiation=negotiation, channel_binding="require"
        ) as connection:
            rows = await connection.execute("select content from recall(%s)", [QUESTION])
            assert await rows.fetchone() == (remembered[0],)
            many = await connection.execute("select repeat('x', 100) from generate_series(1, 500)")
            assert len(await many.fetchall()) == 500
    await splitter.close()


async def test_a_client_may_go_without_tls_where_both_allow_it(secure: Road) -> None:
    async with await secure.connect(sslmode="disable") as connection:
        assert not connection.pgconn.ssl_in_use


async def test_a_client_that_distrusts_the_certificate_may_come_back_in_the_clear(
    secure: Road,
) -> None:
    """As Power BI does, which takes only a certificate that its machine trusts."""
    for _ in range(3):
        wire = await Wire.open(secure.host, secure.port)
        wire.send(SSLRequest().encode())
        assert await wire.reader.readexactly(1) == b"S"
        with pytest.raises(ssl.SSLCertVerificationError):
            await wire.writer.start_tls(ssl.create_default_context(), server_hostname="localhost")
        wire.close()
        plain = await Wire.open(secure.host, secure.port)
        assert tags(await plain.login(secure)).endswith("Z")
        plain.close()


async def test_an_encrypted_cancel_is_forwarded(secure: Road) -> None:
    async with await secure.connect(sslmode="require") as connection:
        running = asyncio.create_task(connection.execute("select pg_sleep(60)"))
        async with await secure.connect(sslmode="require") as watcher, asyncio.timeout(10):
            asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and pid = %s"
            pid = connection.info.backend_pid
            while await (await watcher.execute(asleep, [pid])).fetchone() is None:
                pass
        await connection.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            await running


async def test_a_certificate_without_a_hash_offers_no_binding(secure: Road, files: Tls) -> None:
    make_certificate(files.certificate.parent, ed=True)
    async with await secure.connect(sslmode="require", channel_binding="prefer") as connection:
        assert connection.pgconn.ssl_in_use
    with pytest.raises(psycopg.OperationalError, match="channel binding"):
        await secure.connect(sslmode="require", channel_binding="require")


async def test_a_new_certificate_is_shown_to_the_next_client(secure: Road, files: Tls) -> None:
    old = await shown(secure)
    make_certificate(files.certificate.parent)
    new = await shown(secure)
    assert new != old
    files.key.write_text("half writ")
    assert await shown(secure) == new


async def shown(road: Road) -> bytes:
    """The certificate that a client sees after an SSLRequest."""
    wire = await Wire.open(road.host, road.port)
    wire.send(SSLRequest().encode())
    assert await wire.reader.readexactly(1) == b"S"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    await wire.writer.start_tls(context)
    certificate = wire.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    wire.close()
    return bytes(certificate)


async def test_bytes_sent_in_the_clear_before_tls_are_refused(secure: Road) -> None:
    wire = await Wire.open(secure.host, secure.port)
    wire.send(SSLRequest().encode() + StartupMessage(0, {b"user": b"evil"}).encode())
    assert b"received unencrypted data after SSL request" in await wire.rest()
    wire.close()


@pytest.mark.parametrize("alpn", [None, "http/1.1"])
async def test_direct_tls_without_postgres_protocol_is_closed(
    secure: Road, alpn: str | None
) -> None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if alpn is not None:
        context.set_alpn_protocols([alpn])
    reader, writer = await asyncio.open_connection(secure.host, secure.port, ssl=context)
    writer.write(StartupMessage(0, {b"user": b"ada"}).encode())
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()


@pytest.mark.parametrize(
    ("offered", "served"),
    [
        ([], True),
        (["postgresql"], True),
        (["http/1.1", "postgresql"], True),
        (["http/1.1"], False),
        (["postgres", "postgresql2"], False),
    ],
)
@pytest.mark.parametrize("cut", [False, True])
async def test_tls_for_another_protocol_is_refused_behind_an_ssl_request_too(
    secure: Road, offered: list[str], served: bool, cut: bool
) -> None:
    splitter = Splitter(secure.host, secure.port, single_bytes=20_000)
    await splitter.start()
    wire = await Wire.open(secure.host, splitter.port if cut else secure.port)
    wire.send(SSLRequest().encode())
    assert await wire.reader.readexactly(1) == b"S"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if offered:
        context.set_alpn_protocols(offered)
    async with asyncio.timeout(10):
        if served:
            await wire.writer.start_tls(context)
            assert tags(await wire.login(secure)).endswith("Z")
        else:
            with pytest.raises(ssl.SSLError, match="no application protocol"):
                await wire.writer.start_tls(context)
    wire.close()
    await splitter.close()


async def test_garbage_in_place_of_a_handshake_is_closed(secure: Road) -> None:
    for garbage in (b"\x16garbage" * 100, SSLRequest().encode()):
        wire = await Wire.open(secure.host, secure.port)
        wire.send(garbage)
        if garbage[0] == 0:
            assert await wire.reader.readexactly(1) == b"S"
            wire.send(b"no handshake at all" * 10)
        await wire.rest()
        wire.close()


async def test_an_upstream_over_tls_is_verified_and_served(
    secure: Road, pool: asyncpg.Pool, files: Tls, remembered: tuple[str, ...]
) -> None:
    """A gateway before a gateway: the outer one finds its upstream beyond a network."""
    trusted = ssl.create_default_context(cafile=files.certificate)
    distrusted = ssl.create_default_context()
    for context, expected in ((trusted, remembered[0]), (distrusted, None)):
        upstream = Upstream(host=secure.host, port=secure.port, tls=context)
        config = GatewayConfig(upstream=upstream, port=0, limits=Limits(drain_seconds=0.1))
        embeddings = QueryEmbeddings(HashEmbedder())
        outer = await serve(config, partial(login_secret, pool), embeddings)
        road = replace(secure, port=outer.port)
        if expected is None:
            with pytest.raises(psycopg.OperationalError, match="can't be reached"):
                await road.connect()
        else:
            async with await road.connect() as connection:
                rows = await connection.execute("select content from recall(%s)", [QUESTION])
                assert await rows.fetchone() == (expected,)
        await outer.close()
