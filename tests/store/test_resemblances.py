"""What comes back with a write: what says nearly the same, and what says something else."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from sql.records import NewMemory
from sql.writing import COMPARED_AT_ONCE

CORPUS = Path(__file__).parents[1] / "resemblance_corpus" / "pairs.jsonl"


async def test_labelled_pairs_are_told_apart_as_well_as_measured(store, ada):
    pairs = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    firsts = [
        await store.remember(
            ada, NewMemory(content=pair["first"], entity=pair["entity"], space="infra")
        )
        for pair in pairs
    ]
    found, told, labels = Counter(), Counter(), Counter(pair["label"] for pair in pairs)

    for pair, first in zip(pairs, firsts, strict=True):
        second = await store.remember(
            ada, NewMemory(content=pair["second"], entity=pair["second_entity"], space="infra")
        )
        for label, near in (("duplicate", second.similar), ("contradiction", second.contradicts)):
            told[label] += len(near)
            found[label] += label == pair["label"] and first.id in {other.id for other in near}

    assert len(pairs) >= 80
    precision = {label: found[label] / told[label] for label in told}
    recall = {label: found[label] / labels[label] for label in told}
    assert precision["duplicate"] >= 0.91
    assert precision["contradiction"] >= 0.96
    assert recall["duplicate"] >= 0.91
    assert recall["contradiction"] >= 0.87


async def test_a_contradiction_is_told_with_its_reason_and_nothing_is_dropped(remember, pool):
    old = await remember("prod runs PostgreSQL 16", space="infra", entity="prod")

    new = await remember("prod runs PostgreSQL 18", space="infra", entity="prod")

    assert [near.model_dump(exclude={"overlap", "distance"}) for near in new.contradicts] == [
        {"id": old.id, "content": "prod runs PostgreSQL 16", "why": "same entity, other value"}
    ]
    assert new.similar == []
    assert await pool.fetchval("select count(*) from memory.memories") == 2


async def test_a_contradiction_is_found_under_another_name_of_the_entity(remember, call):
    await call("select memory.alias('Kubernetes', 'k8s', 'infra')")
    old = await remember("The cluster runs version 1.29", space="infra", entity="k8s")

    new = await remember("The cluster runs version 1.31", space="infra", entity="Kubernetes")

    assert [near.id for near in new.contradicts] == [old.id]


async def test_the_same_key_in_other_hands_contradicts(remember, call, add_agent, store):
    mine = await remember("listens on 22", space="infra", key="port", visibility="private")
    shared = await remember("listens on 2222", space="infra", key="port")

    assert [(near.id, near.why) for near in shared.contradicts] == [
        (mine.id, "same key, other value")
    ]


async def test_what_held_at_another_time_and_what_happened_again_contradict_nothing(remember):
    await remember(
        "prod runs PostgreSQL 16", space="infra", entity="prod", valid_until="2026-01-01T00:00:00Z"
    )
    after = await remember(
        "prod runs PostgreSQL 18", space="infra", entity="prod", valid_from="2026-01-01T00:00:00Z"
    )
    await remember("Deploy 7 of shop went well", space="infra", entity="shop", kind="episodic")
    again = await remember(
        "Deploy 8 of shop went well", space="infra", entity="shop", kind="episodic"
    )

    assert (after.contradicts, again.contradicts) == ([], [])


async def test_nothing_is_told_of_what_the_caller_may_not_see(store, ada, add_agent, call):
    bob = await add_agent("bob", spaces=["infra"])
    text = "The alarm code of the warehouse in Tula is"
    hidden = await store.remember(
        ada,
        NewMemory(
            content=f"{text} 4711",
            space="infra",
            entity="alarm",
            key="alarm",
            visibility="private",
        ),
    )

    for content in (f"{text} 4712", f"{text} 4711"):
        told = await store.remember(bob, NewMemory(content=content, space="infra", entity="alarm"))
        assert (told.duplicate_of, hidden.id in {near.id for near in told.similar}) == (None, False)
        assert hidden.id not in {near.id for near in told.contradicts}
    for function in ("similar", "contradictions"):
        with pytest.raises(asyncpg.PostgresError, match="no memory"):
            await call(f"select memory.{function}($1)", hidden.id, agent=bob)
    assert await call("select * from memory.resemblances($1)", [hidden.id], agent=bob) == []


async def test_resemblances_stay_in_the_space(store, ada, remember):
    await remember("prod runs PostgreSQL 16", space="infra", entity="prod")
    own = await remember("prod runs PostgreSQL 18", entity="prod")

    assert (own.similar, own.contradicts) == ([], [])


async def test_likeness_in_meaning_is_told_once_there_are_vectors(remember, embed, call):
    first = await remember("alpha beta gamma delta", space="infra", title="one")
    second = await remember("alpha beta gamma delta epsilon", space="infra")
    await embed()

    rows = await call("select * from memory.similar($1)", first.id)

    assert [row["id"] for row in rows] == [second.id]
    assert rows[0]["distance"] is not None
    assert 0.5 < rows[0]["overlap"] <= 1


@pytest.mark.parametrize(("distance", "told"), [(0, True), (0.0345, True), (0.0355, False)])
async def test_the_same_meaning_in_other_words_is_told_up_to_the_cutoff(
    distance, told, remember, call, pool
):
    first = await remember("Anna avoids meat", space="infra")
    second = await remember("a vegetarian lives upstairs", space="infra")
    await pool.execute("select pgrecall.use_embedding_model('fixed', 4)")
    near = 1 - distance
    for memory, vector in ((first, (1, 0)), (second, (near, math.sqrt(1 - near**2)))):
        await pool.execute(
            "insert into pgrecall.embeddings"
            " (space, id, version, model, chunk, head, readers, embedding)"
            " select space, id, version, 'fixed', 0, true, readers, $2::text::public.halfvec"
            " from pgrecall.memories where id = $1",
            memory.id,
            f"[{vector[0]:.6f},{vector[1]:.6f},0,0]",
        )

    rows = await call("select * from memory.similar($1)", first.id)

    assert [row["id"] for row in rows] == ([second.id] if told else [])
    if told:
        assert rows[0]["why"] == "nearly the same meaning"
        assert rows[0]["distance"] == pytest.approx(distance, abs=4e-4)


@pytest.mark.parametrize("content", ["的", "!!!", "the", "x" * 99_000, "1 2 3", "don't 'quote' \\"])
async def test_odd_texts_are_compared_without_harm(remember, content):
    for extra in ("", "."):
        written = await remember(content + extra, space="infra", entity=content[:100])
        assert written.version == 1


@pytest.mark.parametrize("k", [0, -1, 101, None])
@pytest.mark.parametrize("function", ["similar", "contradictions"])
async def test_k_out_of_range_is_refused(function, k, remember, call):
    made = await remember("x")

    with pytest.raises(asyncpg.DataError, match="k must be between 1 and 100"):
        await call(f"select memory.{function}($1, $2)", made.id, k)


@pytest.mark.parametrize("identity", [None, uuid4()])
@pytest.mark.parametrize("function", ["similar", "contradictions"])
async def test_an_unknown_memory_is_refused(function, identity, call):
    with pytest.raises(asyncpg.PostgresError, match="no memory"):
        await call(f"select memory.{function}($1)", identity)


async def test_of_a_long_batch_only_repeats_are_told(store, ada):
    texts = [f"The port of service number {number} is 80" for number in range(COMPARED_AT_ONCE + 1)]
    many = [NewMemory(content=text, space="infra") for text in [*texts, texts[0]]]

    written = await store.remember_many(ada, many)

    assert written[-1].duplicate_of == written[0].id
    assert all(memory.similar == memory.contradicts == [] for memory in written)


async def test_eight_writers_of_the_same_words_leave_one_memory(store, ada, call, pool):
    async def by_sql():
        return (await call("select memory.remember('said by all', space => 'infra') as id"))[0][
            "id"
        ]

    async def by_store():
        memory = NewMemory(content="said by all", space="infra")
        return (await store.remember(ada, memory)).id

    ids = await asyncio.gather(*(write() for write in [by_sql, by_store] * 4))

    assert len(set(ids)) == 1
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 1
