"""Whoever is turned away is written down: when, where from, who and why, and with no secret."""

from __future__ import annotations

import hashlib
from functools import partial
from types import SimpleNamespace
from uuid import uuid4

import httpx
import pytest
import structlog
from structlog.testing import capture_logs

from mcp_server import create_server, mcp_asgi, request_caller
from rest import Limits, create_app
from rest.refusals import _MOST_LINES_A_SECOND
from sql.agents import agent_for_token
from tests.fronts.conftest import BASE_URL

UNKNOWN_TOKEN = "pgr_" + "x" * 43


@pytest.fixture
def guarded(store, pool, connect):
    def make(name: str | None = "ada", **about):
        return connect(name, create_app(store, pool, version="0", **about))

    return make


async def refusals(request) -> list[dict]:
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        await request
    return [line for line in logs if line["event"] == "refused"]


async def count_of(client: httpx.AsyncClient, reason: str) -> float:
    for line in (await client.get("/metrics")).text.splitlines():
        if line.startswith(f'pgrecall_http_refusals_total{{reason="{reason}"}}'):
            return float(line.split()[-1])
    return 0.0


async def test_each_refusal_is_told_with_its_reason_and_who_asked(guarded, agents, crew):
    """A table of requests, and what is written of each."""
    ada, rita = agents["ada"], agents["rita"]
    theirs = {"content": "x", "space": f"~{agents['bob'].agent}"}
    bearer = {"Authorization": f"Bearer {rita.token}"}
    cases = (
        ("GET", "/v1/memories", {"headers": {"Authorization": f"Bearer {UNKNOWN_TOKEN}"}},
         ("unauthenticated", 401, None, "pgr_xxxxxxxx")),
        ("GET", "/v1/memories", {"headers": {"Authorization": "Bearer my password"}},
         ("unauthenticated", 401, None, None)),
        ("GET", "/v1/memories", {"headers": {"Authorization": "Basic YTpi"}},
         ("unauthenticated", 401, None, None)),
        ("POST", "/v1/memories", {"json": theirs}, ("forbidden", 403, ada.agent, ada.token[:12])),
        ("POST", "/v1/memories", {"json": {"content": "x", "space": crew}, "headers": bearer},
         ("forbidden", 403, rita.agent, rita.token[:12])),
        ("GET", f"/v1/memories/{uuid4()}", {}, ("not-found", 404, ada.agent, ada.token[:12])),
        ("POST", "/v1/recall", {"json": {"query": "x" * 1500}},
         ("too-large", 413, None, ada.token[:12])),
        ("GET", "/v1/memories", {"headers": {"Origin": "http://evil.example"}},
         ("other-site", 403, None, ada.token[:12])),
        ("GET", "/v1/memories", {"headers": {"Host": "evil.example"}},
         ("misdirected", 421, None, ada.token[:12])),
    )  # fmt: skip
    client = guarded(limits=Limits(max_body_bytes=1_000))
    for number, (method, path, about, expected) in enumerate(cases):
        about = {**about, "headers": {**about.get("headers", {}), "X-Request-Id": f"try-{number}"}}
        (line,) = await refusals(client.request(method, path, **about))
        told = (line["reason"], line["status"], line["agent"], line["token"])
        assert told == expected, (method, path)
        assert line["request_id"] == f"try-{number}"
        assert line["address"] == "127.0.0.1"
        assert line["method"] == method
        for secret in (UNKNOWN_TOKEN, ada.token, rita.token, "password", "YTpi", "x" * 99):
            assert secret not in str(line)


async def test_too_many_requests_are_told_and_counted(guarded, agents):
    client = guarded(limits=Limits(requests_per_minute=2))
    for _ in range(2):
        assert await refusals(client.get("/v1/memories")) == []

    (line,) = await refusals(client.get("/v1/memories"))

    assert (line["reason"], line["token"]) == ("too-many-requests", agents["ada"].token[:12])
    assert await count_of(client, "too-many-requests") == 1


