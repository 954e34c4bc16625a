"""What becomes of a memory over REST: PATCH, DELETE, its history and its links."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.fronts.conftest import Client, remembered


async def patched(
    client: Client, memory: dict[str, Any], if_match: str | None = "*", **fields: Any
) -> Any:
    headers = {"If-Match": if_match} if if_match else {}
    path = f"/v1/memories/{memory['id']}"
    return await client.patch(path, json=fields, headers=headers)


async def test_a_patch_makes_a_version_with_a_new_etag_and_keeps_the_rest(ada):
    made = await remembered(ada, "Bastion listens on 22", tags=["ssh"], pinned=True, title="B")

    answer = await patched(ada, made, '"1"', content="Bastion listens on 49222", title=None)

    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"2"'
    body = answer.json()
    assert (body["version"], body["content"]) == (2, "Bastion listens on 49222")
    assert (body["tags"], body["pinned"], body["title"]) == (["ssh"], True, None)
    assert (await ada.get(f"/v1/memories/{made['id']}")).headers["ETag"] == '"2"'


async def test_a_patch_without_a_change_keeps_the_version(ada):
    made = await remembered(ada, "x", title="T")

    for fields in ({}, {"title": "T"}):
        answer = await patched(ada, made, '"1"', **fields)
        assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')


@pytest.mark.parametrize(
    ("if_match", "status", "name"),
    [
        (None, 428, "if-match-missing"),
        ('"7"', 412, "stale"),
        ('W/"1"', 412, "stale"),
        ('"one"', 412, "stale"),
        ("1", 412, "stale"),
        ('"99999999999999999999"', 412, "stale"),
        ('"7", "1"', 200, None),
        ("*", 200, None),
    ],
)
async def test_a_patch_needs_the_version_it_builds_on(ada, if_match, status, name):
    made = await remembered(ada, "x")

    answer = await patched(ada, made, if_match, content="y")

    assert answer.status_code == status, answer.text
    if name:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["type"] == f"urn:problem-type:pgrecall:{name}"
        assert (await ada.get(f"/v1/memories/{made['id']}")).json()["content"] == "x"


@pytest.mark.parametrize(
    "fields",
    [
        {"content": None},
        {"importance": None},
        {"content": " "},
        {"content": "a\x00b"},
        {"content": "x" * 100_001},
        {"tags": "ssh"},
        {"space": "elsewhere"},
        {"id": str(uuid4())},
        {"clear": ["content"]},
        {"ttl": 30},
        {"valid_from": "2020-01-02T00:00:00Z", "valid_until": "2020-01-01T00:00:00Z"},
    ],
)
async def test_what_a_patch_cant_hold_is_refused(ada, fields):
    made = await remembered(ada, "x")

    answer = await patched(ada, made, **fields)

    assert answer.status_code == 422, answer.text
    assert (await ada.get(f"/v1/memories/{made['id']}")).json()["version"] == 1


async def test_only_who_may_change_a_memory_patches_or_deletes_it(ada, bob, connect, crew):
    shared = await remembered(ada, "shared", space=crew)
    private = await remembered(ada, "private", space=crew, visibility="private")
    public = await remembered(ada, "public", visibility="public")

    assert (
        (await patched(bob, shared, content="bob was here")).json()["written_by"].startswith("bo")
    )
    for client, memory, status in (
        (bob, private, 404),
        (bob, public, 403),
        (connect("rita"), shared, 403),
        (connect("eve"), shared, 404),
    ):
        path = f"/v1/memories/{memory['id']}"
        assert (await patched(client, memory, content="z")).status_code == status
        assert (await client.delete(path)).status_code == status


async def test_an_archived_memory_is_brought_back_by_a_patch(ada):
    made = await remembered(ada, "x")
    path = f"/v1/memories/{made['id']}"

    assert (await patched(ada, made, archived=True)).status_code == 200
    assert (await ada.get(path)).status_code == 404
    assert (await patched(ada, made, content="y")).status_code == 422
    answer = await patched(ada, made, '"1"', archived=False, content="y")

    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    assert (await ada.get(path)).json()["content"] == "y"


@pytest.mark.parametrize("how", ["archive", "delete", "erase"])
async def test_a_deleted_memory_is_gone(ada, how):
    made = await remembered(ada, "x")
    path = f"/v1/memories/{made['id']}"

    stale = await ada.delete(path, params={"how": how}, headers={"If-Match": '"2"'})
    answer = await ada.delete(path, params={"how": how}, headers={"If-Match": '"1"'})

    assert stale.status_code == 412
    assert answer.status_code == 200
    assert answer.json()["outcome"].startswith(how.rstrip("e"))
    assert (await ada.get(path)).status_code == 404
    if how == "erase":
        assert (await ada.delete(path)).status_code == 404
        assert (await patched(ada, made, content="y")).status_code == 404


async def test_an_unknown_way_to_delete_is_refused(ada):
    made = await remembered(ada, "x")
    assert (await ada.delete(f"/v1/memories/{made['id']}?how=burn")).status_code == 422


async def test_the_history_tells_every_version_and_who_wrote_it(ada, bob, agents, crew):
    made = await remembered(ada, "Bastion listens on 22", space=crew)
    await patched(bob, made, content="Bastion listens on 49222")

    answer = await ada.get(f"/v1/memories/{made['id']}/history")

    assert answer.status_code == 200
    first, second = answer.json()["versions"]
    assert (first["version"], first["content"]) == (1, "Bastion listens on 22")
    assert first["superseded_at"] == second["created_at"]
    assert second["superseded_at"] is None
    assert [v["written_by"] for v in (first, second)] == [agents["ada"].agent, agents["bob"].agent]
    assert (await ada.get(f"/v1/memories/{uuid4()}/history")).status_code == 404


async def test_memories_are_linked_and_the_refusals_say_why(ada, crew):
    cause, effect = await remembered(ada, "cause"), await remembered(ada, "effect")
    elsewhere = await remembered(ada, "elsewhere", space=crew)
    path = f"/v1/memories/{effect['id']}/links"

    async def linked(target: str, relation: str = "caused by") -> Any:
        return await ada.post(path, json={"target": target, "relation": relation})

    for _ in range(2):
        answer = await linked(cause["id"])
        assert answer.status_code == 201
        assert answer.json() == {
            "source": effect["id"],
            "target": cause["id"],
            "relation": "caused by",
        }
    assert (await linked(effect["id"])).status_code == 422
    assert (await linked(elsewhere["id"])).status_code == 422
    assert (await linked(cause["id"], " ")).status_code == 422
    assert (await linked(str(uuid4()))).status_code == 404


async def test_a_link_is_taken_away_once_by_who_may_change_the_memory(ada, bob, connect, crew):
    cause = await remembered(ada, "cause", space=crew)
    effect = await remembered(ada, "effect", space=crew)
    path = f"/v1/memories/{effect['id']}/links"
    link = {"target": cause["id"], "relation": "caused by/& more"}
    assert (await ada.post(path, json=link)).status_code == 201

    assert (await connect("rita").delete(path, params=link)).status_code == 403
    assert (await connect("eve").delete(path, params=link)).status_code == 404
    assert (await ada.delete(path)).status_code == 422
    assert (await ada.delete(path, params=link | {"relation": "blames"})).status_code == 404
    assert (await bob.delete(path, params=link)).status_code == 204
    assert (await ada.delete(path, params=link)).status_code == 404


async def test_an_erasure_is_previewed_and_then_reported_by_table(ada, bob, crew):
    await remembered(ada, "Anna lives in Oslo", tags=["subject:42"], space=crew)
    await remembered(bob, "Anna likes tea", tags=["subject:42"], space=crew)
    wanted = {"tag": "subject:42", "space": crew}

    async def reported(client: Client, **more: Any) -> dict[str, int]:
        answer = await client.post("/v1/erasures", json=wanted | more)
        assert answer.status_code == 200, answer.text
        return {row["what"]: row["rows"] for row in answer.json()["rows"] if row["rows"]}

    expected = {"memories": 1, "versions": 1, "embedding_queue": 1, "kept": 1}
    assert await reported(bob, preview=True) == expected
    assert len((await ada.get("/v1/memories", params={"space": crew})).json()["memories"]) == 2
    assert await reported(bob) == expected
    (left,) = (await ada.get("/v1/memories", params={"space": crew})).json()["memories"]
    assert left["content"] == "Anna lives in Oslo"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"space": "x"},
        {"tag": None},
        {"ids": []},
        {"tag": "a\x00"},
        {"key": " "},
        {"tags": ["x"]},
    ],
)
async def test_an_erasure_must_say_what(ada, body):
    assert (await ada.post("/v1/erasures", json=body)).status_code == 422


async def test_a_reader_erases_nothing(connect):
    assert (await connect("rita").post("/v1/erasures", json={"tag": "x"})).status_code == 403


async def test_the_same_request_after_an_erasure_writes_nothing_again(ada):
    sent = {"json": {"content": "sent twice"}, "headers": {"Idempotency-Key": "k1"}}
    made = (await ada.post("/v1/memories", **sent)).json()
    await ada.delete(f"/v1/memories/{made['id']}?how=erase")

    assert (await ada.post("/v1/memories", **sent)).status_code == 404
    listed = await ada.get("/v1/memories", params={"agent": made["agent"]})
    assert listed.json()["memories"] == []
