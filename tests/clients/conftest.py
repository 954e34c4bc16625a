"""A gateway in front of a migrated database, with an agent that may log in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

import asyncpg
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from embedding.backfill import Backfill
from embedding.queries import QueryEmbeddings
from gateway import Gateway, GatewayConfig, Limits, Upstream, serve
from gateway.splice import embedding_argument
from pgrecall.embedded import EmbeddedPostgres
from sql.agents import add_agent
from sql.logins import login_secret
from sql.pool import create_pool
from sql.records import query_embedding
from tests.clients.splitter import Splitter
from tests.clients.wire import Dial, Wire
from tests.conftest import Database, as_superuser, create_database
from tests.hash_embedder import HashEmbedder

ROADS_AGENT = "roads_agent"
QUESTION = "billing deploy rolled back"
MEMORIES = (
    "The billing deploy was rolled back with helm rollback billing 41.",
    "Ada prefers short answers and metric units.",
    "ERR-4012 means that the token of the payment provider has expired.",
)


@dataclass(frozen=True, slots=True)
class Road:
    """One way to the database for one agent."""

    host: str
    port: int
    user: str
    password: str
    database: str
    # What makes recall(QUESTION) straight at Postgres the call that the gateway makes of it.
    ready: str = ""

    def conninfo(self, **more: str | int) -> str:
        named = {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "dbname": self.database,
            "sslmode": "disable",
        }
        return make_conninfo(**{**named, **more})

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGDATABASE": self.database,
            "PGSSLMODE": "disable",
            "PGCONNECT_TIMEOUT": "10",
        }

    async def connect(self, **more: str | int) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self.conninfo(**more), autocommit=True)


@pytest.fixture(scope="session")
async def database(server: EmbeddedPostgres, template: str) -> AsyncIterator[Database]:
    """One for all of these tests: each has an agent of its own, who sees only its memories."""
    made = await create_database(server, "clients", template=template)
    await as_superuser(server, "GRANT CONNECT, TEMPORARY ON DATABASE clients TO pgrecall_agent")
    yield made
    await as_superuser(server, "DROP DATABASE clients WITH (FORCE)")


@pytest.fixture(scope="session")
async def pool(database: Database) -> AsyncIterator[asyncpg.Pool]:
    made = await create_pool(database.dsn, min_size=1, max_size=5)
    yield made
    await made.close()


def upstream_of(database: Database) -> Upstream:
    return Upstream(host=str(database.server.socket_folder), database=database.name)


@pytest.fixture
async def agent(pool: asyncpg.Pool, unique_name: Callable[[str], str]) -> tuple[str, str]:
    """The name and password of an agent who has remembered something."""
    name = unique_name("ada")
    made = await add_agent(pool, name, sql_login=True)
    assert made.password is not None
    return name, made.password


@pytest.fixture
async def direct(database: Database, agent: tuple[str, str]) -> Road:
    """The road that passes the gateway by."""
    return Road(str(database.server.socket_folder), 5432, *agent, database.name)


@pytest.fixture
async def gateway(
    database: Database, pool: asyncpg.Pool, embedder: HashEmbedder
) -> AsyncIterator[Gateway]:
    config = GatewayConfig(upstream=upstream_of(database), port=0, limits=Limits(drain_seconds=0.2))
    started = await serve(config, partial(login_secret, pool), QueryEmbeddings(embedder))
    yield started
    await started.close()


@pytest.fixture
async def road(gateway: Gateway, database: Database, agent: tuple[str, str]) -> Road:
    """The road through the gateway."""
    return Road("127.0.0.1", gateway.port, *agent, database.name)


@pytest.fixture
async def dial() -> AsyncIterator[Dial]:
    """Open raw connections, and close them with the test."""
    opened: list[Wire] = []

    async def open_one(road: Road) -> Wire:
        opened.append(await Wire.open(road.host, road.port))
        return opened[-1]

    yield open_one
    for wire in opened:
        wire.close()


async def remember_all(road: Road, pool: asyncpg.Pool, embedder: HashEmbedder) -> None:
    """Have the agent remember everything, every vector made."""
    worker = Backfill(pool, embedder)
    await worker.use_model()
    async with await road.connect() as connection:
        for content in MEMORIES:
            await connection.execute("select remember(%s)", [content])
    await worker.drain()


@pytest.fixture
async def remembered(direct: Road, pool: asyncpg.Pool, embedder: HashEmbedder) -> tuple[str, ...]:
    """What the agent has remembered."""
    await remember_all(direct, pool, embedder)
    return MEMORIES


@dataclass(frozen=True, slots=True)
class Roads:
    """Straight, through the gateway, and through the gateway with every message cut up."""

    straight: Road
    gateway: Road
    split: Road


@pytest.fixture(scope="session")
async def roads(database: Database, pool: asyncpg.Pool) -> AsyncIterator[Roads]:
    socket_folder = str(database.server.socket_folder)
    async with AsyncExitStack() as stack:
        password = (await add_agent(pool, ROADS_AGENT, sql_login=True)).password
        assert password is not None
        embedder = HashEmbedder()
        (vector,) = await embedder.embed_queries([QUESTION])
        ready = embedding_argument(query_embedding(embedder.model, vector))
        straight = Road(socket_folder, 5432, ROADS_AGENT, password, database.name, ready)
        await remember_all(straight, pool, embedder)

        async def gateway_to(host: str, port: int) -> Gateway:
            upstream = Upstream(host=host, port=port, database=database.name)
            config = GatewayConfig(upstream=upstream, port=0, limits=Limits(drain_seconds=0.1))
            embeddings = QueryEmbeddings(embedder)
            started = await serve(config, partial(login_secret, pool), embeddings)
            stack.push_async_callback(started.close)
            return started

        async def splitter_to(host: str, port: int) -> Splitter:
            started = Splitter(host, port)
            await started.start()
            stack.push_async_callback(started.close)
            return started

        plain = await gateway_to(socket_folder, 5432)
        behind = await gateway_to("127.0.0.1", (await splitter_to(socket_folder, 5432)).port)
        split = await splitter_to("127.0.0.1", behind.port)
        through = replace(straight, host="127.0.0.1", ready="")
        yield Roads(straight, replace(through, port=plain.port), replace(through, port=split.port))


@pytest.fixture
async def wire(dial: Dial, road: Road) -> Wire:
    return await dial(road)


@pytest.fixture
async def session(wire: Wire, road: Road) -> Wire:
    await wire.login(road)
    return wire


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
