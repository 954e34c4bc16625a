"""While a text is embedded, and when it can't be: only that session waits, and nobody is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial

import asyncpg
import psycopg
import pytest

from gateway import Gateway, GatewayConfig, Limits, serve
from gateway.protocol import backend, frontend
from sql.logins import login_secret
from tests.clients.conftest import QUESTION, Road, upstream_of
from tests.clients.wire import Wire
from tests.conftest import Database

RECALL = "select content, degraded from recall(%s)"


class Reluctant:
    """Embeddings that come when they're let, or fail."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.let = asyncio.Event()
        self.fails = False
        self.batches: list[Sequence[str]] = []

    async def many(self, texts: Sequence[str]) -> list[str]:
        self.batches.append(texts)
        self.asked.set()
        if self.fails:
            raise RuntimeError("a fault of the embedder's own")
        await self.let.wait()
        return ["m ! let go at last"] * len(texts)

    async def passage(self, text: str) -> str | None:
        await self.many([text])
        return None


@pytest.fixture
def embeddings() -> Reluctant:
    return Reluctant()


@pytest.fixture
async def waiting(
    database: Database, pool: asyncpg.Pool, embeddings: Reluctant, agent: tuple[str, str]
) -> AsyncIterator[Road]:
    limits = Limits(drain_seconds=0.1, embedding_timeout_seconds=5)
    config = GatewayConfig(upstream=upstream_of(database), port=0, limits=limits)
    started: Gateway = await serve(config, partial(login_secret, pool), embeddings)
    yield Road("127.0.0.1", started.port, *agent, database.name)
    await started.close()


@pytest.fixture
def noticed() -> list[str]:
    return []


@pytest.fixture
async def connection(waiting: Road, noticed: list[str]) -> AsyncIterator[psycopg.AsyncConnection]:
    async with await waiting.connect() as made:
        made.add_notice_handler(lambda notice: noticed.append(notice.message_primary or ""))
        yield made


async def test_a_fault_of_the_embedder_is_told_in_a_notice_and_words_still_find(
    connection: psycopg.AsyncConnection,
    embeddings: Reluctant,
    remembered: tuple[str, ...],
    noticed: list[str],
) -> None:
    embeddings.fails = True
    for sql in (RECALL, RECALL.replace("%s", "%s::text")):
        rows = await connection.execute(sql, [QUESTION])
        content, degraded = await rows.fetchone() or ("", "")
        assert content == remembered[0]
        assert "the embedder failed" in degraded
    assert len(noticed) == 2
    assert "the embedder failed" in noticed[0]
    await connection.execute("select remember(%s)", ["kept without an embedding"])


async def test_only_the_session_that_asked_waits(
    connection: psycopg.AsyncConnection,
    waiting: Road,
    embeddings: Reluctant,
    remembered: tuple[str, ...],
) -> None:
    asked = asyncio.create_task(connection.execute(RECALL, [QUESTION]))
    await embeddings.asked.wait()
    async with await waiting.connect() as other:
        assert await (await other.execute("select 1")).fetchone() == (1,)
    assert not asked.done()
    embeddings.let.set()
    assert (await (await asked).fetchone() or ("",))[0] == remembered[0]


async def test_what_comes_behind_a_waiting_text_keeps_its_turn(
    waiting: Road, embeddings: Reluctant
) -> None:
    wire = await Wire.open(waiting.host, waiting.port)
    await wire.login(waiting)
    wire.send(frontend.Query(b"select content from recall('a') where false"))
    await embeddings.asked.wait()
    wire.send(*(frontend.Query(b"select %d" % n) for n in range(50)))
    wire.writer.write_eof()
    await wire.writer.drain()
    embeddings.let.set()
    answers = [await wire.until("Z") for _ in range(51)]
    told = [backend.DataRow.decode(one[1][1]).values[0] for one in answers[1:]]
    assert told == [b"%d" % n for n in range(50)]
    wire.close()


async def test_the_texts_of_one_pipeline_are_embedded_together(
    waiting: Road, embeddings: Reluctant
) -> None:
    embeddings.let.set()
    wire = await Wire.open(waiting.host, waiting.port)
    await wire.login(waiting)
    bound = [frontend.Bind(b"", b"s", (), (b"text %d" % n,)) for n in range(5)]
    executed = [one for bind in bound for one in (bind, frontend.Execute())]
    wire.send(frontend.Parse(b"s", b"select 1 from recall($1)"), *executed, frontend.Sync())
    await wire.until("Z")
    assert embeddings.batches == [[f"text {n}" for n in range(5)]]
    wire.close()


async def test_a_cancel_ends_the_wait(
    connection: psycopg.AsyncConnection, embeddings: Reluctant
) -> None:
    asked = asyncio.create_task(
        connection.execute(
            "select pg_sleep(60) from recall(%s) right join (select 1) x on true", ["a"]
        )
    )
    await embeddings.asked.wait()
    await connection.cancel_safe()
    # The cancel may overtake the statement; the user's second Ctrl-C then finds it.
    while not asked.done():
        await connection.cancel_safe()
        await asyncio.wait([asked], timeout=0.05)
    with pytest.raises(psycopg.errors.QueryCanceled):
        await asked


async def test_a_client_that_leaves_while_it_waits_takes_its_backend_along(
    waiting: Road, direct: Road, embeddings: Reluctant
) -> None:
    wire = await Wire.open(waiting.host, waiting.port)
    (key,) = [body for tag, body in await wire.login(waiting) if tag == "K"]
    pid = backend.BackendKeyData.decode(key).process_id
    wire.send(frontend.Query(b"select recall('a')"))
    await embeddings.asked.wait()
    wire.writer.transport.abort()
    embeddings.let.set()
    async with await direct.connect() as watcher, asyncio.timeout(15):
        alive = "select 1 from pg_stat_activity where pid = %s"
        while await (await watcher.execute(alive, [pid])).fetchone():
            pass


GARBAGE = (b"\0" * 8, b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"", b"\x16\x03\x01", b"\0\0")


async def test_a_thousand_sockets_of_garbage_leave_a_session_as_it_was(road: Road) -> None:
    async with await road.connect() as connection:
        wires = []
        for n in range(1000):
            try:
                wires.append(await Wire.open(road.host, road.port))
            except OSError:
                continue
            wires[-1].send(GARBAGE[n % len(GARBAGE)])
            if n % 50 == 0:
                assert await (await connection.execute("select 1")).fetchone() == (1,)
        for wire in wires:
            wire.close()
        assert await (await connection.execute("select 1")).fetchone() == (1,)
    async with await road.connect():
        pass
