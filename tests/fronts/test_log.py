"""The log by REST and by MCP: reading events page by page, and verifying them."""

from __future__ import annotations

from asyncpg import Pool
from mcp import Client

from mcp_server import Caller, create_server
from sql.agents import Secrets, find_agent
from sql.store import MemoryStore
from tests.fronts.conftest import remembered


async def test_events_come_page_by_page_each_once_and_never_with_words(ada, crew):
    for number in range(5):
        await remembered(ada, f"secret word {number}", space=crew)

    seen, path = [], f"/v1/events?space={crew}&limit=2"
    while path:
        answer = await ada.get(path)
        assert answer.status_code == 200
        assert "secret" not in answer.text
        page = answer.json()
        seen += page["events"]
        path = answer.links["next"]["url"] if page["next_cursor"] else None

    assert len({(event["agent"], event["sequence"]) for event in seen}) == len(seen)
    own = [event for event in seen if event["agent"].startswith("ada")]
    assert [event["sequence"] for event in own] == list(range(1, len(own) + 1))
    assert [event["action"] for event in own[-5:]] == ["remember"] * 5
    assert own[-1]["previous_hash"] == own[-2]["hash"]


async def test_events_since_a_sequence_number_are_those_after_it(ada, crew):
    await remembered(ada, "one", space=crew)
    query = {"space": crew, "limit": 1000}
    every = (await ada.get("/v1/events", params=query)).json()["events"]
    own = [event for event in every if event["agent"].startswith("ada")]
    last = own[-1]["sequence"]
    await remembered(ada, "two", space=crew)

    query |= {"agent": own[0]["agent"], "since": last}
    later = (await ada.get("/v1/events", params=query)).json()

    assert [event["sequence"] for event in later["events"]] == [last + 1]
    assert later["next_cursor"] is None


async def test_an_agent_reads_and_verifies_its_own_chains_and_an_admin_its_spaces(
    ada, bob, connect, agents, crew
):
    await remembered(ada, "by ada", space=crew)
    await remembered(bob, "by bob", space=crew)
    eve = connect("eve")

    async def writers(client):
        events = (await client.get("/v1/events", params={"space": crew})).json()["events"]
        return {event["agent"] for event in events}

    names = {name: secrets.agent for name, secrets in agents.items()}
    crewed = {names["ada"], names["bob"], names["rita"]}
    assert await writers(ada) == crewed  # who made the space
    assert await writers(bob) == {names["bob"]}
    assert await writers(eve) == set()

    answer = (await ada.get("/v1/verify", params={"space": crew})).json()
    assert answer["valid"]
    assert {chain["agent"] for chain in answer["chains"]} == crewed
    assert (await eve.get("/v1/verify", params={"space": crew})).status_code == 404
    assert {c["agent"] for c in (await eve.get("/v1/verify")).json()["chains"]} == {names["eve"]}
    assert (await connect().get("/v1/verify")).status_code == 401


async def test_a_noted_head_is_asked_for_and_missed_when_no_chain_holds_it(bob, crew):
    await remembered(bob, "by bob", space=crew)
    events = (await bob.get("/v1/events", params={"space": crew})).json()["events"]

    for head, valid in ((events[-1]["hash"], True), ("00" * 32, False)):
        query = {"space": crew, "expected_head": head}
        answer = (await bob.get("/v1/verify", params=query)).json()
        assert answer["valid"] is valid


async def test_what_makes_no_sense_is_refused(ada):
    for path in (
        *("/v1/events?limit=0", "/v1/events?limit=1001", "/v1/events?since=-1", "/v1/events?x=1"),
        *("/v1/events?since=9223372036854775808", "/v1/events?since=x", "/v1/events?space="),
        *("/v1/events?cursor=!", "/v1/events?cursor=AAAA", "/v1/events?cursor=W10"),
        *("/v1/events?space=%00", "/v1/verify?space=%00", "/v1/verify?space="),
        *("/v1/verify?expected_head=xy", "/v1/verify?expected_head=00", "/v1/verify?x=1"),
    ):
        answer = await ada.get(path)
        assert answer.status_code == 422, path
    assert (await ada.get("/v1/events?space=nowhere")).json()["events"] == []
    assert (await ada.get("/v1/verify?space=nowhere")).status_code == 404


async def test_mcp_verifies_when_its_group_is_asked_for(
    store: MemoryStore, pool: Pool, agents: dict[str, Secrets]
) -> None:
    ada = await find_agent(pool, agents["ada"].agent)

    async def caller(_: object) -> Caller:
        return Caller(store, pool, ada)

    async with Client(create_server(caller, version="0", groups=["core"])) as client:
        assert "verify" not in {tool.name for tool in (await client.list_tools()).tools}
    async with Client(create_server(caller, version="0", groups=["admin"])) as client:
        made = await client.call_tool("verify", {"space": f"~{ada.name}"})
        refused = await client.call_tool("verify", {"space": "nowhere"})

    assert made.structured_content["valid"]
    assert [chain["agent"] for chain in made.structured_content["chains"]] == [ada.name]
    assert refused.is_error
