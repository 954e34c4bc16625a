"""Erasing takes all that fits and is the caller's to take, and a preview tells the same."""

import asyncio
from uuid import uuid4

import asyncpg
import numpy as np
import pytest

from sql.errors import Unavailable
from sql.maintenance import maintain
from sql.records import NewMemory, RecallQuery
from sql.revisions import Revision, history, revise
from tests.store.conftest import contents, until_somebody_waits


@pytest.fixture
def erase(as_agent):
    """`await erase(tag="…", agent_of="ada")`: the report, by table."""

    async def call(as_who="ada", preview=False, **criteria):
        named = ", ".join(f"{name} => ${n}" for n, name in enumerate(criteria, start=2))
        async with as_agent(as_who) as connection:
            rows = await connection.fetch(
                f"select * from erase(preview => $1, {named})", preview, *criteria.values()
            )
        return {row["what"]: row["rows"] for row in rows if row["rows"]}

    return call


async def standing(pool) -> list[str]:
    rows = await pool.fetch(
        "select content from pgrecall.memories where superseded_at is null order by content"
    )
    return [row["content"] for row in rows]


async def test_a_preview_tells_what_an_erasure_takes_and_writes_nothing(
    remember, erase, embed, recall, call, pool, ada
):
    first = await remember("Anna lives in Oslo", key="anna", title="Anna")
    await remember("Anna lives in Bergen", key="anna")
    other = await remember("Oslo is a city")
    await call("select memory.link($1, $2, 'about')", other.id, first.id)
    await embed()
    await recall("where does anna live")
    await pool.execute("select pgrecall.collect_recalls()")
    before = await pool.fetchval("select count(*) from pgrecall.events")

    seen = await erase(key="anna", preview=True)

    assert seen == {
        "memories": 1,
        "versions": 2,
        "embeddings": 1,
        "links": 1,
        "usage": 1,
        "recall_log": 1,
    }
    assert await pool.fetchval("select count(*) from pgrecall.events") == before
    assert len(await standing(pool)) == 2
    assert await erase(key="anna") == seen
    assert await standing(pool) == ["Oslo is a city"]
    assert await erase(key="anna", preview=True) == {}


async def test_what_is_erased_is_chosen_by_every_criterion_together(remember, erase, pool):
    await remember("a", tags=["subject:42"], source="crm", space="infra")
    await remember("b", tags=["subject:42"], space="infra")
    await remember("c", tags=["subject:42"])
    await remember("d", source="crm")

    await erase(tag="subject:42", source="crm")
    assert await standing(pool) == ["b", "c", "d"]
    await erase(tag="subject:42", space="infra")
    assert await standing(pool) == ["c", "d"]
    await erase(source="crm")
    assert await standing(pool) == ["c"]
    await erase(agent="ada")
    assert await standing(pool) == []


async def test_an_erasure_without_a_criterion_is_refused(remember, erase, pool):
    await remember("a", space="infra")

    for criteria in ({"space": "infra"}, {"key": None}):
        with pytest.raises(asyncpg.InvalidParameterValueError, match="say what to erase"):
            await erase(**criteria)
    assert await erase(ids=[uuid4()]) == {}
    assert await erase(ids=[]) == {}
    assert len(await standing(pool)) == 1


async def test_a_tag_that_only_an_older_version_has_takes_the_memory(remember, erase, pool, ada):
    memory = await remember("Anna lives in Oslo", tags=["subject:42"])
    await revise(pool, ada, memory.id, Revision(content="She moved", tags=[]))

    assert (await erase(tag="subject:42"))["versions"] == 2


