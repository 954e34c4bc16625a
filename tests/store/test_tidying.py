"""Settling between memories, putting one in the place of many."""

from __future__ import annotations

import asyncio
import math

import asyncpg
import pytest

from sql.records import NewMemory


@pytest.fixture
def pair(remember):
    async def make(**second):
        old = await remember("prod runs PostgreSQL 16", space="infra", entity="prod")
        new = await remember("prod runs PostgreSQL 18", space="infra", entity="prod", **second)
        return old, new

    return make


async def test_newest_keeps_what_began_to_hold_last_and_archives_the_rest(pair, call):
    old, new = await pair()

    rows = await call("select * from memory.resolve($1)", [old.id, new.id])

    assert {row["id"]: row["outcome"] for row in rows} == {old.id: "archived", new.id: "kept"}
    standing = await call("select id from memory.memories")
    assert [row["id"] for row in standing] == [new.id]
    assert await call("select * from memory.contradictions($1)", new.id) == []
    await call("select memory.restore($1)", old.id)
    assert len(await call("select id from memory.memories")) == 2


async def test_newest_goes_by_when_it_began_to_hold(pair, call):
    old, new = await pair(valid_from="2020-01-01T00:00:00Z")

    rows = await call("select * from memory.resolve($1)", [old.id, new.id])

    assert {row["id"] for row in rows if row["outcome"] == "kept"} == {old.id}


async def test_evidence_keeps_what_a_user_said_over_what_a_model_guessed(remember, call):
    said = await remember(
        "the port is 22", space="infra", metadata={"source_type": "user"}, confidence=0.9
    )
    guessed = await remember(
        "the port is 23", space="infra", metadata={"source_type": "model"}, confidence=0.5
    )

    rows = await call("select * from memory.resolve($1, 'evidence')", [guessed.id, said.id])

    assert {row["id"]: row["outcome"] for row in rows} == {said.id: "kept", guessed.id: "archived"}


async def test_a_merge_says_the_new_text_in_the_place_of_all(pair, call):
    old, new = await pair()

    await call(
        "select * from memory.resolve($1, 'merge', 'prod went from PostgreSQL 16 to 18')",
        [old.id, new.id],
    )

    (row,) = await call("select * from memory.memories")
    assert (row["id"], row["version"]) == (new.id, 2)
    assert row["content"] == "prod went from PostgreSQL 16 to 18"
    assert row["derived_from"] == [old.id]


async def test_a_merge_without_a_text_keeps_what_holds_the_others_words(remember, call):
    more = await remember("The port is 22, since May.", space="infra")
    less = await remember("the port is 22", space="infra")
    other = await remember("the host is bastion", space="infra")

    await call("select * from memory.resolve($1, 'merge')", [more.id, less.id])

    assert {row["id"] for row in await call("select id from memory.memories")} == {
        more.id,
        other.id,
    }
    with pytest.raises(asyncpg.DataError, match="none of the memories says what all of them say"):
        await call("select * from memory.resolve($1, 'merge')", [more.id, other.id])


async def test_both_are_not_told_again_until_one_changes(pair, call, remember):
    old, new = await pair()
    await call("select * from memory.resolve($1, 'both')", [old.id, new.id])

    assert await call("select * from memory.contradictions($1)", new.id) == []
    await call("select memory.revise($1, content => 'prod runs PostgreSQL 17')", old.id)
    assert [r["id"] for r in await call("select * from memory.contradictions($1)", new.id)] == [
        old.id
    ]
    await call("select * from memory.resolve($1, 'both')", [old.id, new.id])
    assert await call("select * from memory.contradictions($1)", new.id) == []


async def test_only_what_one_may_change_is_settled(store, ada, pair, call, add_agent, remember):
    rita = await add_agent("rita", spaces=["infra"], reader=True)
    eve = await add_agent("eve")
    old, new = await pair()

    for agent, error in ((rita, "permission denied"), (eve, "no memory")):
        for statement in (
            "select * from memory.resolve($1)",
            "select memory.consolidate($1, 'x')",
        ):
            with pytest.raises(asyncpg.PostgresError, match=error):
                await call(statement, [old.id, new.id], agent=agent)
    assert len(await call("select id from memory.memories")) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("null", "name 2 to 100"),
        ("'{}'", "name 2 to 100"),
        ("array[gen_random_uuid()]", "name 2 to 100"),
        ("array[null, gen_random_uuid()]::uuid[]", "name 2 to 100"),
        ("array[gen_random_uuid(), gen_random_uuid()]", "no memory"),
        ("(select array_agg(id) from memory.memories), 'oldest'", "how must be"),
        ("(select array_agg(id) from memory.memories), null", "how must be"),
        ("(select array_agg(id) from memory.memories), 'newest', 'x'", "only a merge"),
        ("(select array_agg(id) from memory.memories), 'merge', ' '", "content must"),
    ],
)
async def test_what_can_not_be_settled_is_refused_and_changes_nothing(
    arguments, message, pair, call, pool
):
    await pair()
    before = await pool.fetchval("select count(*) from pgrecall.events")

    with pytest.raises(asyncpg.PostgresError, match=message):
        await call(f"select * from memory.resolve({arguments})")

    assert await pool.fetchval("select count(*) from pgrecall.events") == before


async def test_memories_of_two_spaces_or_archived_ones_are_not_settled(remember, call, pair):
    old, new = await pair()
    elsewhere = await remember("prod runs PostgreSQL 18")
    with pytest.raises(asyncpg.DataError, match="different spaces"):
        await call("select * from memory.resolve($1)", [old.id, elsewhere.id])
    await call("select memory.forget($1)", old.id)
    with pytest.raises(asyncpg.DataError, match="is archived"):
        await call("select * from memory.resolve($1)", [old.id, new.id])


