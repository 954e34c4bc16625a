"""The roads to the same memories: psql, psycopg, REST and MCP, each as its users take it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from typing import Any

import httpx
import httpx2
import psycopg
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pgrecall.demo.stage import DemoFailed, Stage
from pgrecall.embedded import binaries

_TIMEOUT_SECONDS = 60.0


def psql_program() -> str:
    """Return the system's psql, else the one that came with the embedded Postgres."""
    return shutil.which("psql") or str(binaries() / "psql")


async def psql(url: str, password: str, statement: str) -> str:
    """Run one statement in a real psql and return what it shows, notices included."""
    plain = {"PGPASSWORD": password, "PGCLIENTENCODING": "UTF8"}
    process = await asyncio.create_subprocess_exec(
        *(psql_program(), url, "--no-psqlrc", "--pset=footer=off", "--pset=pager=off"),
        *("--command", statement),
        env=os.environ | plain,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        shown, _ = await asyncio.wait_for(process.communicate(), _TIMEOUT_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = shown.decode("utf-8", "replace")
    if process.returncode:
        raise DemoFailed("psql did not get an answer", hint=text.strip())
    return text


async def fetch(url: str, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run one statement through psycopg with bind parameters."""
    async with await psycopg.AsyncConnection.connect(url, connect_timeout=30) as connection:
        cursor = await connection.execute(statement.encode(), parameters)
        return await cursor.fetchall()


def _http(stage: Stage) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=stage.endpoints.http, timeout=_TIMEOUT_SECONDS)


async def post(stage: Stage, path: str, body: Any, *, token: str) -> Any:
    """POST JSON to the REST interface and return its JSON answer.

    Raises DemoFailed with the problem's own words when it is refused.
    """
    async with httpx.AsyncClient(base_url=stage.endpoints.http, timeout=_TIMEOUT_SECONDS) as client:
        answer = await client.post(path, json=body, headers={"Authorization": f"Bearer {token}"})
    if answer.is_error:
        raise DemoFailed(f"POST {path} answered {answer.status_code}", hint=answer.text[:1000])
    return answer.json()


async def readiness(stage: Stage) -> dict[str, Any]:
    """Return what /readyz says, ready or not."""
    async with httpx.AsyncClient(base_url=stage.endpoints.http, timeout=_TIMEOUT_SECONDS) as client:
        told: dict[str, Any] = (await client.get("/readyz")).json()
    return told


async def call_tools(
    stage: Stage, token: str, calls: Sequence[tuple[str, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Call MCP tools in one session over HTTP; return the structured content of each."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT_SECONDS) as http:
        transport = streamable_http_client(stage.endpoints.mcp, http_client=http)
        async with Client(transport, read_timeout_seconds=_TIMEOUT_SECONDS) as client:
            results = [await client.call_tool(tool, arguments) for tool, arguments in calls]
    # Not raised inside: the session's task group would wrap it.
    for (tool, _), result in zip(calls, results, strict=True):
        if result.is_error or result.structured_content is None:
            raise DemoFailed(f"the MCP tool {tool} failed", hint=str(result.content))
    return [result.structured_content or {} for result in results]