async def test_what_an_agent_wrote_goes_and_what_stood_before_stands_again(
    remember, erase, add_agent, recall, embed, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    memory = await remember("Deploys run at noon", space="infra", thread="t")
    await embed()
    await revise(pool, bob, memory.id, Revision(content="Deploys run at midnight"))
    await revise(pool, ada, memory.id, Revision(title="Deploys"))

    seen = await erase(agent="bob")

    assert (seen["versions"], seen.get("memories")) == (2, None)
    (left,) = (await history(pool, ada, memory.id)).versions
    assert (left.version, left.content, left.superseded_at) == (1, "Deploys run at noon", None)
    assert contents(await recall("deploys", mode="lexical")) == ["Deploys run at noon"]
    assert contents(await recall("deploys", mode="vector")) == ["Deploys run at noon"]
    # No number comes twice: who holds a version's would take another for it.
    assert (await revise(pool, ada, memory.id, Revision(title="T"))).version == 4


async def test_what_a_session_left_is_erased(remember, erase, as_agent, pool):
    await remember("before")
    async with as_agent("ada") as connection:
        session = await connection.fetchval("select start_session()")
        await connection.execute("select remember('within')")
        await connection.execute("select end_session()")

    assert (await erase(session=session))["memories"] == 1
    assert await standing(pool) == ["before"]


async def test_only_the_owner_an_admin_of_the_space_or_of_the_deployment_erases(
    remember, erase, store, add_agent, as_agent, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    await add_agent("carl", spaces=["infra"])
    await add_agent("root", admin=True)
    await pool.execute("update pgrecall.members set role = 'admin' where agent = 'carl'")
    shared = await store.remember(bob, NewMemory(content="shared", space="infra"))
    private = await store.remember(
        bob, NewMemory(content="private", space="infra", visibility="private")
    )
    await pool.execute(
        "update pgrecall.members set role = 'writer' where agent = 'ada' and space = 'infra'"
    )

    assert await erase(ids=[shared.id, private.id]) == {"kept": 1}
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not erase"):
        async with as_agent("ada") as connection:
            await connection.execute("select forget($1, 'erase')", shared.id)
    with pytest.raises(asyncpg.NoDataFoundError):
        async with as_agent("ada") as connection:
            await connection.execute("select forget($1, 'erase')", private.id)
    assert len(await standing(pool)) == 2

    assert (await erase("carl", agent="bob"))["memories"] == 1
    assert await standing(pool) == ["private"]
    assert (await erase("root", agent="bob"))["memories"] == 1


async def test_what_was_made_of_a_memory_goes_with_it(remember, erase, add_agent, store, pool):
    bob = await add_agent("bob", spaces=["infra"])
    origin = await remember("Anna lives in Oslo", space="infra")
    summary = await remember("Staff live abroad", derived_from=[origin.id], space="infra")
    await remember("Rent is paid by us", derived_from=[summary.id], space="infra")
    await store.remember(
        bob, NewMemory(content="Bob's view", derived_from=[origin.id], visibility="private")
    )

    assert (await erase(ids=[origin.id]))["memories"] == 3
    assert await standing(pool) == ["Bob's view"]


async def test_one_version_is_erased_and_the_others_close_ranks(
    remember, as_agent, recall, pool, ada
):
    memory = await remember("v1", title="port")
    for content in ("v2", "v3"):
        await revise(pool, ada, memory.id, Revision(content=content))
    _, second, third = (await history(pool, ada, memory.id)).versions

    async with as_agent("ada") as connection:
        said = await connection.fetchval("select forget_version($1, 2)", memory.id)

    assert said.startswith("erased 1 version")
    versions = (await history(pool, ada, memory.id)).versions
    assert [(v.version, v.superseded_at) for v in versions] == [(1, third.created_at), (3, None)]
    assert contents(await recall("port", as_of=second.created_at)) == ["v1"]

    async with as_agent("ada") as connection:
        await connection.execute("select forget_version($1, 3)", memory.id)
    versions = (await history(pool, ada, memory.id)).versions
    assert [(v.version, v.superseded_at) for v in versions] == [(1, None)]
    assert contents(await recall("port")) == ["v1"]

    async with as_agent("ada") as connection:
        with pytest.raises(asyncpg.NoDataFoundError, match="has no version 3"):
            await connection.execute("select forget_version($1, 3)", memory.id)
    async with as_agent("ada") as connection:
        await connection.execute("select forget_version($1, 1)", memory.id)
    assert await standing(pool) == []


async def test_a_version_that_cant_stand_again_is_left_archived(remember, as_agent, pool, ada):
    memory = await remember("the one")
    await revise(pool, ada, memory.id, Revision(content="the other"))
    await remember("the one")

    async with as_agent("ada") as connection:
        await connection.execute("select forget_version($1, 2)", memory.id)

    row = await pool.fetchrow(
        "select version, archived_at from pgrecall.memories where id = $1", memory.id
    )
    assert row["version"] == 1
    assert row["archived_at"] is not None


async def test_the_version_before_an_archived_one_stays_archived(
    remember, as_agent, recall, pool, ada
):
    memory = await remember("old wiki")
    await revise(pool, ada, memory.id, Revision(content="new wiki"))
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)
        await connection.execute("select forget_version($1, 2)", memory.id)

    assert (await recall("wiki")).results == []
    assert contents(await recall("wiki", include=["archived"])) == ["old wiki"]


async def test_neighbours_of_an_erased_turn_keep_nothing_of_its_vector(
    remember, as_agent, embed, embedder, pool, ada
):
    turns = [await remember(f"{word} {word}s", thread="t") for word in ("one", "two", "three")]
    await embed()
    # A past version and an archived turn were mixed with it once, and are nobody's neighbours now.
    await revise(pool, ada, turns[2].id, Revision(content="four fours"))
    await embed()
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", turns[0].id)
        await connection.execute("select forget($1, 'erase')", turns[1].id)

    rows = await pool.fetch(
        "select m.content, e.embedding::text as vector from pgrecall.embeddings e"
        " join pgrecall.memories m using (space, id, version) order by m.content"
    )
    assert [row["content"] for row in rows] == ["four fours", "one ones", "three threes"]
    for row in rows:
        own = (await embedder.embed_passages([row["content"]]))[0][0]
        vector = np.array(row["vector"].strip("[]").split(","), dtype=float)
        assert np.allclose(vector, own, atol=2e-3), row["content"]


async def test_what_was_deleted_is_erased_when_its_time_is_over(remember, as_agent, pool, ada):
    old, fresh = await remember("deleted long ago"), await remember("deleted just now")
    async with as_agent("ada") as connection:
        for memory in (old, fresh):
            await connection.execute("select forget($1, 'delete')", memory.id)
    await pool.execute(
        "update pgrecall.memories set deleted_at = deleted_at - interval '31 days' where id = $1",
        old.id,
    )

    await asyncio.gather(*(maintain(pool) for _ in range(3)))

    assert await standing(pool) == ["deleted just now"]
    event = await pool.fetchrow("select agent, id from pgrecall.events where action = 'erase'")
    assert tuple(event) == ("ada", old.id)


async def test_ones_own_deleted_memory_can_still_be_erased(store, add_agent, as_agent, pool, ada):
    bob = await add_agent("bob", spaces=["infra"])
    memory = await store.remember(bob, NewMemory(content="mine", space="infra"))

    async with as_agent("bob") as connection:
        await connection.execute("select forget($1, 'delete')", memory.id)
        await connection.execute("select forget($1, 'erase')", memory.id)

    assert await standing(pool) == []


async def test_a_recall_answered_while_its_memory_is_erased_leaves_no_line(
    remember, recall, as_agent, pool
):
    memory = await remember("zebras graze")
    await recall("zebras")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1, 'erase')", memory.id)
    # One line is collected only now, the other came to the log in the same moment.
    for table, columns in (("recall_spool", ""), ("recall_log", "id, ")):
        await pool.execute(
            f"insert into pgrecall.{table} ({columns}space, agent, query, mode, ids, lexical_hits,"
            f" vector_hits, took_ms, at{', results' if columns else ''}) values"
            f" ({'pgrecall.new_id(), ' if columns else ''}'~ada', 'ada', 'zebras', 'hybrid',"
            f" array[$1::uuid], 1, 0, 1, now(){', 1' if columns else ''})",
            memory.id,
        )
    await pool.execute("select pgrecall.collect_recalls()")
    await maintain(pool)

    assert await pool.fetchval("select count(*) from pgrecall.recall_log") == 0
    assert await pool.fetchval("select count(*) from pgrecall.recall_spool") == 0


