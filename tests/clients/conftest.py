"""A gateway in front of a migrated database, with an agent that may log in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial

import asyncpg
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from embedding.backfill import Backfill
from embedding.queries import QueryEmbeddings
from gateway import Gateway, GatewayConfig, Limits, Upstream, serve
from sql.agents import add_agent
from sql.logins import login_secret
from tests.conftest import Database
from tests.hash_embedder import HashEmbedder

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
async def remembered(direct: Road, pool: asyncpg.Pool, embedder: HashEmbedder) -> tuple[str, ...]:
    """What the agent has remembered, every vector made."""
    worker = Backfill(pool, embedder)
    await worker.use_model()
    async with await direct.connect() as connection:
        for content in MEMORIES:
            await connection.execute("select remember(%s)", [content])
    await worker.drain()
    return MEMORIES
