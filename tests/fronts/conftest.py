"""The REST app over one database a module, and clients that hold a fresh agent's token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any

import httpx
import pytest
from asyncpg import Pool
from fastapi import FastAPI

from embedding.queries import QueryEmbeddings
from pgrecall.embedded import EmbeddedPostgres
from rest import create_app
from sql.agents import Secrets, add_agent
from sql.pool import create_pool
from sql.store import MemoryStore
from tests.conftest import Database, as_superuser, create_database
from tests.hash_embedder import HashEmbedder

BASE_URL = "http://127.0.0.1:8499"
# A database that went away: nothing listens there.
UNREACHABLE_DSN = "postgresql://pgrecall@/memory?host=/nonexistent"

Client = httpx.AsyncClient
OpenClient = Callable[..., Client]

_numbers = count(1)


@pytest.fixture(scope="module")
async def database(server: EmbeddedPostgres, template: str) -> AsyncIterator[Database]:
    """Shared by a module: each test has agents and a space of its own in it."""
    name = f"fronts_{next(_numbers)}"
    yield await create_database(server, name, template=template)
    await as_superuser(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
async def pool(database: Database) -> AsyncIterator[Pool]:
    made = await create_pool(database.dsn, min_size=1, max_size=5)
    yield made
    await made.close()


@pytest.fixture(scope="module")
def store(pool: Pool) -> MemoryStore:
    return MemoryStore(pool, QueryEmbeddings(HashEmbedder()))


@pytest.fixture(scope="module")
def app(store: MemoryStore, pool: Pool) -> FastAPI:
    return create_app(store, pool, version="0", embedder="hash")


@pytest.fixture
def crew(unique_name: Callable[[str], str]) -> str:
    """A space whose members are ada, bob and rita."""
    return unique_name("crew")


@pytest.fixture
async def agents(pool: Pool, crew: str, unique_name: Callable[[str], str]) -> dict[str, Secrets]:
    """Ada and bob share a space, rita only reads there, eve is an outsider."""
    about: dict[str, dict[str, Any]] = {
        "ada": {"spaces": [crew]},
        "bob": {"spaces": [crew]},
        "rita": {"reader": True, "spaces": [crew]},
        "eve": {},
    }
    return {
        name: await add_agent(pool, unique_name(name), **given) for name, given in about.items()
    }


@pytest.fixture
async def connect(app: FastAPI, agents: dict[str, Secrets]) -> AsyncIterator[OpenClient]:
    """Clients of the app, by agent's name: `connect("ada")`; of another: `connect(None, app)`."""
    opened: list[Client] = []

    def open_client(name: str | None = None, app: FastAPI = app) -> Client:
        headers = {"Authorization": f"Bearer {agents[name].token}"} if name else {}
        transport = httpx.ASGITransport(app)
        opened.append(Client(transport=transport, base_url=BASE_URL, headers=headers))
        return opened[-1]

    yield open_client
    for client in opened:
        await client.aclose()


@pytest.fixture
def ada(connect: OpenClient) -> Client:
    return connect("ada")


@pytest.fixture
def bob(connect: OpenClient) -> Client:
    return connect("bob")


async def remembered(client: Client, content: str, **fields: object) -> dict[str, Any]:
    answer = await client.post("/v1/memories", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()
