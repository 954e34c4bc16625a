"""A revision is a new version: what it does not name stays, and no writer loses another's."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import asyncpg
import pytest

from sql.errors import Conflict, Forbidden, InvalidInput, NotFound, Stale
from sql.records import NewMemory
from sql.revisions import Revision, history, revise
from tests.store.conftest import contents, until_somebody_waits

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def change(pool, ada):
    """`await change(memory, content="…")` as ada."""

    async def call(memory, expected=None, archived=None, **fields):
        made = Revision(**fields)
        return await revise(pool, ada, memory.id, made, expected=expected, archived=archived)

    return call


async def test_what_a_revision_does_not_name_stays_as_it_was(remember, change):
    first = await remember(
        "Bastion listens on 22",
        title="Bastion",
        entity="bastion",
        tags=["ssh"],
        kind="procedural",
        importance=0.5,
        confidence=0.8,
        pinned=True,
        key="bastion.port",
        thread="t",
        source="runbook.md",
        event_at=MARCH,
        valid_from=MARCH,
        valid_until=MARCH + timedelta(days=9000),
        ttl=timedelta(days=9000),
        metadata={"seen": {"by": "ada"}, "old": 1},
    )

    second = await change(first, content="Bastion listens on 49222")

    assert (second.id, second.version) == (first.id, 2)
    changed = {"content", "version", "created_at", "duplicate_of", "similar", "contradicts"}
    assert second.model_dump(exclude=changed) == first.model_dump(exclude=changed)


@pytest.mark.parametrize(
    ("named", "value"),
    [
        ("importance", 0.5),
        ("confidence", 0.8),
        ("kind", "semantic"),
        ("tags", []),
        ("pinned", False),
        ("title", "T"),
        ("entity", "e"),
        ("key", "k"),
        ("thread", "t"),
        ("source", "s"),
        ("event_at", MARCH),
        ("valid_from", MARCH),
        ("valid_until", MARCH + timedelta(days=9000)),
        ("visibility", "public"),
    ],
)
async def test_a_revision_sets_what_it_names_even_to_a_default(remember, change, named, value):
    first = await remember(
        "x", importance=0.9, confidence=0.1, kind="episodic", tags=["a"], pinned=True
    )

    second = await change(first, **{named: value})

    assert getattr(second, named) == value
    assert second.version == 2


@pytest.mark.parametrize(
    "field",
    ["title", "entity", "key", "thread", "source", "event_at", "valid_from", "valid_until"],
)
async def test_a_field_can_be_emptied(remember, change, field):
    first = await remember(
        "x",
        title="T",
        entity="e",
        key="k",
        thread="t",
        source="s",
        event_at=MARCH,
        valid_from=MARCH,
        valid_until=MARCH + timedelta(days=9000),
    )

    assert getattr(await change(first, clear=[field]), field) is None


async def test_an_expiry_stays_moves_or_goes(remember, change):
    first = await remember("x", ttl=timedelta(days=1))

    kept = await change(first, content="y")
    moved = await change(first, ttl=timedelta(days=30))
    gone = await change(first, clear=["ttl"])

    assert kept.expires_at == first.expires_at
    assert moved.expires_at - moved.created_at == pytest.approx(
        timedelta(days=30), abs=timedelta(minutes=1)
    )
    assert gone.expires_at is None


async def test_metadata_is_merged_and_null_takes_a_name_away(remember, change):
    first = await remember("x", metadata={"a": {"b": 1, "c": 2}, "d": [1], "e": 5})

    second = await change(first, metadata={"a": {"b": None, "f": 6}, "d": [2], "e": None})

    assert second.metadata == {"a": {"c": 2, "f": 6}, "d": [2]}
    assert (await change(first, clear=["metadata", "tags"])).metadata == {}


async def test_a_revision_without_a_change_makes_no_version_and_no_event(remember, change, pool):
    first = await remember("x", title="T", tags=["a"], importance=0.3, metadata={"a": 1})
    before = await pool.fetchval("select count(*) from pgrecall.events")

    again = await change(
        first, content="x", title="T", tags=["a"], importance=0.3, metadata={"a": 1, "b": None}
    )

    assert again.version == 1
    assert await pool.fetchval("select count(*) from pgrecall.events") == before


async def test_a_revision_of_the_labels_alone_keeps_its_vector(
    remember, change, recall, embed, pool
):
    first = await remember("Bastion listens on 22", thread="t")
    await remember("and so it has been", thread="t")
    await embed()

    await change(first, tags=["ssh"])

    rows = await pool.fetch(
        "select version, head, own::text as own from pgrecall.embeddings"
        " where id = $1 order by version",
        first.id,
    )
    assert [(row["version"], row["head"]) for row in rows] == [(1, False), (2, True)]
    assert rows[0]["own"] == rows[1]["own"]
    assert await pool.fetchval("select count(*) from pgrecall.embedding_queue") == 0
    assert (await recall("bastion", mode="vector", k=1)).results[0].version == 2


async def test_a_revised_text_is_found_by_its_new_words_and_its_new_vector(
    remember, change, recall, embed
):
    first = await remember("Bastion listens on 22")
    await change(first, content="Wombats dig burrows")
    await embed()

    assert contents(await recall("wombats", mode="lexical")) == ["Wombats dig burrows"]
    assert contents(await recall("wombats", mode="vector", k=1)) == ["Wombats dig burrows"]
    assert contents(await recall("bastion", mode="lexical")) == []


async def test_a_member_revises_anothers_memory_which_stays_its_owners(
    remember, add_agent, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    first = await remember("Deploys run at noon", space="infra")

    second = await revise(pool, bob, first.id, Revision(content="Deploys run at one"))

    assert (second.agent, second.written_by) == ("ada", "bob")
    versions = (await history(pool, ada, first.id)).versions
    assert [(v.version, v.agent, v.written_by) for v in versions] == [
        (1, "ada", "ada"),
        (2, "ada", "bob"),
    ]
    event = await pool.fetchrow(
        "select agent, version from pgrecall.events where action = 'revise'"
    )
    assert tuple(event) == ("bob", 2)


async def test_only_who_may_change_a_memory_revises_it(remember, add_agent, pool):
    eve = await add_agent("eve")
    rita = await add_agent("rita", spaces=["infra"], reader=True)
    private, public = await remember("mine"), await remember("for all", visibility="public")

    with pytest.raises(NotFound):
        await revise(pool, eve, private.id, Revision(content="hers"))
    with pytest.raises(Forbidden):
        await revise(pool, eve, public.id, Revision(content="hers"))
    with pytest.raises(Forbidden, match="only reads"):
        await revise(pool, rita, public.id, Revision(content="hers"))


async def test_a_memory_made_private_takes_its_earlier_versions_along(
    remember, change, add_agent, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    first = await remember("Deploys run at noon", space="infra")
    await change(first, content="Deploys run at one")

    await change(first, visibility="private")
    with pytest.raises(NotFound):
        await history(pool, bob, first.id)

    await change(first, visibility="public")
    assert [v.version for v in (await history(pool, bob, first.id)).versions] == [4]
    assert len((await history(pool, ada, first.id)).versions) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("content => ''", "content must not be blank"),
        ("content => null", None),
        ("kind => 'poem'", "kind must be episodic"),
        ("importance => 1.5", "importance must be between 0 and 1"),
        ("title => repeat('x', 501)", "title must be at most 500"),
        ("tags => array[null]", "a tag must not be null"),
        ("valid_until => '2020-01-01'", "valid_until must be after valid_from"),
        ("metadata => '[]'", "metadata must be a JSON object"),
        ('metadata => \'{"language": "klingon"}\'', "metadata.language must name a language"),
        ("ttl => '-1 day'", "ttl must be positive"),
        ("clear => '{content}'", "'content' can't be cleared"),
        ("clear => array[null]", "NULL can't be cleared"),
        ("title => 'x', clear => '{title}'", "can't be both given and cleared"),
        ("derived_from => array[null::uuid]", "derived_from must not hold null"),
    ],
)
async def test_bad_revisions_are_refused_and_change_nothing(
    remember, as_agent, pool, arguments, told
):
    memory = await remember("x", valid_from=MARCH)

    if told is None:
        async with as_agent("ada") as connection:
            assert await connection.fetchval(f"select revise($1, {arguments})", memory.id) == 1
    else:
        with pytest.raises(asyncpg.InvalidParameterValueError, match=told):
            async with as_agent("ada") as connection:
                await connection.execute(f"select revise($1, {arguments})", memory.id)
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 1


async def test_what_is_no_longer_there_cant_be_revised(remember, change, as_agent, pool):
    memory, gone, expired = await remember("x"), await remember("y"), await remember("z", key="z")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)
        await connection.execute("select forget($1, 'erase')", gone.id)
    await pool.execute(
        "update pgrecall.memories set expires_at = now() - interval '1 hour' where id = $1",
        expired.id,
    )

    with pytest.raises(InvalidInput, match="is archived"):
        await change(memory, content="again")
    with pytest.raises(InvalidInput, match="has expired"):
        await change(expired, content="again")
    with pytest.raises(NotFound):
        await change(gone, content="again")
    with pytest.raises(NotFound):
        await change(memory.model_copy(update={"id": uuid4()}), content="again")


async def test_a_revision_that_would_repeat_another_memory_is_refused(remember, change):
    await remember("the one", key="one")
    other = await remember("the other")

    with pytest.raises(Conflict, match="would repeat another"):
        await change(other, content="the one", key="one")


async def test_a_revision_of_a_version_that_is_not_the_newest_is_stale(remember, change):
    first = await remember("x")
    await change(first, expected=[1], content="y")

    with pytest.raises(Stale, match="is at version 2"):
        await change(first, expected=[1], content="z")


async def test_of_two_writers_on_one_head_one_wins_and_the_other_is_told(remember, as_agent, pool):
    memory = await remember("x")
    async with as_agent("ada") as winner:
        await winner.execute("select revise($1, 'first')", memory.id)

        async def second():
            async with as_agent("ada") as loser:
                await loser.execute("select revise($1, 'second')", memory.id)

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    with pytest.raises(asyncpg.SerializationError, match="is at version 2 now, not 1"):
        await waiting

    rows = await pool.fetch(
        "select version, content from pgrecall.memories where superseded_at is null"
    )
    assert [tuple(row) for row in rows] == [(2, "first")]


async def test_a_writer_that_waits_for_a_revision_still_forgets_the_memory(
    remember, as_agent, pool
):
    memory = await remember("x")
    async with as_agent("ada") as first:
        await first.execute("select revise($1, 'y')", memory.id)

        async def second():
            async with as_agent("ada") as connection:
                return await connection.fetchval("select forget($1, 'erase')", memory.id)

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    assert (await waiting).startswith("erased 2 versions")


async def test_many_revisions_at_once_leave_one_chain_and_lose_none(remember, as_agent, pool):
    memory = await remember("x")

    async def writer(number: int) -> int:
        done = 0
        for turn in range(5):
            try:
                async with as_agent("ada") as connection:
                    await connection.execute("select revise($1, $2)", memory.id, f"{number}.{turn}")
                done += 1
            except asyncpg.SerializationError:
                pass
        return done

    done = sum(await asyncio.gather(*(writer(number) for number in range(4))))

    rows = await pool.fetch(
        "select version, superseded_at is null as head, superseded_at, created_at"
        " from pgrecall.memories order by version"
    )
    assert [row["version"] for row in rows] == list(range(1, done + 2))
    assert [row["head"] for row in rows] == [False] * done + [True]
    for one, following in pairwise(rows):
        assert one["superseded_at"] == following["created_at"]


async def test_a_keyed_memory_refined_at_once_keeps_every_word_of_both(remember, as_agent, pool):
    memory = await remember("x", key="k")
    async with as_agent("ada") as first:
        await first.execute("select remember('y', key => 'k', title => 'T')")

        async def second():
            async with as_agent("ada") as connection:
                await connection.execute("select remember('z', key => 'k', entity => 'e')")

        waiting = asyncio.create_task(second())
        await until_somebody_waits(pool)
    await waiting

    row = await pool.fetchrow(
        "select id, version, content, title, entity from pgrecall.memories"
        " where superseded_at is null"
    )
    assert tuple(row) == (memory.id, 3, "z", "T", "e")


async def test_as_of_goes_by_the_time_of_writing_where_no_time_is_stated(remember, change, recall):
    first = await remember("Bastion listens on 22")
    second = await change(first, content="Bastion listens on 49222")
    before = first.created_at + (second.created_at - first.created_at) / 2

    assert contents(await recall("bastion", as_of=before)) == ["Bastion listens on 22"]
    assert contents(await recall("bastion", as_of=second.created_at)) == [
        "Bastion listens on 49222"
    ]
    assert contents(await recall("bastion", as_of=first.created_at - timedelta(days=1))) == []


async def test_as_of_goes_by_the_stated_time_and_the_later_version_wins(remember, change, recall):
    first = await remember("Bastion listens on 22", valid_from=MARCH)
    june, may = MARCH + timedelta(days=92), MARCH + timedelta(days=61)
    await change(first, content="Bastion listens on 49222", valid_from=june)

    async def on(day: datetime) -> list[str]:
        return contents(await recall("bastion", as_of=day))

    assert await on(MARCH - timedelta(days=1)) == []
    assert await on(june - timedelta(days=1)) == ["Bastion listens on 22"]
    assert await on(june) == ["Bastion listens on 49222"]

    # It was so since May already, as turns out: what was said of June gives way.
    await change(first, content="Bastion listens on 2222", valid_from=may)
    assert await on(may - timedelta(days=1)) == ["Bastion listens on 22"]
    assert await on(june) == ["Bastion listens on 2222"]

    # A correction holds for the same time.
    await change(first, content="Bastion listens on 2223")
    assert await on(june) == ["Bastion listens on 2223"]
    assert await on(may - timedelta(days=1)) == ["Bastion listens on 22"]


async def test_what_was_known_at_a_time_is_told_by_when_versions_stood(remember, change, as_agent):
    first = await remember("Bastion listens on 22", valid_from=MARCH)
    second = await change(first, content="Bastion listens on 49222")

    async with as_agent("ada") as connection:
        known = "select content from memory_versions where created_at <= $1 and (superseded_at > $1"
        known += " or superseded_at is null)"
        then = await connection.fetch(known, first.created_at)
        now = await connection.fetch(known, second.created_at)
    assert [row["content"] for row in then] == ["Bastion listens on 22"]
    assert [row["content"] for row in now] == ["Bastion listens on 49222"]


async def test_a_clock_that_jumps_back_ends_no_version_before_it_began(remember, change, pool):
    first = await remember("x")
    ahead = datetime.now(UTC) + timedelta(days=30)
    await pool.execute("update pgrecall.memories set created_at = $1", ahead)

    second = await change(first, content="y")

    row = await pool.fetchrow("select created_at, superseded_at from pgrecall.memories limit 1")
    assert row["created_at"] <= row["superseded_at"] == second.created_at


async def test_an_archived_memory_comes_back_as_it_was(remember, change, recall, embed, as_agent):
    memory = await remember("The old wiki has moved", thread="t")
    await embed()
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)

    back = await change(memory, expected=[1], archived=False)

    assert (back.version, back.content) == (1, "The old wiki has moved")
    assert contents(await recall("wiki", mode="lexical")) == ["The old wiki has moved"]
    assert contents(await recall("wiki", mode="vector")) == ["The old wiki has moved"]


async def test_an_expired_memory_comes_back_as_a_version_without_an_end(
    remember, change, recall, pool
):
    memory = await remember("The old wiki has moved", ttl=timedelta(hours=1))
    await pool.execute("update pgrecall.memories set expires_at = now() - interval '1 hour'")

    back = await change(memory, archived=False)

    assert (back.version, back.expires_at) == (2, None)
    assert contents(await recall("wiki")) == ["The old wiki has moved"]


async def test_a_deleted_memory_is_brought_back_by_the_spaces_admin_alone(
    store, remember, add_agent, as_agent, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    await remember("ada made this space", space="apollo")
    await pool.execute("select pgrecall.add_member('apollo', 'bob', 'writer')")
    memory = await store.remember(bob, NewMemory(content="Lift-off is in May", space="apollo"))
    async with as_agent("bob") as connection:
        await connection.execute("select forget($1, 'delete')", memory.id)

    with pytest.raises(NotFound):
        await revise(pool, bob, memory.id, Revision(), archived=False)
    back = await revise(pool, ada, memory.id, Revision(), archived=False)

    assert back.agent == "bob"
    assert (await store.get(bob, memory.id)).content == "Lift-off is in May"


async def test_a_memory_cant_come_back_beside_another_in_its_words(remember, change, as_agent):
    memory = await remember("The old wiki has moved")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)
    await remember("The old wiki has moved")

    with pytest.raises(Conflict, match="stands with the words or the key"):
        await change(memory, archived=False)
