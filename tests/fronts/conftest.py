"""The REST app over the test's own database, and clients that hold an agent's token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from asyncpg import Pool
from fastapi import FastAPI

from rest import create_app
from sql.agents import add_agent
from sql.store import MemoryStore

BASE_URL = "http://127.0.0.1:8499"

Client = httpx.AsyncClient
OpenClient = Callable[..., Client]


@pytest.fixture
def app(store: MemoryStore, pool: Pool) -> FastAPI:
    return create_app(store, pool, version="0", embedder="hash")


@pytest.fixture
async def tokens(pool: Pool) -> dict[str, str]:
    """The tokens of two agents who share the space `crew`, and of one who only reads there."""
    about = {
        "ada": {"spaces": ["crew"]},
        "bob": {"spaces": ["crew"]},
        "rita": {"reader": True, "spaces": ["crew"]},
        "eve": {},
    }
    return {name: (await add_agent(pool, name, **given)).token for name, given in about.items()}


@pytest.fixture
async def connect(app: FastAPI, tokens: dict[str, str]) -> AsyncIterator[OpenClient]:
    """Clients of the app, by agent's name: `connect("ada")`; of another: `connect(None, app)`."""
    opened: list[Client] = []

    def open_client(name: str | None = None, app: FastAPI = app) -> Client:
        headers = {"Authorization": f"Bearer {tokens[name]}"} if name else {}
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


async def remembered(client: Client, content: str, **fields: object) -> dict[str, object]:
    answer = await client.post("/v1/memories", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()
