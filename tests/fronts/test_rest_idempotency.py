"""Idempotency-Key: the same request takes effect once."""

import asyncio

import pytest

KEY = {"Idempotency-Key": "3f1c-remember-once"}


async def contents(client) -> list[str]:
    return [memory["content"] for memory in (await client.get("/v1/memories")).json()["memories"]]


async def test_the_same_key_and_body_answers_the_same_and_writes_once(ada):
    body = {"content": "Bastion listens on 22", "key": "bastion.port"}
    first = await ada.post("/v1/memories", json=body, headers=KEY)
    # Meanwhile somebody else moves it: a repeat of the old request must not move it back.
    await ada.post("/v1/memories", json={**body, "content": "Bastion listens on 49222"})

    again = await ada.post("/v1/memories", json=body, headers=KEY)

    assert again.status_code == 201
    assert again.json() == first.json()
    assert await contents(ada) == ["Bastion listens on 49222"]


async def test_the_same_key_with_another_body_is_refused(ada):
    await ada.post("/v1/memories", json={"content": "one"}, headers=KEY)

    answer = await ada.post("/v1/memories", json={"content": "two"}, headers=KEY)

    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:problem-type:pgrecall:idempotency-key-reused"
    assert await contents(ada) == ["one"]


async def test_concurrent_requests_with_one_key_take_effect_once(ada):
    body = {"memories": [{"content": "first"}, {"content": "second"}]}

    answers = await asyncio.gather(
        *(ada.post("/v1/memories/batch", json=body, headers=KEY) for _ in range(8))
    )

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].json()["memories"][0]["duplicate_of"] is None
    assert len({memory["id"] for memory in answers[0].json()["memories"]}) == 2


async def test_a_failed_request_leaves_its_key_free(ada, agents):
    refused = await ada.post(
        "/v1/memories", json={"content": "one", "space": f"~{agents['bob'].agent}"}, headers=KEY
    )
    accepted = await ada.post("/v1/memories", json={"content": "one"}, headers=KEY)

    assert (refused.status_code, accepted.status_code) == (403, 201)


async def test_agents_do_not_share_keys(ada, bob, agents):
    await ada.post("/v1/memories", json={"content": "ada's"}, headers=KEY)

    answer = await bob.post("/v1/memories", json={"content": "bob's"}, headers=KEY)

    assert answer.status_code == 201
    assert answer.json()["agent"] == agents["bob"].agent


async def test_an_expired_key_may_stand_for_another_request(ada, pool):
    await ada.post("/v1/memories", json={"content": "one"}, headers=KEY)
    await pool.execute("update pgrecall.idempotency_keys set expires_at = now()")

    answer = await ada.post("/v1/memories", json={"content": "two"}, headers=KEY)

    assert answer.status_code == 201


async def test_no_text_stands_in_the_table_of_keys(ada, pool):
    await ada.post("/v1/memories", json={"content": "plain words"}, headers=KEY)

    kept = str(await pool.fetch("select k::text from pgrecall.idempotency_keys k"))

    assert "plain words" not in kept
    assert KEY["Idempotency-Key"] not in kept


@pytest.mark.parametrize("key", ["", "k" * 256, "caf\xe9"])
async def test_a_key_that_is_no_key_is_refused(ada, key):
    answer = await ada.post(
        "/v1/memories",
        json={"content": "one"},
        headers={"Idempotency-Key": key.encode("latin-1")},
    )

    assert answer.status_code == 422
