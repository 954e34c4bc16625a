"""Repeats, contradictions and the report of health over REST and MCP."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from tests.fronts.conftest import remembered


async def test_a_write_answers_what_it_contradicts_and_a_replay_does_too(ada, crew):
    old = await remembered(ada, "prod runs PostgreSQL 16", space=crew, entity="prod")
    body = {"content": "prod runs PostgreSQL 18", "space": crew, "entity": "prod"}

    answers = [
        (await ada.post("/v1/memories", json=body, headers={"Idempotency-Key": "k"})).json()
        for _ in range(2)
    ]

    for answer in answers:
        assert answer["contradicts"] == [
            {"id": old["id"], "content": old["content"], "why": "same entity, other value"}
        ]
        assert (answer["duplicate_of"], answer["similar"]) == (None, [])


async def test_a_batch_answers_repeats_and_likenesses_in_order(ada, crew):
    first = await remembered(ada, "The VPN client needs the corporate certificate", space=crew)
    texts = ["VPN client needs the corporate certificate", first["content"]]

    answer = await ada.post(
        "/v1/memories/batch", json={"memories": [{"content": t, "space": crew} for t in texts]}
    )

    like, same = answer.json()["memories"]
    assert [near["id"] for near in like["similar"]] == [first["id"]]
    assert like["similar"][0]["overlap"] == pytest.approx(1)
    assert (like["duplicate_of"], same["duplicate_of"]) == (None, first["id"])


async def test_eight_posts_of_the_same_words_leave_one_memory(ada, crew):
    made = await asyncio.gather(*(remembered(ada, "said at once", space=crew) for _ in range(8)))

    assert len({memory["id"] for memory in made}) == 1
    assert sum(memory["duplicate_of"] is None for memory in made) == 1


async def test_memories_are_settled_and_consolidated(ada, connect, crew):
    ids = [
        (await remembered(ada, f"The staging database has {n} tables", space=crew))["id"]
        for n in (3, 4, 5)
    ]

    answer = await ada.post("/v1/resolutions", json={"ids": ids[:2]})
    assert answer.status_code == 200, answer.text
    outcomes = {one["id"]: one["outcome"] for one in answer.json()["memories"]}
    assert outcomes == {ids[0]: "archived", ids[1]: "kept"}

    found = await ada.get("/v1/clusters", params={"space": crew, "smallest": 2})
    assert [set(one["ids"]) for one in found.json()["clusters"]] == [{ids[1], ids[2]}]
    made = await ada.post("/v1/consolidations", json={"ids": ids[1:], "content": "4 to 5 tables"})
    assert made.status_code == 201, made.text
    assert set(made.json()["derived_from"]) == set(ids[1:])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"ids": []}, 422),
        ({"ids": ["x", "y"]}, 422),
        ({"ids": [str(uuid4()), str(uuid4())], "how": "oldest"}, 422),
        ({"ids": [str(uuid4()), str(uuid4())], "content": "x"}, 422),
        ({"ids": [str(uuid4()), str(uuid4())], "how": "merge", "content": "\x00"}, 422),
        ({"ids": [str(uuid4()), str(uuid4())]}, 404),
    ],
)
async def test_bad_settlements_are_refused(ada, body, status):
    assert (await ada.post("/v1/resolutions", json=body)).status_code == status


async def test_a_reader_settles_nothing_and_reads_the_report(ada, connect, crew):
    ids = [(await remembered(ada, f"doubt {n}", space=crew, confidence=0.1))["id"] for n in (1, 2)]
    rita = connect("rita")

    assert (await rita.post("/v1/resolutions", json={"ids": ids})).status_code == 403
    report = (await rita.get("/v1/health-report", params={"space": crew})).json()
    doubts = {one["concern"]: one for one in report["concerns"]}["low confidence"]
    assert (doubts["memories"], set(doubts["examples"])) == (2, set(ids))
    assert (await connect("eve").get("/v1/health-report", params={"space": crew})).json() == {
        "concerns": []
    }
