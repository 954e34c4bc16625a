"""Aliases by REST and by MCP: one name given there is understood everywhere."""

from __future__ import annotations

from asyncpg import Pool
from mcp import Client

from mcp_server import Caller, create_server
from sql.agents import Secrets, find_agent
from sql.store import MemoryStore


async def test_an_alias_given_over_rest_is_understood_listed_and_taken_away(ada, bob, crew):
    made = await ada.post(
        "/v1/aliases", json={"entity": "Kubernetes", "alias": "k8s", "space": crew}
    )
    assert made.status_code == 201
    assert made.json() == {"space": crew, "entity": "Kubernetes", "alias": "k8s"}
    memory = {"content": "Upgraded on Friday", "entity": "Kubernetes", "space": crew}
    await ada.post("/v1/memories", json=memory)

    found = await bob.post("/v1/recall", json={"query": "what of k8s", "mode": "lexical"})
    assert [one["content"] for one in found.json()["results"]] == ["Upgraded on Friday"]
    assert (await bob.get("/v1/aliases")).json()["aliases"] == [made.json()]

    assert (await bob.delete("/v1/aliases/k8s", params={"space": crew})).status_code == 204
    assert (await bob.get("/v1/aliases")).json()["aliases"] == []
    assert (await bob.delete("/v1/aliases/k8s", params={"space": crew})).status_code == 404


async def test_aliases_are_refused_to_whom_may_not_write_and_when_blank(connect, crew):
    eve, rita = connect("eve"), connect("rita")
    alias = {"entity": "Kubernetes", "alias": "k8s", "space": crew}

    assert (await eve.post("/v1/aliases", json=alias)).status_code == 403
    assert (await rita.post("/v1/aliases", json=alias)).status_code == 403
    assert (await eve.post("/v1/aliases", json={**alias, "alias": " "})).status_code == 422


async def test_mcp_gives_an_alias_when_its_group_is_asked_for(
    store: MemoryStore, pool: Pool, agents: dict[str, Secrets]
) -> None:
    ada = await find_agent(pool, agents["ada"].agent)

    async def caller(_: object) -> Caller:
        return Caller(store, pool, ada)

    async with Client(create_server(caller, version="0", groups=["core", "self"])) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        made = await client.call_tool("alias", {"entity": "Postgres", "alias": "the elephant"})

    assert {"remember", "alias"} <= names
    assert made.structured_content == {
        "space": f"~{ada.name}",
        "entity": "Postgres",
        "alias": "the elephant",
    }
