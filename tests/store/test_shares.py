"""Shares of single memories: who may give them, what they allow, and how they end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from sql import agents
from sql.maintenance import maintain
from sql.records import NewMemory, RecallQuery
from tests.store.conftest import contents

Call = Callable[..., Awaitable[Any]]

SHARE = "select memory.share($1, $2, $3)"
UNSHARE = "select memory.unshare($1, $2)"
# Two memories in the same words have the same vector, and the legs find both.
LEGS = ("lexical", "vector", "hybrid", "exact")


@pytest.fixture
async def crew(add_agent, ada) -> dict[str, agents.Agent]:
    """Ada, who administers infra; bob, who writes there; cleo and dan, who are strangers."""
    others = {name: await add_agent(name) for name in ("cleo", "dan")}
    return {"ada": ada, "bob": await add_agent("bob", spaces=["infra"]), **others}


@pytest.fixture
def sees(store, call, embed, crew) -> Call:
    """`await sees("cleo", memory)`: whether by every road; the roads must agree."""

    async def run(name: str, memory: Any) -> bool:
        await embed()
        who = crew[name]
        found = {
            mode: memory.content
            in contents(await store.recall(who, RecallQuery(query=memory.content, mode=mode)))
            for mode in LEGS
        }
        for view in ("memories", "memory_versions", f"history('{memory.id}')"):
            rows = await call(f"select id from memory.{view}", agent=who)
            found[view] = memory.id in {row["id"] for row in rows}
        assert len(set(found.values())) == 1, found
        return found["exact"]

    return run


@pytest.fixture
def change(call, crew) -> Call:
    async def run(name: str, memory: Any) -> None:
        await call("select memory.forget($1)", memory.id, agent=crew[name])

    return run


async def test_a_private_memory_that_is_shared_is_read_like_ones_own_until_it_is_unshared(
    remember, call, sees
):
    memory = await remember("the alarm code is 4711")
    assert not await sees("cleo", memory)

    await call(SHARE, memory.id, "cleo", "read")
    assert await sees("cleo", memory)
    assert not await sees("dan", memory)

    await call(UNSHARE, memory.id, "cleo")
    assert not await sees("cleo", memory)


async def test_each_permission_allows_what_the_ones_before_it_do_and_no_more(
    remember, call, crew, change, sees
):
    memory = await remember("shared step by step")
    for permission, refused in (("read", True), ("write", False), ("share", False)):
        await call(SHARE, memory.id, "cleo", permission)
        if refused:
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not change"):
                await change("cleo", memory)
        if permission == "share":
            await call(SHARE, memory.id, "dan", "read", agent=crew["cleo"])
        else:
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not share"):
                await call(SHARE, memory.id, "dan", "read", agent=crew["cleo"])
    assert await sees("dan", memory)
    await change("cleo", memory)


async def test_new_versions_keep_the_share_and_older_ones_have_it_too(remember, call, crew):
    memory = await remember("port 22", key="port")
    await remember("port 2222", key="port")
    await call(SHARE, memory.id, "cleo", "read")
    await remember("port 49222", key="port")

    rows = await call("select content from memory.history($1)", memory.id, agent=crew["cleo"])
    assert [row["content"] for row in rows] == ["port 22", "port 2222", "port 49222"]


async def test_what_a_sharee_passed_on_ends_with_its_own_share(remember, call, crew, sees):
    memory = await remember("passed from hand to hand")
    await call(SHARE, memory.id, "bob", "share")
    await call(SHARE, memory.id, "cleo", "share", agent=crew["bob"])
    await call(SHARE, memory.id, "dan", "read", agent=crew["cleo"])
    assert await sees("dan", memory)

    await call(UNSHARE, memory.id, "bob")
    for name in ("bob", "cleo", "dan"):
        assert not await sees(name, memory)


async def test_a_share_that_is_lowered_ends_what_was_passed_on(remember, call, crew, sees):
    memory = await remember("passed on no more")
    await call(SHARE, memory.id, "bob", "share")
    await call(SHARE, memory.id, "cleo", "write", agent=crew["bob"])

    await call(SHARE, memory.id, "bob", "write")
    assert await sees("bob", memory)
    assert not await sees("cleo", memory)


async def test_nobody_shares_for_longer_than_he_holds(remember, call, crew, pool):
    memory = await remember("for a day")
    until = await pool.fetchval("select now() + interval '1 day'")
    timed = "select memory.share($1, $2, 'share', $3)"
    await call(timed, memory.id, "bob", until)
    await call(timed, memory.id, "cleo", None, agent=crew["bob"])
    rows = await call("select agent, expires_at from memory.shares")
    assert {row["agent"]: row["expires_at"] for row in rows} == {"bob": until, "cleo": until}

    sooner = await pool.fetchval("select now() + interval '1 hour'")
    await call(timed, memory.id, "bob", sooner)
    rows = await call("select agent, expires_at from memory.shares")
    assert {row["agent"]: row["expires_at"] for row in rows} == {"bob": sooner, "cleo": sooner}


async def test_an_expired_share_is_dead_at_once_even_within_a_transaction(
    remember, call, crew, sees, pool, ada
):
    memory = await remember("gone by now")
    await call("select memory.share($1, 'cleo', 'write', now() + interval '1 day')", memory.id)
    assert await sees("cleo", memory)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("select set_config('pgrecall.agent', 'cleo', true)")
        see = "select count(*) from memory.recall('gone by now')"
        await connection.execute("update pgrecall.memory_shares set expires_at = clock_timestamp()")
        assert await connection.fetchval(see) == 0

    assert not await sees("cleo", memory)
    assert await call("select * from memory.shares") == []
    with pytest.raises(asyncpg.NoDataFoundError):
        await call(UNSHARE, memory.id, "cleo")
    await call(SHARE, memory.id, "cleo", "read")
    assert await sees("cleo", memory)


async def test_only_from_above_or_by_its_granter_is_a_share_changed(remember, call, crew, sees):
    memory = await remember("whose share is it")
    for name in ("bob", "cleo"):
        await call(SHARE, memory.id, name, "share")
    await call(SHARE, memory.id, "dan", "read", agent=crew["bob"])

    with pytest.raises(asyncpg.InsufficientPrivilegeError) as refused:
        await call(SHARE, memory.id, "dan", "write", agent=crew["cleo"])
    assert refused.value.detail == 'It is shared with agent "dan" already, by another.'
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call(SHARE, memory.id, "bob", "read", agent=crew["cleo"])
    await call(SHARE, memory.id, "dan", "write", agent=crew["bob"])
    await call(SHARE, memory.id, "dan", "read")
    await call(UNSHARE, memory.id, "bob")
    assert await sees("dan", memory)  # it hangs below nobody any more


async def test_a_spaces_admin_shares_what_is_not_private_and_its_writers_do_not(
    store, call, crew, sees, add_agent
):
    shared = await store.remember(crew["bob"], NewMemory(content="of the crew", space="infra"))
    private = await store.remember(
        crew["bob"], NewMemory(content="of bob", space="infra", visibility="private")
    )
    await add_agent("fay", spaces=["infra"])
    fay = await agents.find_agent(store._pool, "fay")

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call(SHARE, shared.id, "cleo", "read", agent=fay)
    await call(SHARE, shared.id, "cleo", "read")
    with pytest.raises(asyncpg.NoDataFoundError):
        await call(SHARE, private.id, "cleo", "read")
    assert await sees("cleo", shared)
    await call(SHARE, private.id, "cleo", "read", agent=crew["bob"])
    with pytest.raises(asyncpg.NoDataFoundError):
        await call(UNSHARE, private.id, "cleo")


async def test_who_granted_it_who_owns_it_and_who_has_it_end_a_share(remember, call, crew):
    memory = await remember("ended by three")
    await call(SHARE, memory.id, "bob", "share")
    for ender in ("ada", "bob", "cleo"):
        await call(SHARE, memory.id, "cleo", "read", agent=crew["bob"])
        with pytest.raises(asyncpg.NoDataFoundError):
            await call(UNSHARE, memory.id, "cleo", agent=crew["dan"])
        await call(UNSHARE, memory.id, "cleo", agent=crew[ender])


async def test_the_view_shows_what_is_shared_by_me_to_me_and_of_mine(remember, call, crew):
    memory = await remember("seen in the view")
    await call(SHARE, memory.id, "bob", "share")
    await call(SHARE, memory.id, "cleo", "read", agent=crew["bob"])

    shown = {}
    for name, who in crew.items():
        rows = await call("select agent from memory.shares order by agent", agent=who)
        shown[name] = [row["agent"] for row in rows]
    assert shown == {"ada": ["bob", "cleo"], "bob": ["bob", "cleo"], "cleo": ["cleo"], "dan": []}


@pytest.mark.parametrize("how", ["delete", "erase"])
async def test_what_is_deleted_or_erased_is_shared_no_more(remember, call, crew, pool, how):
    memory = await remember("forgotten for good", key="k")
    await call(SHARE, memory.id, "cleo", "share")
    await call("select memory.forget($1, $2)", memory.id, how)

    assert await pool.fetch("select from pgrecall.memory_shares") == []
    for who in ("ada", "cleo"):
        with pytest.raises(asyncpg.NoDataFoundError):
            await call(SHARE, memory.id, "dan", "read", agent=crew[who])


async def test_a_writing_sharee_changes_neither_who_sees_the_memory_nor_its_key(
    remember, call, crew
):
    memory = await remember("who sees me")
    await call(SHARE, memory.id, "cleo", "share")
    cleo = crew["cleo"]
    await call("select memory.revise($1, title => 'of cleo''s')", memory.id, agent=cleo)
    for change in ("visibility => 'public'", "key => 'bank.pin'"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="who sees memory"):
            await call(f"select memory.revise($1, {change})", memory.id, agent=cleo)


async def test_a_writing_sharee_does_not_learn_what_else_its_owner_remembers(remember, call, crew):
    memory = await remember("let in here")
    await remember("the pin is 4711")
    await call(SHARE, memory.id, "cleo", "write")
    for content in ("the pin is 4711", "the pin is 4712"):
        await call("select memory.revise($1, $2)", memory.id, content, agent=crew["cleo"])


async def test_what_was_made_private_stays_so_when_it_comes_back(remember, call, crew):
    memory = await remember("seen by all", space="infra", key="k")
    await call("select memory.revise($1, 'hidden', visibility => 'private')", memory.id)
    await call(SHARE, memory.id, "cleo", "read")
    await call("select memory.forget($1, 'delete')", memory.id)
    await call("select memory.restore($1)", memory.id)

    versions = "select version from memory.memory_versions order by 1"
    assert await call(versions, agent=crew["bob"]) == []
    assert await call(versions, agent=crew["cleo"]) == []
    assert [row["version"] for row in await call(versions)] == [1, 2]


async def test_a_share_waits_for_a_new_version_and_is_of_it(remember, call, crew, sees, database):
    memory = await remember("the first", key="k")
    writer = await asyncpg.connect(database.dsn)
    transaction = writer.transaction()
    await transaction.start()
    await writer.execute("select set_config('pgrecall.agent', 'ada', true)")
    await writer.execute("select memory.remember('the second', key => 'k')")
    sharing = asyncio.create_task(call(SHARE, memory.id, "cleo", "read"))
    blocked = "select count(*) from pg_locks where not granted"
    async with asyncio.timeout(20):
        while not await writer.fetchval(blocked):
            assert not sharing.done()
    await transaction.commit()
    await writer.close()
    await sharing

    rows = await call("select content from memory.memories", agent=crew["cleo"])
    assert [row["content"] for row in rows] == ["the second"]


async def test_a_removed_agents_shares_end_and_those_it_gave_as_owner_stay(
    remember, call, crew, sees, pool
):
    memory = await remember("of one who left")
    await call(SHARE, memory.id, "bob", "share")
    await call(SHARE, memory.id, "cleo", "read", agent=crew["bob"])
    await call(SHARE, memory.id, "dan", "read")

    await agents.remove(pool, "bob")
    assert not await sees("cleo", memory)
    assert await sees("dan", memory)
    await agents.remove(pool, "ada")
    assert await sees("dan", memory)


async def test_shares_are_told_in_the_log(remember, call, pool):
    memory = await remember("logged")
    for permission in ("read", "read", "write"):  # the same again changes nothing
        await call(SHARE, memory.id, "cleo", permission)
    await call(UNSHARE, memory.id, "cleo")

    rows = await pool.fetch(
        "select action, payload from pgrecall.events where id = $1 and action like '%share'"
        " order by sequence",
        memory.id,
    )
    assert [(row["action"], row["payload"]) for row in rows] == [
        ("share", {"agent": "cleo", "permission": "read"}),
        ("share", {"agent": "cleo", "permission": "write"}),
        ("unshare", {"agent": "cleo"}),
    ]


@pytest.fixture(autouse=True)
async def _everyone(crew):
    return crew


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (("cleo", "own", None), "permission must be read, write or share, not 'own'"),
        (("cleo", "", None), "not ''"),
        (("cleo", None, None), "not NULL"),
        ((None, "read", None), "agent must be named"),
        (("ada", "read", None), "can't grant itself"),
        (("cleo", "read", "-infinity"), "in the future"),
    ],
)
async def test_a_share_that_cant_be_is_refused_with_the_reason(remember, call, given, refusal):
    memory = await remember("x")
    agent, permission, expires_at = given
    with pytest.raises(asyncpg.InvalidParameterValueError, match=refusal):
        await call(
            "select memory.share($1, $2, $3, $4::text::timestamptz)",
            *(memory.id, agent, permission, expires_at),
        )


async def test_shares_need_a_memory_that_one_sees_and_an_agent_that_exists(
    remember, call, crew, add_agent
):
    memory = await remember("x")
    for wanted, agent in (
        (uuid4(), "cleo"),
        (None, "cleo"),
        (memory.id, "nobody"),
        (memory.id, ""),
    ):
        with pytest.raises(asyncpg.NoDataFoundError):
            await call(SHARE, wanted, agent, "read")
    with pytest.raises(asyncpg.NoDataFoundError, match=f"no memory {memory.id}"):
        await call(SHARE, memory.id, "dan", "read", agent=crew["cleo"])
    reader = await add_agent("rita", reader=True)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call(SHARE, memory.id, "dan", "read", agent=reader)
    await call(SHARE, memory.id, "rita", "share")
    rows = await call("select id from memory.memories", agent=reader)
    assert [row["id"] for row in rows] == [memory.id]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call("select memory.forget($1)", memory.id, agent=reader)


async def test_a_share_that_is_over_leaves_no_trace_on_the_rows(remember, call, pool, embed):
    memory = await remember("swept", key="k")
    await remember("swept twice", key="k")
    await embed()
    before = await pool.fetch("select readers from pgrecall.memories order by version")
    await call(SHARE, memory.id, "cleo", "read")
    await call(SHARE, memory.id, "dan", "read")
    await call(UNSHARE, memory.id, "dan")
    await maintain(pool)
    assert await pool.fetch("select readers from pgrecall.memories order by version") != before

    await call(UNSHARE, memory.id, "cleo")
    await maintain(pool)
    assert await pool.fetch("select readers from pgrecall.memories order by version") == before
    assert {
        tuple(row[0]) for row in await pool.fetch("select readers from pgrecall.embeddings")
    } == {tuple(before[0]["readers"])}
    assert await pool.fetch("select from pgrecall.row_tokens") == []


async def test_a_shared_turn_leans_on_no_turn_that_its_reader_does_not_see(
    remember, call, pool, embed
):
    async def vectors():
        return await pool.fetch(
            "select content, embedding::text from pgrecall.memories join pgrecall.embeddings"
            " using (space, id, version) order by 1"
        )

    turns = [await remember(f"turn {n}", thread="talk") for n in range(3)]
    await embed()
    together = await vectors()
    await call(SHARE, turns[1].id, "cleo", "read")
    own = await pool.fetch("select embedding = own as alone from pgrecall.embeddings"
                           " where id = $1", turns[1].id)  # fmt: skip
    assert [row["alone"] for row in own] == [True]

    await call(UNSHARE, turns[1].id, "cleo")
    await maintain(pool)
    assert await vectors() == together
