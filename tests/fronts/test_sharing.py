"""Shares, delegations, spaces and agents by REST and by MCP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from asyncpg import Pool
from mcp import Client as McpClient

from mcp_server import Caller, create_server
from sql.agents import Secrets, add_agent, find_agent
from sql.store import MemoryStore
from tests.fronts.conftest import Client, OpenClient, remembered
from tests.fronts.test_isolation import seen_by


@pytest.fixture
async def root(pool: Pool, connect: OpenClient, agents: dict[str, Secrets], unique_name) -> Client:
    """Who runs the deployment."""
    agents["root"] = await add_agent(pool, unique_name("root"), admin=True)
    return connect("root")


@pytest.fixture
def eve(connect: OpenClient) -> Client:
    return connect("eve")


@pytest.fixture
def mcp(store: MemoryStore, pool: Pool, agents: dict[str, Secrets]) -> Callable[..., Any]:
    """`async with mcp("ada") as call: await call("share", …)`: what the tool answers."""

    @asynccontextmanager
    async def connected(name: str) -> AsyncIterator[Callable[..., Any]]:
        who = await find_agent(pool, agents[name].agent)

        async def caller(_: object) -> Caller:
            return Caller(store, pool, who)

        async with McpClient(create_server(caller, version="0", groups=["sharing"])) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                return result.content[0].text if result.is_error else result.structured_content

            yield call

    return connected


async def test_a_shared_memory_is_there_by_every_road_until_it_is_unshared(ada, eve, agents):
    memory = await remembered(ada, "the vault opens at nine")
    shares = f"/v1/memories/{memory['id']}/shares"
    assert (await eve.get(shares)).status_code == 404

    made = await ada.post(shares, json={"agent": agents["eve"].agent, "permission": "write"})
    assert made.status_code == 201
    assert made.json()["permission"] == "write"
    assert made.json()["granted_by"] == made.json()["owner"] == agents["ada"].agent
    assert await seen_by(eve, memory["content"])
    for client in (ada, eve):
        assert (await client.get(shares)).json() == {"shares": [made.json()]}

    assert (await ada.delete(f"{shares}/{agents['eve'].agent}")).status_code == 204
    assert not await seen_by(eve, memory["content"])
    assert (await ada.get(shares)).json() == {"shares": []}
    assert (await ada.delete(f"{shares}/{agents['eve'].agent}")).status_code == 404


async def test_what_one_may_not_share_is_refused_and_what_one_does_not_see_is_not_there(
    ada, bob, eve, agents, crew, connect
):
    memory = await remembered(ada, "of the crew", space=crew)
    shares = f"/v1/memories/{memory['id']}/shares"
    body = {"agent": agents["rita"].agent}

    assert (await bob.post(shares, json=body)).status_code == 403
    assert (await connect("rita").post(shares, json=body)).status_code == 403
    assert (await eve.post(shares, json=body)).status_code == 404
    assert (await ada.post(shares, json={"agent": "nobody"})).status_code == 404
    for wrong in (
        {**body, "permission": "own"},
        {**body, "expires_at": "2001-01-01T00:00:00Z"},
        {**body, "expires_at": 5},
        {"agent": agents["ada"].agent},
        {"agent": ""},
        {"agent": "a\x00"},
        {"agent": "\ud800"},
        {},
    ):
        answer = await ada.post(
            shares, content=json.dumps(wrong), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, wrong
    assert (await ada.post(f"/v1/memories/{uuid4()}/shares", json=body)).status_code == 404


async def test_a_delegation_lets_act_until_it_is_revoked(ada, eve, agents):
    memory = await remembered(ada, "the plan is to wait", tags=["plan"])
    other = await remembered(ada, "the rest is silence")
    made = await ada.post(
        "/v1/delegations",
        json={"agent": agents["eve"].agent, "permission": "read", "tags": ["plan"], "depth": 1},
    )
    assert made.status_code == 201
    delegation = made.json()["delegation"]
    assert [part["owner"] for part in made.json()["delegations"]] == [agents["ada"].agent]
    assert await seen_by(eve, memory["content"])
    assert not await seen_by(eve, other["content"])
    for client in (ada, eve):
        listed = (await client.get("/v1/delegations")).json()["delegations"]
        assert [one["delegation"] for one in listed] == [delegation]

    assert (await ada.delete(f"/v1/delegations/{delegation}")).status_code == 204
    assert not await seen_by(eve, memory["content"])
    assert (await ada.delete(f"/v1/delegations/{delegation}")).status_code == 404


async def test_a_space_that_is_not_ones_own_cant_be_delegated(eve, agents, crew):
    body = {"agent": agents["bob"].agent, "permission": "read", "space": crew}
    assert (await eve.post("/v1/delegations", json=body)).status_code == 403
    for wrong in ({"depth": 11}, {"kinds": []}, {"permission": None}, {"tags": ["x"] * 101}):
        answer = await eve.post("/v1/delegations", json={**body, "space": None, **wrong})
        assert answer.status_code == 422, wrong


async def test_members_come_and_go(ada, eve, agents, unique_name):
    space = unique_name("docs/internal")
    made = await ada.post("/v1/spaces", json={"space": space})
    assert made.status_code == 201
    assert made.json()["role"] == "admin"
    assert (await ada.post("/v1/spaces", json={"space": space})).status_code == 409
    memory = await remembered(ada, "how we write docs", space=space)

    members = f"/v1/spaces/{space.replace('/', '%2F')}/members"
    assert (await eve.get(members)).status_code == 404
    joined = await ada.post(members, json={"agent": agents["eve"].agent, "role": "reader"})
    assert joined.status_code == 201
    assert await seen_by(eve, memory["content"])
    assert [one["space"] for one in (await eve.get("/v1/spaces")).json()["spaces"]] == [
        space,
        f"~{agents['eve'].agent}",
    ]
    listed = (await eve.get(members)).json()["members"]
    assert {one["agent"]: one["role"] for one in listed} == {
        agents["ada"].agent: "admin",
        agents["eve"].agent: "reader",
    }
    refused = await eve.post(members, json={"agent": agents["bob"].agent})
    assert refused.status_code == 403

    assert (await ada.delete(f"{members}/{agents['eve'].agent}")).status_code == 204
    assert not await seen_by(eve, memory["content"])
    assert (await ada.delete(f"{members}/{agents['ada'].agent}")).status_code == 403


async def test_agents_are_made_rotated_and_removed_by_who_runs_the_deployment(
    root, ada, app, agents, unique_name
):
    name = unique_name("new")
    body = {"name": name, "token_expires_at": "2099-01-01T00:00:00Z"}
    assert (await ada.post("/v1/agents", json=body)).status_code == 403
    made = await root.post("/v1/agents", json=body)
    assert made.status_code == 201
    assert made.json()["password"] is None
    entry = (await root.get(f"/v1/agents/{name}")).json()
    (token,) = entry["tokens"]
    assert made.json()["token"].startswith(token["prefix"])
    assert len(token["prefix"]) < len(made.json()["token"]) / 2
    assert token["expires_at"].startswith("2099-01-01")
    assert (await root.post("/v1/agents", json=body)).status_code == 409

    assert (await ada.get(f"/v1/agents/{name}")).status_code == 404
    assert (await ada.post(f"/v1/agents/{name}/rotate")).status_code == 403
    rotated = await root.post(f"/v1/agents/{name}/rotate")
    assert rotated.json()["token"] != made.json()["token"]
    assert len((await root.get(f"/v1/agents/{name}")).json()["tokens"]) == 2

    login = f"/v1/agents/{name}/sql_login"
    assert (await ada.put(login)).status_code == 403
    assert (await root.put(login, json={"expires_at": "2020-01-01T00:00:00Z"})).status_code == 422
    given = await root.put(login, json={"expires_at": "2999-01-01T00:00:00Z"})
    assert given.status_code == 200
    assert set(given.json()) == {"agent", "password", "expires_at"}
    assert (await root.get(f"/v1/agents/{name}")).json()["sql_login"]
    assert (await ada.delete(login)).status_code == 403
    assert (await root.delete(login)).status_code == 204
    assert (await root.delete(login)).status_code == 404
    assert not (await root.get(f"/v1/agents/{name}")).json()["sql_login"]

    assert (await ada.delete(f"/v1/agents/{name}")).status_code == 403
    assert (await root.delete(f"/v1/agents/{name}")).status_code == 204
    assert (await root.get(f"/v1/agents/{name}")).status_code == 404
    assert (await root.delete(f"/v1/agents/{agents['root'].agent}")).status_code == 409


async def test_an_agent_sees_itself_with_its_last_use_and_rotates_itself(ada, agents):
    listed = (await ada.get("/v1/agents")).json()["agents"]
    assert [one["name"] for one in listed] == [agents["ada"].agent]
    assert listed[0]["last_used_at"] is not None
    rotated = await ada.post(f"/v1/agents/{agents['ada'].agent}/rotate", json={})
    assert rotated.status_code == 201
    past = {"token_expires_at": "2001-01-01T00:00:00Z"}
    refused = await ada.post(f"/v1/agents/{agents['ada'].agent}/rotate", json=past)
    assert refused.status_code == 422


async def test_tools_share_and_take_back(ada, eve, agents, mcp):
    memory = await remembered(ada, "told by a tool")
    eves = agents["eve"].agent
    async with mcp("ada") as call:
        made = await call("share", id=memory["id"], agent=eves)
        assert (made["agent"], made["permission"]) == (eves, "read")
        assert await call("list_shares", id=memory["id"]) == {"shares": [made]}
        assert await seen_by(eve, memory["content"])
        assert await call("unshare", id=memory["id"], agent=eves) == {"shares": []}
        assert not await seen_by(eve, memory["content"])
        assert "is not shared with" in await call("unshare", id=memory["id"], agent=eves)
        assert "can't grant itself" in await call(
            "share", id=memory["id"], agent=agents["ada"].agent
        )


async def test_tools_delegate_and_choose_members(ada, eve, agents, mcp, crew):
    memory = await remembered(ada, "told by another tool", space=crew)
    eves = agents["eve"].agent
    async with mcp("ada") as call:
        made = await call("delegate", agent=eves, permission="read", space=crew)
        assert await seen_by(eve, memory["content"])
        listed = await call("list_delegations")
        assert listed["delegations"] == made["delegations"]
        left = await call("revoke_delegation", delegation=made["delegation"])
        assert left == {"delegations": []}

        member = await call("add_member", space=crew, agent=eves, role="reader")
        assert member == {"space": crew, "agent": eves, "role": "reader"}
        assert await seen_by(eve, memory["content"])
        roles = {one["space"]: one["role"] for one in (await call("list_spaces"))["spaces"]}
        assert roles[crew] == "admin"
    async with mcp("eve") as call:
        assert await call("remove_member", space=crew, agent=eves) == {"members": []}
        assert not await seen_by(eve, memory["content"])
        assert "no space" in await call("add_member", space=crew, agent=eves)
