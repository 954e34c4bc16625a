"""Agents that write and read in a test's own database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import psycopg
import pytest

from embedding.backfill import Backfill
from sql import agents
from sql.acting import act_as
from sql.agents import Agent
from sql.errors import NotFound
from sql.records import NewMemory, RecallAnswer, RecallQuery, Remembered
from sql.revisions import Revision, revise
from sql.store import MemoryStore
from tests.conftest import Database
from tests.embedding.waiting import until

AddAgent = Callable[..., Awaitable[Agent]]


@dataclass(frozen=True, slots=True)
class Login:
    """An agent with an SQL login, and its session straight at Postgres."""

    name: str
    agent: Agent
    password: str
    sql: psycopg.AsyncConnection


LogIn = Callable[..., Awaitable[Login]]


@pytest.fixture
def add_agent(pool: asyncpg.Pool) -> AddAgent:
    """`await add_agent("ada", spaces=["infra"])`: no SQL login, so names may repeat over tests."""

    async def add(name: str, **options: Any) -> Agent:
        await agents.add_agent(pool, name, **options)
        return await agents.find_agent(pool, name)

    return add


@pytest.fixture
async def log_in(
    database: Database, pool: asyncpg.Pool, unique_name: Callable[[str], str]
) -> AsyncIterator[LogIn]:
    """`eve = await log_in("eve", spaces=["infra"])`: roles are the server's, so names differ."""
    made: list[Login] = []

    async def connect(stem: str, **options: Any) -> Login:
        name = unique_name(stem)
        secrets = await agents.add_agent(pool, name, sql_login=True, **options)
        assert secrets.password is not None
        dsn = database.dsn_for(name, secrets.password)
        sql = await psycopg.AsyncConnection.connect(dsn, autocommit=True, prepare_threshold=None)
        made.append(Login(name, await agents.find_agent(pool, name), secrets.password, sql))
        return made[-1]

    yield connect
    for login in made:
        await login.sql.close()
    for login in made:
        with suppress(NotFound):
            await agents.remove(pool, login.name)


@pytest.fixture
async def ada(add_agent: AddAgent) -> Agent:
    return await add_agent("ada", spaces=["infra"])


@pytest.fixture
def remember(store: MemoryStore, ada: Agent) -> Callable[..., Awaitable[Remembered]]:
    """`await remember("text", key="…")` as ada."""

    async def call(content: str, **fields: Any) -> Remembered:
        return await store.remember(ada, NewMemory(content=content, **fields))

    return call


@pytest.fixture
def recall(store: MemoryStore, ada: Agent) -> Callable[..., Awaitable[RecallAnswer]]:
    """`await recall("query", k=5)` as ada."""

    async def call(query: str, **fields: Any) -> RecallAnswer:
        return await store.recall(ada, RecallQuery(query=query, **fields))

    return call


@pytest.fixture
async def embed(pool, embedder) -> Callable[[], Awaitable[int]]:
    """`await embed()`: give every memory its vector."""
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    return backfill.drain


@pytest.fixture
def call(pool, ada) -> Callable[..., Awaitable[list[asyncpg.Record]]]:
    """`await call("select …", 1, agent=bob)`: rows, as the agent; ada if none is named."""

    async def run(statement: str, *arguments: Any, agent: Any = None) -> list[asyncpg.Record]:
        async with pool.acquire() as connection, connection.transaction():
            await act_as(connection, agent or ada)
            return await connection.fetch(statement, *arguments)

    return run


@pytest.fixture
def change(pool, ada):
    """`await change(memory, content="…")` as ada."""

    async def call(memory, expected=None, archived=None, **fields):
        made = Revision(**fields)
        return await revise(pool, ada, memory.id, made, expected=expected, archived=archived)

    return call


@pytest.fixture
def as_agent(pool: asyncpg.Pool) -> Callable[..., object]:
    """`async with as_agent("ada") as connection`: SQL as that agent's own login would have it."""

    @asynccontextmanager
    async def session(name: str):
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(f"set local pgrecall.agent = '{name}'")
            await connection.execute("set local role pgrecall_agent")
            await connection.execute("set local search_path = memory, public")
            yield connection

    return session


def contents(answer: RecallAnswer) -> list[str]:
    return [result.content for result in answer.results]


SECRET = "the alarm code of the warehouse is 4711"


@dataclass(frozen=True, slots=True)
class Scene:
    """Ada keeps a secret to herself in a space where eve writes, rita reads and mallory is not."""

    ada: Login
    eve: Login
    rita: Login
    mallory: Login
    secret: UUID
    space: str

    @property
    def others(self) -> tuple[Login, ...]:
        return (self.eve, self.rita, self.mallory)


@pytest.fixture
async def scene(log_in: LogIn, pool: asyncpg.Pool, unique_name: Callable[[str], str]) -> Scene:
    space = unique_name("crew")
    ada = await log_in("ada", spaces=[space])
    eve = await log_in("eve", spaces=[space])
    rita = await log_in("rita", reader=True, spaces=[space])
    mallory = await log_in("mallory")
    written = await ada.sql.execute(
        "select remember(%s, space => %s, visibility => 'private', title => 'code', key => 'alarm',"
        " entity => 'warehouse', thread => 'locks')",
        [SECRET, space],
    )
    (secret,) = await written.fetchone()
    await eve.sql.execute("select remember('eve was here', space => %s)", [space])
    return Scene(ada, eve, rita, mallory, secret, space)


async def until_somebody_waits(pool) -> None:
    async def waiting() -> bool:
        return await pool.fetchval("select exists (select from pg_locks where not granted)")

    await until(waiting)