async def test_what_is_served_or_only_wrong_is_no_refusal(guarded):
    client = guarded()
    assert await refusals(client.get("/v1/memories")) == []
    assert await refusals(client.post("/v1/recall", json={"query": "x", "k": 0})) == []
    assert await refusals(client.get("/nowhere")) == []


async def test_refusals_by_the_thousand_fill_no_log_and_are_all_counted(guarded, monkeypatch):
    now = SimpleNamespace(monotonic=lambda: 1.0)
    monkeypatch.setattr("rest.refusals.time", now)
    client = guarded(None, limits=Limits(failures_per_minute=None))
    asked = 3 * _MOST_LINES_A_SECOND

    async def flood() -> None:
        for _ in range(asked):
            await client.get("/v1/memories")

    assert len(await refusals(flood())) == _MOST_LINES_A_SECOND
    now.monotonic = lambda: 2.0
    (line,) = await refusals(client.get("/v1/memories"))
    assert line["lines_left_out"] == asked - _MOST_LINES_A_SECOND
    assert await count_of(client, "unauthenticated") == asked + 1


async def test_mcp_refusals_are_told_too(store, pool, agents, crew):
    mcp = mcp_asgi(
        create_server(request_caller(store, pool), version="0"), partial(agent_for_token, pool)
    )
    app = create_app(store, pool, version="0", mounted={"/mcp": mcp}, lifespan=mcp.running)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "remember", "arguments": {"content": "x", "space": crew}},
    }
    headers = {"Accept": "application/json, text/event-stream", "X-Request-Id": "mcp-1"}
    bearer = {"Authorization": f"Bearer {agents['rita'].token}"}
    transport = httpx.ASGITransport(app)
    async with mcp.running(), httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        (unknown,) = await refusals(client.post("/mcp", json=call, headers=headers))
        (reader,) = await refusals(client.post("/mcp", json=call, headers={**headers, **bearer}))

    assert (unknown["reason"], unknown["agent"], unknown["route"]) == (
        "unauthenticated",
        None,
        "/mcp",
    )
    assert (reader["reason"], reader["agent"]) == ("forbidden", agents["rita"].agent)
    assert unknown["request_id"] == reader["request_id"] == "mcp-1"


async def test_the_database_holds_no_token_and_takes_none_that_is_nearly_one(pool, agents):
    token = agents["ada"].token
    assert (await agent_for_token(pool, token)).name == agents["ada"].agent
    changed = "A" if token[-1] != "A" else "B"
    for nearly in (token[:-1], token + "A", token[:-1] + changed, token.upper(), f" {token}", ""):
        assert await agent_for_token(pool, nearly) is None
    rows = await pool.fetch("select * from pgrecall.agent_tokens")
    assert rows
    assert all(token[12:] not in str(tuple(row)) for row in rows)
    hashes = {row["token_hash"] for row in rows}
    assert hashlib.sha256(token.encode()).digest() in hashes


async def test_guesses_from_one_ipv6_network_count_together(store, pool):
    app = create_app(store, pool, version="0", limits=Limits(failures_per_minute=3))
    statuses = []
    for number in range(5):
        transport = httpx.ASGITransport(app, client=(f"2001:db8:0:1::{number}", 1234))
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            bearer = {"Authorization": f"Bearer {number}"}
            statuses.append((await client.get("/v1/memories", headers=bearer)).status_code)

    assert statuses == [401, 401, 401, 429, 429]


async def test_a_preflight_of_another_site_is_refused_and_allows_nothing(guarded):
    asked = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    answer = await guarded().options("/v1/recall", headers=asked)

    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_every_answer_carries_safe_headers_refusals_and_faults_included(guarded):
    client = guarded(limits=Limits(max_body_bytes=100, requests_per_minute=4))
    answers = [
        await client.get("/nowhere"),
        await client.get("/v1/memories", headers={"Host": "evil.example"}),
        await client.post("/v1/recall", content=b"x" * 200),
        *[await client.get("/v1/memories") for _ in range(4)],
    ]
    assert {answer.status_code for answer in answers} >= {404, 421, 413, 429}
    for answer in answers:
        assert answer.headers["X-Request-Id"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "server" not in answer.headers
