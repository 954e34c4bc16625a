"""MCP over stdio, as clients start it: a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_server import create_server, mcp_asgi, request_caller
from rest import create_app
from sql.agents import agent_for_token
from tests.fronts.conftest import UNREACHABLE_DSN

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 20


@asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *arguments),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def exchange(process: asyncio.subprocess.Process, message: dict[str, Any]) -> dict[str, Any]:
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            answer = json.loads(await process.stdout.readline())
            if answer.get("id") == message["id"]:
                return answer


INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}


def tool_call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


async def test_a_client_remembers_and_recalls_over_stdio(database, agents):
    arguments = ["-m", "tests.fronts.stdio_server", database.dsn, agents["ada"].agent]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)

    async with Client(stdio_client(server)) as client:
        made = await client.call_tool("remember", {"content": "The printer is on floor 3"})
        found = await client.call_tool("recall", {"query": "where is the printer"})

    assert found.structured_content["results"][0]["id"] == made.structured_content["id"]
    assert found.structured_content["degraded"] == "no embedder is set up"


async def test_it_answers_initialize_while_the_database_is_away_and_tells_calls_so():
    async with started("tests.fronts.stdio_server", UNREACHABLE_DSN, "ada") as process:
        greeting = await exchange(process, INITIALIZE)
        for number in (2, 3):
            answer = await exchange(process, tool_call(number, "recall", query="x"))
            assert answer["result"]["isError"]
            assert "can't be opened" in answer["result"]["content"][0]["text"]

    assert greeting["result"]["serverInfo"]["name"] == "pgrecall"


async def test_garbage_does_not_end_it_but_the_end_of_its_input_does(database, agents):
    async with started("tests.fronts.stdio_server", database.dsn, agents["ada"].agent) as process:
        process.stdin.write(b"\xff\xfe\n{\n[]\n\n" + b'{"jsonrpc": "2.0", "id": "\\ud800"}\n')
        greeting = await exchange(process, INITIALIZE)
        process.stdin.close()
        async with asyncio.timeout(DEADLINE_SECONDS):
            ended = await process.wait()

    assert greeting["result"]["serverInfo"]["name"] == "pgrecall"
    assert ended == 0


@asynccontextmanager
async def serving(store: Any, pool: Any) -> AsyncIterator[str]:
    """Yield the URL of a real server on a free port."""
    mcp = mcp_asgi(
        create_server(request_caller(store, pool), version="0"), partial(agent_for_token, pool)
    )
    app = create_app(store, pool, version="0", mounted={"/mcp": mcp}, lifespan=mcp.running)
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not server.started:  # noqa: ASYNC110, uvicorn has no event for it
            await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await task


async def test_the_bridge_passes_calls_on_and_says_when_the_server_is_gone(store, pool, agents):
    call = tool_call(2, "remember", content="The kettle is broken")
    async with AsyncExitStack() as stack:
        async with serving(store, pool) as url:
            bridge = await stack.enter_async_context(
                started("tests.fronts.bridge", url, agents["ada"].token)
            )
            await exchange(bridge, INITIALIZE)
            made = await exchange(bridge, call)
        gone = await exchange(bridge, call | {"id": 3})

    assert made["result"]["structuredContent"]["agent"] == agents["ada"].agent
    assert "does not answer" in gone["error"]["message"]


async def test_a_client_speaks_through_the_bridge(store, pool, agents):
    async with serving(store, pool) as url:
        arguments = ["-m", "tests.fronts.bridge", url, agents["ada"].token]
        bridge = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)
        async with Client(stdio_client(bridge)) as client:
            made = await client.call_tool("remember", {"content": "The kettle is broken"})
            found = await client.call_tool("recall", {"query": "kettle"})

    assert found.structured_content["results"][0]["id"] == made.structured_content["id"]
