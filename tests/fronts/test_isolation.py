"""What one agent may not see is, for it, not there: by every road of REST and MCP."""

from tests.fronts.conftest import remembered


async def seen_by(client, content: str) -> bool:
    query = {"query": content, "k": 100}
    found = [
        (await client.post("/v1/recall", json={**query, "mode": mode})).json()
        for mode in ("hybrid", "lexical", "vector", "exact")
    ]
    listed = (await client.get("/v1/memories", params={"limit": 200})).json()["memories"]
    everything = [*listed, *(result for answer in found for result in answer["results"])]
    return any(memory["content"] == content for memory in everything)


async def test_a_private_memory_is_there_for_its_agent_alone(ada, bob, connect, crew):
    secret = "the alarm code of the warehouse is 4711"
    for fields in ({}, {"space": crew, "visibility": "private"}):
        created = await remembered(ada, f"{secret} {fields}", **fields)
        for other in (bob, connect("rita"), connect("eve")):
            assert (await other.get(f"/v1/memories/{created['id']}")).status_code == 404
            assert not await seen_by(other, created["content"])
        assert await seen_by(ada, created["content"])


async def test_a_shared_memory_is_there_for_the_members_of_its_space(ada, bob, connect, crew):
    created = await remembered(ada, "deploys freeze on Fridays", space=crew)

    for member in (bob, connect("rita")):
        assert await seen_by(member, created["content"])
    outsider = connect("eve")
    assert (await outsider.get(f"/v1/memories/{created['id']}")).status_code == 404
    assert not await seen_by(outsider, created["content"])


async def test_a_public_memory_is_there_for_everyone(ada, connect, crew):
    created = await remembered(ada, "the wiki moved", space=crew, visibility="public")

    assert await seen_by(connect("eve"), created["content"])


async def test_an_idempotency_key_shows_no_other_agents_memory(ada, bob, agents):
    headers = {"Idempotency-Key": "same"}
    body = {"content": "ada alone knows"}
    mine = (await ada.post("/v1/memories", json=body, headers=headers)).json()
    theirs = (await bob.post("/v1/memories", json=body, headers=headers)).json()

    assert mine["id"] != theirs["id"]
    assert theirs["agent"] == agents["bob"].agent
