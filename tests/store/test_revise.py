"""A revision is a new version: what it does not name stays; who may make one, and of what."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest

from sql.errors import Conflict, Forbidden, InvalidInput, NotFound
from sql.revisions import Revision, history, revise
from tests.store.conftest import contents

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


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
