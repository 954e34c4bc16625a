"""What the /v1 routes answer when all is well."""

from uuid import uuid4

from tests.fronts.conftest import remembered


async def test_a_remembered_memory_is_created_and_found_where_location_says(ada, agents):
    answer = await ada.post(
        "/v1/memories",
        json={"content": "prod runs PostgreSQL 18", "entity": "prod", "metadata": {"seen": [1]}},
    )

    assert answer.status_code == 201
    assert answer.headers["ETag"] == '"1"'
    created = answer.json()
    assert created["space"] == f"~{agents['ada'].agent}"
    assert created["duplicate_of"] is None
    found = await ada.get(answer.headers["Location"])
    assert found.status_code == 200
    assert found.json()["content"] == "prod runs PostgreSQL 18"
    assert found.json()["metadata"] == {"seen": [1]}


async def test_an_exact_repeat_is_told_as_a_duplicate(ada):
    first = await remembered(ada, "the staging cluster sleeps at night")
    second = await remembered(ada, "the staging cluster sleeps at night")

    assert second["duplicate_of"] == first["id"]


async def test_a_key_said_again_makes_a_new_version_with_a_new_etag(ada):
    first = await remembered(ada, "Bastion listens on 22", key="bastion.port")
    second = await remembered(ada, "Bastion listens on 49222", key="bastion.port")

    assert (first["id"], first["version"]) == (second["id"], 1)
    assert (await ada.get(f"/v1/memories/{first['id']}")).headers["ETag"] == '"2"'


async def test_an_unchanged_memory_is_not_sent_again(ada):
    created = await remembered(ada, "Bastion listens on 22", key="bastion.port")
    path = f"/v1/memories/{created['id']}"

    unchanged = await ada.get(path, headers={"If-None-Match": 'W/"1", "7"'})
    await remembered(ada, "Bastion listens on 49222", key="bastion.port")
    changed = await ada.get(path, headers={"If-None-Match": '"1"'})

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["ETag"] == '"1"'
    assert changed.status_code == 200


async def test_a_batch_answers_in_the_order_of_the_request(ada):
    contents = [f"step {number} of the release" for number in range(20)]

    answer = await ada.post(
        "/v1/memories/batch", json={"memories": [{"content": content} for content in contents]}
    )

    assert answer.status_code == 201
    assert [memory["content"] for memory in answer.json()["memories"]] == contents


async def test_a_batch_with_one_bad_memory_stores_nothing(ada, agents):
    answer = await ada.post(
        "/v1/memories/batch",
        json={
            "memories": [
                {"content": "good"},
                {"content": "bad", "space": f"~{agents['bob'].agent}"},
            ]
        },
    )

    assert answer.status_code == 403
    assert (await ada.get("/v1/memories")).json()["memories"] == []


async def test_recall_finds_by_words_and_says_what_did_not_serve(ada):
    await remembered(ada, "We rolled billing back with helm rollback on 3 May")
    await remembered(ada, "The cafeteria serves soup on Fridays")

    answer = await ada.post("/v1/recall", json={"query": "how did we roll back billing", "k": 1})

    assert answer.status_code == 200
    body = answer.json()
    assert [result["content"][:9] for result in body["results"]] == ["We rolled"]
    assert body["degraded"] == "no embedding model is in use"
    assert body["legs"] == {"lexical": 1, "vector": 0}
    assert body["took_ms"] > 0


async def test_the_listing_pages_newest_first_through_its_links(ada):
    for number in range(5):
        await remembered(ada, f"note {number}", tags=["note & more"])
    await remembered(ada, "something else")

    seen, path, pages = [], "/v1/memories?limit=2&tags=note+%26+more", 0
    while path:
        answer = await ada.get(path)
        assert answer.status_code == 200
        seen += [memory["content"] for memory in answer.json()["memories"]]
        link = answer.links.get("next")
        assert (link is None) == (answer.json()["next_cursor"] is None)
        path, pages = link and link["url"], pages + 1

    assert seen == [f"note {number}" for number in (4, 3, 2, 1, 0)]
    assert pages == 3


async def test_the_listing_filters(ada, crew):
    await remembered(ada, "a", kind="episodic", entity="Prod", importance=0.9, space=crew)
    await remembered(ada, "b", kind="procedural", thread="t1", event_at="2020-01-01T00:00:00Z")

    async def listed(**filters: object) -> list[str]:
        answer = await ada.get("/v1/memories", params=filters)
        assert answer.status_code == 200, answer.text
        return [memory["content"] for memory in answer.json()["memories"]]

    assert await listed(space=crew) == ["a"]
    assert await listed(kinds=["procedural", "strategic"]) == ["b"]
    assert await listed(entity="prod") == ["a"]
    assert await listed(thread="t1") == ["b"]
    assert await listed(until="2021-01-01T00:00:00Z") == ["b"]
    assert await listed(since="2021-01-01T00:00:00Z") == ["a"]
    assert await listed(min_importance=0.6) == ["a"]
    assert await listed(agent="bob") == []


async def test_an_unknown_id_is_not_found(ada):
    answer = await ada.get(f"/v1/memories/{uuid4()}")

    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:problem-type:pgrecall:not-found"
