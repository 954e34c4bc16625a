"""REST and MCP show each agent what the oracle says, after a walk of many moves."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import httpx
import pytest
from mcp import Client

from mcp_server import Caller, create_server
from rest import create_app
from sql.agents import Agent, find_agent
from sql.errors import NotFound
from sql.store import MemoryStore
from tests.fronts.conftest import BASE_URL
from tests.store.lookout import ROADS
from tests.store.moves import Moves
from tests.store.oracle import Oracle
from tests.store.test_access_walk import drawn
from tests.store.world import COMMON, World, vector_of

SEEDS = (101, 102)


@pytest.fixture(params=SEEDS)
async def oracle(request, database):
    """What is to be seen in the database after a hundred moves."""

    def walk() -> Oracle:
        world = World(database.dsn)
        moves = Moves(world)
        for move, number in drawn(request.param):
            moves.step(move, number, look=False)
        world.close()
        return world.oracle

    return await asyncio.to_thread(walk)


@pytest.fixture
def store(pool) -> MemoryStore:
    async def embed(_: str) -> Any:
        return f"oracle {vector_of(0)}"

    return MemoryStore(pool, embed)


def permitted(oracle: Oracle, agent: str) -> set[str]:
    return {
        memory.id
        for memory in oracle.memories.values()
        if oracle.reads(agent, memory) and oracle.answers(memory)
    }


def versions_of(oracle: Oracle, agent: str, identity: str) -> list[int]:
    memory = oracle.memories[identity]
    numbers = range(1, len(memory.versions) + 1)
    return [number for number in numbers if oracle.reads(agent, memory, number)]


async def listed(client: httpx.AsyncClient) -> set[str]:
    """All of GET /v1/memories, page by page."""
    found: set[str] = set()
    query: dict[str, Any] = {"limit": 7}
    while True:
        page = (await client.get("/v1/memories", params=query)).json()
        found |= {memory["id"] for memory in page["memories"]}
        if page["next_cursor"] is None:
            return found
        query["cursor"] = page["next_cursor"]


async def test_rest_shows_each_agent_what_it_may_read(oracle, store, pool):
    async def authenticate(name: str) -> Agent | None:
        try:
            return await find_agent(pool, name)
        except NotFound:
            return None

    app = create_app(store, pool, version="0", authenticate=authenticate)
    transport = httpx.ASGITransport(app)
    for agent in oracle.agents:
        headers = {"Authorization": f"Bearer {agent}"}
        expected = permitted(oracle, agent)
        async with httpx.AsyncClient(
            transport=transport, base_url=BASE_URL, headers=headers
        ) as client:
            assert await listed(client) == expected, agent
            for mode in ROADS:
                asked = {"query": COMMON, "k": 100, "mode": mode}
                answer = (await client.post("/v1/recall", json=asked)).json()
                assert {result["id"] for result in answer["results"]} == expected, (agent, mode)
            for identity in oracle.memories:
                got = await client.get(f"/v1/memories/{identity}")
                assert got.status_code == (200 if identity in expected else 404), agent
                told = await client.get(f"/v1/memories/{identity}/history")
                assert history_of(told) == versions_of(oracle, agent, identity), agent


def history_of(answer: httpx.Response) -> list[int]:
    if answer.status_code == 404:
        return []
    return sorted(version["version"] for version in answer.json()["versions"])


async def test_mcp_shows_each_agent_what_it_may_read(oracle, store, pool):
    async def call(agent: Agent, tool: str, arguments: dict[str, Any]) -> Any:
        async def caller(_: object, agent: Agent) -> Caller:
            return Caller(store, pool, agent)

        async with Client(create_server(partial(caller, agent=agent), version="0")) as client:
            return await client.call_tool(tool, arguments)

    for name in oracle.agents:
        agent = await find_agent(pool, name)
        expected = permitted(oracle, name)
        page = await call(agent, "list_memories", {"limit": 200})
        assert {memory["id"] for memory in page.structured_content["memories"]} == expected, name
        found = await call(agent, "recall", {"query": COMMON, "k": 100})
        assert {result["id"] for result in found.structured_content["results"]} == expected, name
        for identity in list(oracle.memories)[:10]:
            got = await call(agent, "get_memory", {"id": identity})
            assert got.is_error == (identity not in expected), (name, identity)
