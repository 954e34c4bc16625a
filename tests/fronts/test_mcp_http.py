"""MCP over HTTP, mounted in the REST app: the token decides, sessions are not needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx2
import pytest
from asyncpg import Pool
from fastapi import FastAPI
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from mcp_server import create_server, mcp_asgi, request_caller
from rest import create_app
from sql.agents import Agent, Secrets, agent_for_token
from sql.errors import Unavailable
from sql.store import MemoryStore
from tests.fronts.conftest import BASE_URL, OpenClient, remembered

ACCEPT = {"Accept": "application/json, text/event-stream"}

Authenticate = Callable[[str], Awaitable[Agent | None]]


@asynccontextmanager
async def serving(
    store: MemoryStore, pool: Pool, authenticate: Authenticate
) -> AsyncIterator[FastAPI]:
    mcp = mcp_asgi(create_server(request_caller(store, pool), version="0"), authenticate)
    app = create_app(store, pool, version="0", mounted={"/mcp": mcp}, lifespan=mcp.running)
    async with app.router.lifespan_context(app):
        yield app


@asynccontextmanager
async def mcp_client(app: FastAPI, token: str, mode: str = "auto") -> AsyncIterator[McpClient]:
    transport = httpx2.ASGITransport(app)
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        McpClient(streamable_http_client(f"{BASE_URL}/mcp", http_client=http), mode=mode) as mcp,
    ):
        yield mcp


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_one_memory_goes_from_rest_to_mcp_and_back(store, pool, agents, connect, mode):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        rest = connect("ada", app)
        by_rest = await remembered(rest, "Invoices are numbered per year")
        async with mcp_client(app, agents["ada"].token, mode) as mcp:
            found = await mcp.call_tool("recall", {"query": "how are invoices numbered"})
            made = await mcp.call_tool("remember", {"content": "Refunds need a ticket"})
        answer = await rest.post("/v1/recall", json={"query": "what does a refund need"})

    assert found.structured_content["results"][0]["id"] == by_rest["id"]
    assert answer.json()["results"][0]["id"] == made.structured_content["id"]


async def test_each_request_is_its_own_tokens_agents(store, pool, agents):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        async with mcp_client(app, agents["ada"].token) as ada:
            made = await ada.call_tool("remember", {"content": "ada's own"})
        async with mcp_client(app, agents["bob"].token) as bob:
            read = await bob.call_tool("get_memory", {"id": made.structured_content["id"]})
            found = await bob.call_tool("recall", {"query": "ada's own"})
        async with mcp_client(app, agents["rita"].token) as rita:
            written = await rita.call_tool("remember", {"content": "rita's own"})

    assert read.is_error
    assert found.structured_content["results"] == []
    assert written.is_error
    assert "only reads" in written.content[0].text


async def test_a_call_needs_no_session_before_it(store, pool, connect):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        body = call("remember", content="no handshake")
        answer = await connect("ada", app).post("/mcp", json=body, headers=ACCEPT)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["result"]["structuredContent"]["content"] == "no handshake"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_without_a_valid_token_nothing_is_served(store, pool, connect, method):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        for headers in ({}, {"Authorization": "Bearer pgr_wrong"}):
            answer = await connect(None, app).request(method, "/mcp", headers=headers | ACCEPT)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def test_a_client_that_begins_with_get_is_given_a_stream(store, pool, agents):
    token = agents["ada"].token
    headers = [(b"accept", b"text/event-stream"), (b"host", b"localhost")]
    headers.append((b"authorization", f"Bearer {token}".encode()))
    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": headers}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 1), "http_version": "1.1"}
    started: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    gone = asyncio.Event()
    requests = iter([{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, Any]:
        if (request := next(requests, None)) is not None:
            return request
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if not started.done():
            started.set_result(message)

    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        exchange = asyncio.create_task(app(scope, receive, send))
        async with asyncio.timeout(5):
            answer = await started
            gone.set()
            await exchange

    assert answer["status"] == 200
    assert dict(answer["headers"])[b"content-type"].startswith(b"text/event-stream")


async def test_a_page_that_is_asked_for_is_refused_with_what_to_send(store, pool, connect):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        for method in ("GET", "DELETE", "PUT"):
            answer = await connect("ada", app).request(method, "/mcp")
            assert answer.status_code == 405
            assert answer.headers["Allow"] == "POST, GET"
            assert "JSON-RPC" in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"jsonrpc":"2.0","id":1,"method":"nope"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall",'
        b'"arguments":{"query":"\\ud800"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":'
        + b'{"a":' * 500
        + b"1"
        + b"}" * 501
        + b"}",
    ],
)
async def test_a_bad_message_is_refused_and_the_next_one_served(store, pool, connect, body):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        ada = connect("ada", app)
        json = {"Content-Type": "application/json"} | ACCEPT
        refused = await ada.post("/mcp", content=body, headers=json)
        served = await ada.post("/mcp", json=call("recall", query="x"), headers=ACCEPT)

    assert refused.status_code < 500
    assert "Traceback" not in refused.text
    assert "error" in refused.text.lower()
    assert served.status_code == 200


async def test_other_sites_may_not_call(store, pool, connect):
    async with serving(store, pool, partial(agent_for_token, pool)) as app:
        ada = connect("ada", app)
        for headers, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://e.x"}, 403)):
            answer = await ada.post("/mcp", json=call("recall", query="x"), headers=headers)
            assert answer.status_code == status


async def test_a_database_that_is_away_at_log_in_is_told_with_when_to_come_back(
    store: MemoryStore, pool: Pool, connect: OpenClient, agents: dict[str, Secrets]
):
    async def away(_: str) -> Agent | None:
        raise Unavailable("the database can't be reached")

    async with serving(store, pool, away) as app:
        answer = await connect("ada", app).post("/mcp", json=call("recall", query="x"))

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
