"""What a write leaves: one row for a repeat, a version for a refinement, an event for each."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sql.errors import Forbidden, InvalidInput
from sql.records import NewMemory


async def test_a_memory_left_without_a_space_stands_in_the_agents_own(remember):
    memory = await remember("Bastion listens on 49222")

    assert (memory.space, memory.agent, memory.visibility) == ("~ada", "ada", "private")
    assert (memory.version, memory.kind, memory.duplicate_of) == (1, "semantic", None)


async def test_a_memory_in_a_project_is_shared_with_its_members(remember):
    assert (await remember("Deploys run at noon", space="infra")).visibility == "shared"


async def test_the_first_writer_of_a_new_space_makes_it(remember, pool):
    await remember("Kick-off is on Monday", space="apollo")

    row = await pool.fetchrow("select role from pgrecall.members where space = 'apollo'")
    assert row["role"] == "admin"


async def test_another_agents_own_space_takes_no_writes(remember, add_agent):
    await add_agent("bob")

    with pytest.raises(Forbidden, match="~bob"):
        await remember("I was here", space="~bob")


async def test_a_stranger_to_a_space_may_not_write_into_it(store, remember, add_agent):
    await remember("Deploys run at noon", space="infra")
    bob = await add_agent("bob")

    with pytest.raises(Forbidden, match='may not write into space "infra"'):
        await store.remember(bob, NewMemory(content="They run at midnight", space="infra"))


async def test_a_reading_agent_may_not_write(store, add_agent):
    reader = await add_agent("eve", reader=True, spaces=["infra"])

    with pytest.raises(Forbidden):
        await store.remember(reader, NewMemory(content="hello", space="infra"))


async def test_the_same_words_said_twice_are_one_memory(remember, pool):
    first = await remember("The cache key holds the tenant")
    second = await remember("The cache key holds the tenant")

    assert second.id == first.id
    assert second.duplicate_of == first.id
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 1


async def test_the_same_words_said_by_many_at_once_are_one_memory(remember, pool):
    written = await asyncio.gather(*(remember("Said by five at once") for _ in range(5)))

    assert len({memory.id for memory in written}) == 1
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 1


async def test_the_same_words_of_another_subject_are_another_memory(remember):
    one = await remember("prefers tea", entity="Ann")
    other = await remember("prefers tea", entity="Ben")

    assert one.id != other.id


async def test_an_expired_memory_is_no_duplicate_of_its_words_said_again(remember, pool, recall):
    first = await remember("Standup is at ten", ttl=timedelta(hours=1))
    await pool.execute("update pgrecall.memories set expires_at = now() - interval '1 minute'")

    second = await remember("Standup is at ten")

    assert second.id != first.id
    assert second.duplicate_of is None
    assert [result.id for result in (await recall("when is standup")).results] == [second.id]


async def test_a_key_said_again_refines_and_keeps_what_it_does_not_name(remember):
    first = await remember(
        "Bastion listens on 22",
        key="bastion.port",
        pinned=True,
        tags=["ssh"],
        importance=0.9,
        kind="procedural",
        metadata={"seen": 1},
    )

    second = await remember("Bastion listens on 49222", key="bastion.port", metadata={"by": "ada"})

    assert (second.id, second.version) == (first.id, 2)
    assert (second.pinned, second.tags, second.importance) == (True, ["ssh"], 0.9)
    assert (second.kind, second.metadata) == ("procedural", {"seen": 1, "by": "ada"})


async def test_a_key_said_again_without_a_change_makes_no_version(remember):
    await remember("Bastion listens on 22", key="bastion.port")
    again = await remember("Bastion listens on 22", key="bastion.port")

    assert (again.version, again.duplicate_of) == (1, again.id)


async def test_a_key_refined_by_many_at_once_keeps_one_head(remember, pool):
    await remember("round 0", key="counter")
    written = await asyncio.gather(
        *(remember(f"round {number}", key="counter") for number in range(1, 6))
    )

    assert len({memory.id for memory in written}) == 1
    heads = await pool.fetch("select version from pgrecall.memories where superseded_at is null")
    assert [row["version"] for row in heads] == [6]


async def test_every_write_appends_to_its_own_chain(remember, pool):
    await remember("one", space="infra")
    await remember("two", space="infra")
    await remember("mine")

    rows = await pool.fetch(
        "select e.space, e.sequence, e.hash = pgrecall.event_hash(e.previous_hash, e.space,"
        " e.agent, e.sequence, e.at, e.action, e.id, e.version, e.payload, e.commitment) as holds,"
        " e.previous_hash = coalesce(lag(e.hash) over (partition by e.space order by e.sequence),"
        " sha256('')) as linked from pgrecall.events e order by e.space, e.sequence"
    )
    assert all(row["holds"] and row["linked"] for row in rows)
    assert [row["sequence"] for row in rows if row["space"] == "infra"] == [1, 2, 3, 4]


async def test_a_batch_is_stored_in_order_and_all_or_nothing(store, ada, pool):
    drafts = [NewMemory(content=f"note {number}") for number in range(20)]

    written = await store.remember_many(ada, drafts)

    assert [memory.content for memory in written] == [draft.content for draft in drafts]
    with pytest.raises(Forbidden):
        await store.remember_many(
            ada, [NewMemory(content="good"), NewMemory(content="bad", space="~bob")]
        )
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 20


async def test_times_come_back_as_they_were_given(remember):
    moment = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)

    memory = await remember("x marks", event_at=moment, valid_from=moment, ttl=timedelta(days=2))

    assert (memory.event_at, memory.valid_from) == (moment, moment)
    assert memory.expires_at == memory.created_at + timedelta(days=2)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("'  '", "content must not be blank"),
        ("''", "content must not be blank"),
        ("null", "content must not be blank"),
        ("repeat('x', 100001)", "content must be at most 100000 characters, not 100001"),
        ("'x', kind => 'opinion'", "kind must be episodic, .*, not 'opinion'"),
        ("'x', importance => 1.5", "importance must be between 0 and 1, not 1.5"),
        ("'x', importance => 'NaN'", "importance must be between 0 and 1, not NaN"),
        ("'x', visibility => 'secret'", "visibility must be private, shared or public"),
        ("'x', ttl => '-1 day'", "ttl must be positive"),
        ("'x', space => ' '", "space must be 1 to 200 characters"),
        ("'x', key => ''", "key must be 1 to 200 characters"),
        ("'x', metadata => '[1]'", "metadata must be a JSON object"),
        ("'x', tags => array[null]", "a tag must not be null"),
        (
            "'x', valid_from => '2026-02-01', valid_until => '2026-01-01'",
            "valid_until must be after",
        ),
    ],
)
async def test_what_cant_be_stored_is_refused_by_name(pool, ada, arguments, complaint):
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        with pytest.raises(Exception, match=complaint) as refused:
            await connection.execute(f"select memory.remember({arguments})")
    assert refused.value.sqlstate == "22023"


async def test_a_text_of_the_largest_size_can_be_stored_and_found(remember, recall):
    await remember("needle " + "漢字" * 40_000)
    await remember("hay " + " ".join(f"word{number}" for number in range(9_000)))

    assert len((await recall("needle", mode="lexical")).results) == 1
    assert len((await recall("word8999", mode="lexical")).results) == 1


async def test_a_session_that_is_no_agent_is_refused_in_clear_words(pool):
    with pytest.raises(Exception, match="this session is no agent of pgrecall"):
        await pool.execute("select memory.remember('x')")


async def test_an_argument_that_remember_does_not_know_is_named(pool, ada):
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        with pytest.raises(Exception, match='no argument "colour"'):
            await connection.execute(
                """select memory.remember_many('[{"content":"x","colour":1}]')"""
            )


async def test_input_models_refuse_what_postgres_cant_hold():
    for text in ("a\x00b", "a\ud800b"):
        with pytest.raises(ValueError, match="can't be stored"):
            NewMemory(content=text)
        with pytest.raises(ValueError, match="can't be stored"):
            NewMemory(content="x", metadata={"deep": [{"er": text}]})


async def test_a_refused_write_leaves_its_sqlstate(store, ada):
    with pytest.raises(InvalidInput) as refused:
        await store.remember(ada, NewMemory.model_construct(content=" ", tags=[], metadata={}))
    assert refused.value.sqlstate == "22023"