async def test_of_two_who_settle_at_once_one_finds_it_done(pair, call):
    old, new = await pair()

    done = await asyncio.gather(
        *(
            call("select * from memory.resolve($1)", ids)
            for ids in ([old.id, new.id], [new.id, old.id])
        ),
        return_exceptions=True,
    )

    assert sorted(isinstance(one, asyncpg.DataError) for one in done) == [False, True]


async def test_clusters_offer_what_belongs_together_and_one_memory_takes_its_place(
    remember, call, pool
):
    notes = [
        await remember(
            f"Standup note: Grafana dashboard of checkout showed latency spike number {n}",
            space="infra",
            importance=0.2,
            tags=["standup", f"n{n}"],
            confidence=0.5 + n / 10,
        )
        for n in range(4)
    ]
    await remember("Grafana is paid by card", space="infra", importance=0.9)
    await remember("Bastion listens on port 22", space="infra")

    (cluster,) = await call("select * from memory.clusters('infra')")
    assert set(cluster["ids"]) == {note.id for note in notes}
    assert cluster["cluster"] == 1
    assert "grafana" in cluster["shared_words"]

    made = await call(
        "select memory.consolidate($1, 'Checkout had four latency spikes', title => 'Spikes')"
        " as id",
        cluster["ids"],
    )
    (row,) = await call("select * from memory.memories where id = $1", made[0]["id"])
    assert (row["version"], row["tags"]) == (1, ["n0", "n1", "n2", "n3", "standup"])
    assert set(row["derived_from"]) == {note.id for note in notes}
    assert row["confidence"] == pytest.approx(0.5)
    assert await call("select * from memory.clusters('infra')") == []
    links = await pool.fetch("select relation, target from pgrecall.links")
    assert {tuple(link) for link in links} == {("consolidated into", row["id"])}

    await call("select memory.restore($1)", notes[0].id)
    assert len(await call("select id from memory.memories where id = $1", notes[0].id)) == 1


@pytest.fixture
def point(pool):
    """`await point(memory, distance)`: the memory's vector, so far from the first of all."""

    async def put(memory, distance, model="fixed"):
        near = 1 - distance
        await pool.execute(
            "insert into pgrecall.embedding_models values ($1, 4, $2) on conflict do nothing",
            *(model, model == "fixed"),
        )
        await pool.execute(
            "insert into pgrecall.embeddings"
            " (space, id, version, model, chunk, head, readers, embedding)"
            " select space, id, version, $3, 0, true, readers, $2::text::public.halfvec"
            " from pgrecall.memories where id = $1",
            *(memory.id, f"[{3 * near:.6f},{3 * math.sqrt(1 - near**2):.6f},0,0]", model),
        )

    return put


SUBJECT = ("Kate plays in an orchestra", "a violinist lives upstairs", "rehearsal every Monday")


@pytest.mark.parametrize(("distance", "found"), [(0, True), (0.069, True), (0.071, False)])
async def test_clusters_join_what_is_near_in_meaning_and_shares_no_words(
    distance, found, remember, call, point
):
    notes = [await remember(text, space="infra", importance=0.2) for text in SUBJECT]
    far = await remember("Backups are encrypted", space="infra", importance=0.2)
    assert await call("select * from memory.clusters('infra')") == []

    for note, away in zip(notes, (0, distance, distance), strict=True):
        await point(note, away)
    await point(far, 0.5)

    clusters = await call("select * from memory.clusters('infra')")
    assert [set(row["ids"]) for row in clusters] == ([{note.id for note in notes}] if found else [])
    assert all(row["shared_words"] == [] for row in clusters)


async def test_by_meaning_too_only_what_the_same_readers_see_becomes_a_cluster(
    remember, call, point
):
    for text, about in zip(SUBJECT, ({}, {}, {"visibility": "private"}), strict=True):
        await point(await remember(text, space="infra", importance=0.2, **about), 0)
    important = await remember("The concert is sold out", space="infra", importance=0.9)
    await point(important, 0)

    assert await call("select * from memory.clusters('infra')") == []


async def test_vectors_of_a_model_that_does_not_serve_join_nothing(remember, call, point):
    first = await remember("unrelated", space="infra")
    await point(first, 0.5)
    for text in SUBJECT:
        await point(await remember(text, space="infra", importance=0.2), 0, "coming")

    assert await call("select * from memory.clusters('infra')") == []


async def test_private_memories_of_others_are_neither_offered_nor_consolidated(
    store, ada, add_agent, call
):
    bob = await add_agent("bob", spaces=["infra"])
    ids = [
        (
            await store.remember(
                bob,
                NewMemory(
                    content=f"Bob's private plan about the garden, part {n}",
                    space="infra",
                    visibility="private",
                ),
            )
        ).id
        for n in range(3)
    ]

    assert await call("select * from memory.clusters('infra')") == []
    assert len(await call("select * from memory.clusters('infra')", agent=bob)) == 1
    await call("select memory.share($1, 'ada', 'write')", ids[0], agent=bob)
    await call("select memory.share($1, 'ada', 'write')", ids[1], agent=bob)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="private memories"):
        await call("select memory.consolidate($1, 'x')", ids[:2])


@pytest.mark.parametrize(
    "arguments", ["null", "'infra', null", "'infra', 0.5, 1", "'infra', 0.5, 3, 0"]
)
async def test_a_search_for_clusters_out_of_range_is_refused(arguments, call):
    with pytest.raises(asyncpg.DataError, match="name a space"):
        await call(f"select * from memory.clusters({arguments})")