async def test_two_who_erase_the_same_memory_do_it_once(remember, erase, pool):
    memory = await remember("x")

    reports = await asyncio.gather(*(erase(ids=[memory.id]) for _ in range(4)))

    assert sum(report.get("versions", 0) for report in reports) == 1
    assert await pool.fetchval("select count(*) from pgrecall.events where action = 'erase'") == 1


async def test_memories_made_of_each_other_are_erased_all_the_same(remember, erase, pool, ada):
    one = await remember("one")
    other = await remember("other", derived_from=[one.id])
    await revise(pool, ada, one.id, Revision(derived_from=[other.id, one.id]))

    assert (await erase(ids=[one.id]))["memories"] == 2
    assert await standing(pool) == []


async def test_maintenance_that_is_cut_short_leaves_all_as_it_was_and_is_made_up_for(
    remember, as_agent, database, pool
):
    memory = await remember("deleted long ago")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1, 'delete')", memory.id)
    await pool.execute("update pgrecall.memories set deleted_at = now() - interval '31 days'")
    before = await pool.fetch("select * from pgrecall.memories")

    async with pool.acquire() as blocker, blocker.transaction():
        await blocker.execute("select * from pgrecall.chain_heads for update")
        running = asyncio.create_task(maintain(pool))
        await until_somebody_waits(pool)
        await pool.fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where wait_event_type = 'Lock' and datname = current_database()"
        )
        with pytest.raises(Unavailable):
            await running
    assert await pool.fetch("select * from pgrecall.memories") == before

    await maintain(pool)
    assert await standing(pool) == []
    assert await pool.fetchval("select count(*) from pgrecall.events where action = 'erase'") == 1


async def test_a_preview_tells_nothing_of_what_others_ask(
    remember, store, add_agent, erase, pool, ada
):
    bob = await add_agent("bob")
    for asker in (bob, ada):
        await store.recall(asker, RecallQuery(query="is the merger on"))
    memory = await remember("is the merger on")

    seen = await erase(ids=[memory.id], preview=True)

    assert seen["recall_log"] == 1
    assert await erase(ids=[memory.id]) == seen
    assert [row["agent"] for row in await pool.fetch("select agent from pgrecall.recall_log")] == [
        "bob"
    ]
