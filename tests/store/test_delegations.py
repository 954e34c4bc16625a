"""Delegation: an owner lets another act on memories by space, kind and tag, and pass that on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from sql import agents
from sql.agents import Agent
from sql.maintenance import maintain
from sql.records import NewMemory, RecallQuery
from tests.store.conftest import contents

Call = Callable[..., Awaitable[Any]]
LEGS = ("lexical", "vector", "hybrid", "exact")


@pytest.fixture(autouse=True)
async def crew(add_agent, ada) -> dict[str, Agent]:
    """Ada, who administers infra, and three who have nothing to do with it."""
    return {"ada": ada, **{name: await add_agent(name) for name in ("bob", "cleo", "dan")}}


@pytest.fixture
def delegate(call, crew) -> Call:
    """`await delegate("ada", "bob", "read", space="infra", depth=1)`: the delegation's id."""

    async def run(who: str, agent: str, permission: str = "read", **scope: Any) -> Any:
        named = "".join(f", {name} => ${n}" for n, name in enumerate(scope, 3))
        statement = f"select memory.delegate($1, $2{named})"
        return (await call(statement, agent, permission, *scope.values(), agent=crew[who]))[0][0]

    return run


@pytest.fixture
def revoke(call, crew) -> Call:
    async def run(who: str, delegation: Any) -> None:
        await call("select memory.revoke_delegation($1)", delegation, agent=crew[who])

    return run


@pytest.fixture
def seen_by(store, call, embed, crew) -> Call:
    """`await seen_by("bob")`: the contents that each leg, each view and each list agree upon."""

    async def run(name: str) -> set[str]:
        await embed()
        who = crew[name]
        found = {}
        for mode in LEGS:
            query = RecallQuery(query="note", mode=mode, k=100)
            found[mode] = set(contents(await store.recall(who, query)))
        rows = await call("select content from memory.memories", agent=who)
        found["memories"] = {row["content"] for row in rows}
        rows = await call(
            "select v.content from memory.memories m, memory.history(m.id) v"
            " where v.superseded_at is null",
            agent=who,
        )
        found["history"] = {row["content"] for row in rows}
        assert all(seen == found["memories"] for seen in found.values()), found
        return found["memories"]

    return run


@pytest.fixture
async def notes(remember) -> dict[str, Any]:
    """Ada's: each private, by what is special of it."""
    return {
        "plain": await remember("note plain"),
        "kind": await remember("note kind", kind="procedural"),
        "tag": await remember("note tag", tags=["a", "b"]),
        "space": await remember("note space", space="infra", visibility="private"),
    }


ALL = {"note plain", "note kind", "note tag", "note space"}


async def test_a_delegation_without_a_scope_lets_read_all_that_its_owner_has_and_will_have(
    notes, delegate, revoke, seen_by, remember
):
    assert await seen_by("bob") == set()
    delegation = await delegate("ada", "bob")
    assert await seen_by("bob") == ALL
    await remember("note later")
    assert await seen_by("bob") == ALL | {"note later"}
    assert await seen_by("cleo") == set()

    await revoke("ada", delegation)
    assert await seen_by("bob") == set()


@pytest.mark.parametrize(
    ("scope", "taken"),
    [
        ({"space": "infra"}, {"note space"}),
        ({"space": "~ada"}, ALL - {"note space"}),
        ({"kinds": ["procedural", "identity"]}, {"note kind"}),
        ({"tags": ["a"]}, {"note tag"}),
        ({"tags": ["b", "a"]}, {"note tag"}),
        ({"tags": ["a", "c"]}, set()),
        ({"tags": []}, ALL),
        ({"space": "~ada", "kinds": ["semantic"], "tags": ["b"]}, {"note tag"}),
    ],
)
async def test_a_scope_takes_what_is_in_all_of_it(notes, delegate, seen_by, scope, taken, remember):
    await delegate("ada", "bob", **scope)
    assert await seen_by("bob") == taken

    await remember("note tag, later", kind="procedural", tags=["c", "a", "b"], space="infra")
    later = {"note tag, later"} if scope.get("space") != "~ada" else set()
    assert await seen_by("bob") == taken | later


async def test_a_batch_and_a_refinement_are_taken_or_left_as_their_new_version_says(
    store, ada, delegate, seen_by, call, crew
):
    await delegate("ada", "bob", tags=["open"])
    await store.remember_many(
        ada,
        [
            NewMemory(content="note one", tags=["open"], key="k"),
            NewMemory(content="note two", tags=["open"]),
            NewMemory(content="note three"),
        ],
    )
    assert await seen_by("bob") == {"note one", "note two"}

    await store.remember(ada, NewMemory(content="note once", tags=["shut"], key="k"))
    assert await seen_by("bob") == {"note two"}
    assert len(await call("select from memory.memory_versions", agent=crew["bob"])) == 1
    await store.remember(ada, NewMemory(content="note again", tags=["open"], key="k"))
    assert await seen_by("bob") == {"note again", "note two"}
    assert len(await call("select from memory.memory_versions", agent=crew["bob"])) == 4


async def test_a_permission_allows_what_the_ones_before_it_do_and_no_more(
    notes, delegate, call, crew
):
    bob = crew["bob"]
    forget, share = "select memory.forget($1)", "select memory.share($1, 'cleo')"
    await delegate("ada", "bob", "read")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not change"):
        await call(forget, notes["plain"].id, agent=bob)
    await delegate("ada", "bob", "write", kinds=["procedural"])
    await call(forget, notes["kind"].id, agent=bob)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not change"):
        await call(forget, notes["plain"].id, agent=bob)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not share"):
        await call(share, notes["kind"].id, agent=bob)
    await delegate("ada", "bob", "share", tags=["a"])
    await call(share, notes["tag"].id, agent=bob)


async def test_what_a_delegate_shared_ends_with_the_delegation(
    notes, delegate, revoke, call, crew, seen_by
):
    delegation = await delegate("ada", "bob", "share", tags=["a"])
    await call("select memory.share($1, 'cleo', 'share')", notes["tag"].id, agent=crew["bob"])
    await call("select memory.share($1, 'dan')", notes["tag"].id, agent=crew["cleo"])
    assert await seen_by("dan") == {"note tag"}

    await revoke("ada", delegation)
    assert await seen_by("cleo") == await seen_by("dan") == set()


async def test_a_chain_goes_as_deep_as_its_owner_let_it(notes, delegate, seen_by, call, crew):
    await delegate("ada", "bob", depth=1)
    await delegate("bob", "cleo", depth=5)
    assert await seen_by("cleo") == ALL
    rows = await call(
        "select owner, depth from memory.delegations order by owner", agent=crew["cleo"]
    )
    assert [tuple(row) for row in rows] == [("ada", 0), ("bob", 5)]

    await delegate("cleo", "dan", depth=5)
    assert await seen_by("dan") == set()


async def test_a_link_that_is_revoked_ends_what_hangs_below_it(notes, delegate, revoke, seen_by):
    first = await delegate("ada", "bob", depth=9)
    second = await delegate("bob", "cleo", depth=9)
    await delegate("cleo", "dan")
    assert await seen_by("dan") == ALL

    await revoke("bob", second)
    assert (await seen_by("cleo"), await seen_by("dan")) == (set(), set())
    assert await seen_by("bob") == ALL
    await delegate("bob", "cleo", depth=9)
    await delegate("cleo", "dan")
    await revoke("ada", first)
    assert await seen_by("bob") == await seen_by("cleo") == await seen_by("dan") == set()


@pytest.mark.parametrize(
    ("above", "below", "taken"),
    [
        ({"kinds": ["procedural"]}, {"tags": ["a"]}, set()),
        (
            {"kinds": ["procedural", "identity"]},
            {"kinds": ["semantic", "procedural"]},
            {"note kind"},
        ),
        ({"kinds": ["procedural"]}, {"kinds": ["semantic"]}, set()),
        ({"tags": ["a"]}, {"tags": ["b"]}, {"note tag"}),
        ({"tags": ["a"]}, {}, {"note tag"}),
        ({"space": "infra"}, {}, {"note space"}),
        ({}, {"space": "infra"}, {"note space"}),
        ({"space": "infra"}, {"space": "infra"}, {"note space"}),
    ],
)
async def test_what_is_passed_on_is_what_both_scopes_take(
    notes, delegate, seen_by, above, below, taken
):
    await delegate("ada", "bob", depth=1, **above)
    await delegate("bob", "cleo", **below)
    assert await seen_by("cleo") == taken


async def test_nobody_passes_on_more_or_for_longer_than_he_holds(notes, delegate, call, crew, pool):
    until = await pool.fetchval("select now() + interval '1 day'")
    await delegate("ada", "bob", "read", expires_at=until, depth=1)
    await delegate("bob", "cleo", "share")
    rows = await call(
        "select owner, permission, expires_at from memory.delegations order by owner",
        agent=crew["cleo"],
    )
    assert [tuple(row) for row in rows] == [("ada", "read", until), ("bob", "share", None)]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call("select memory.forget($1)", notes["plain"].id, agent=crew["cleo"])


async def test_a_space_that_is_not_ones_own_is_delegated_only_as_far_as_one_holds_it(
    notes, delegate
):
    refused = pytest.raises(
        asyncpg.InsufficientPrivilegeError, match='may not delegate in space "infra"'
    )
    for space in ("infra", "nowhere"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not delegate in space"):
            await delegate("bob", "cleo", "read", space=space)
    await delegate("ada", "bob", "write", space="infra")
    with refused:
        await delegate("bob", "cleo", "read", space="infra")  # its depth is 0
    await delegate("ada", "bob", "write", space="infra", kinds=["semantic"], depth=1)
    with refused:
        await delegate("bob", "cleo", "share", space="infra")
    with refused:
        await delegate("bob", "cleo", "read", space="infra", kinds=["identity"])
    await delegate("bob", "cleo", "write", space="infra")


@pytest.mark.parametrize("scope", [{}, {"tags": ["a"]}])
async def test_an_expired_delegation_is_dead_at_once(notes, delegate, revoke, seen_by, pool, scope):
    until = await pool.fetchval("select now() + interval '1 day'")
    delegation = await delegate("ada", "bob", "share", expires_at=until, **scope)
    await pool.execute("update pgrecall.delegations set expires_at = now() - interval '1 ms'")

    assert await seen_by("bob") == set()
    with pytest.raises(asyncpg.NoDataFoundError):
        await revoke("ada", delegation)
    await maintain(pool)
    assert await pool.fetch("select from pgrecall.delegations") == []


async def test_what_a_delegate_writes_puts_nothing_into_a_delegation(
    notes, delegate, seen_by, pool, store, ada
):
    await delegate("ada", "bob", "write", tags=["a"])
    await delegate("ada", "bob", "share", tags=["c"])
    supersede = (
        "select pgrecall.supersede(m, jsonb_populate_record(m, $2), $3, null)"
        " from pgrecall.memories m where m.id = $1 and m.superseded_at is null"
    )

    async def tag(who: str, tags: list[str]) -> list[str]:
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("select set_config('pgrecall.agent', $1, true)", who)
            await connection.execute(supersede, notes["tag"].id, {"tags": tags}, who)
        return await pool.fetchval(
            "select array(select d.permission from pgrecall.delegations d"
            " where d.token = any (m.readers) order by 1)"
            " from pgrecall.memories m where id = $1 and superseded_at is null",
            notes["tag"].id,
        )

    assert await tag("bob", ["a", "c"]) == ["write"]
    assert await tag("ada", ["a", "c", "d"]) == ["share", "write"]
    assert await tag("bob", ["d"]) == []
    assert await seen_by("bob") == set()


async def test_what_was_shared_by_a_delegation_ends_when_the_memory_leaves_it(
    store, ada, delegate, call, crew, seen_by
):
    memory = await store.remember(ada, NewMemory(content="note", tags=["a"], key="k"))
    await delegate("ada", "bob", "share", tags=["a"])
    await call("select memory.share($1, 'cleo')", memory.id, agent=crew["bob"])
    assert await seen_by("cleo") == {"note"}

    await store.remember(ada, NewMemory(content="note", tags=["b"], key="k"))
    assert await seen_by("cleo") == set()


@pytest.mark.parametrize("scope", [{}, {"space": "~ada"}])
@pytest.mark.parametrize("how", ["delete", "erase"])
async def test_what_is_deleted_or_erased_no_delegate_sees(
    notes, delegate, call, crew, seen_by, scope, how
):
    await delegate("ada", "bob", "share", **scope)
    who = crew["bob" if how == "delete" else "ada"]
    await call("select memory.forget($1, $2)", notes["plain"].id, how, agent=who)

    assert "note plain" not in await seen_by("bob")
    assert await call("select from memory.history($1)", notes["plain"].id, agent=crew["bob"]) == []


async def test_granter_holder_and_owner_revoke_and_nobody_else(delegate, revoke, call, crew):
    for who in ("ada", "bob"):
        delegation = await delegate("ada", "bob")
        with pytest.raises(asyncpg.NoDataFoundError, match=f"no delegation {delegation}"):
            await revoke("cleo", delegation)
        await revoke(who, delegation)
        with pytest.raises(asyncpg.NoDataFoundError):
            await revoke(who, delegation)

    await delegate("ada", "bob", depth=1)
    passed_on = await delegate("bob", "cleo")
    await revoke("ada", passed_on)  # as far as her memories go
    rows = await call("select owner from memory.delegations", agent=crew["cleo"])
    assert [row["owner"] for row in rows] == ["bob"]


async def test_the_view_shows_those_by_me_to_me_and_of_mine(delegate, call, crew):
    await delegate("ada", "bob", depth=1)
    await delegate("bob", "cleo")
    shown = {}
    for name, who in crew.items():
        rows = await call("select agent, owner from memory.delegations order by 1, 2", agent=who)
        shown[name] = [tuple(row) for row in rows]
    assert shown == {
        "ada": [("bob", "ada"), ("cleo", "ada")],
        "bob": [("bob", "ada"), ("cleo", "ada"), ("cleo", "bob")],
        "cleo": [("cleo", "ada"), ("cleo", "bob")],
        "dan": [],
    }


async def test_a_removed_agent_delegates_nothing_any_more(notes, delegate, seen_by, pool):
    await delegate("ada", "bob", depth=1)
    await delegate("bob", "cleo")
    assert await seen_by("cleo") == ALL
    await agents.remove(pool, "bob")
    assert await seen_by("cleo") == set()


async def test_dead_delegations_leave_no_trace_on_the_rows(notes, delegate, revoke, pool, embed):
    await embed()
    readers = (
        "select readers from pgrecall.memories union all select readers from pgrecall.embeddings"
    )
    before = await pool.fetch(readers)
    delegations = [await delegate("ada", "bob", **s) for s in ({"space": "~ada"}, {"tags": ["a"]})]
    assert await pool.fetch(readers) != before

    for delegation in delegations:
        await revoke("ada", delegation)
    await maintain(pool)
    assert sorted(await pool.fetch(readers)) == sorted(before)


async def test_delegations_are_told_in_the_log_without_their_words(delegate, revoke, pool):
    delegation = await delegate("ada", "bob", "write", space="infra", tags=["secret"], depth=2)
    await revoke("ada", delegation)

    named = {"delegation": str(delegation)}
    rows = await pool.fetch(
        "select space, action, payload from pgrecall.events"
        " where action like '%delegat%' order by at"
    )
    assert [tuple(row) for row in rows] == [
        ("infra", "delegate", {**named, "agent": "bob", "permission": "write", "depth": 2}),
        ("infra", "revoke_delegation", named),
    ]


@pytest.mark.parametrize(
    ("scope", "refusal"),
    [
        ({"depth": -1}, "depth must be between 0 and 10, not -1"),
        ({"depth": 11}, "not 11"),
        ({"depth": None}, "not null"),
        ({"kinds": []}, "kinds must name at least one"),
        ({"kinds": ["secret"]}, "kinds must be among"),
        ({"kinds": [None]}, "kinds must be among"),
        ({"tags": [None]}, "a tag must not be null"),
        ({"tags": ["x"] * 101}, "at most 100 tags"),
        ({"space": " "}, "space must be 1 to 200 characters"),
        ({"space": "x" * 201}, "space must be 1 to 200 characters"),
    ],
)
async def test_a_scope_that_cant_be_is_refused_with_the_reason(delegate, scope, refusal):
    with pytest.raises(asyncpg.InvalidParameterValueError, match=refusal):
        await delegate("ada", "bob", **scope)


async def test_a_delegation_needs_another_agent_that_exists_and_one_that_writes(
    delegate, revoke, crew, add_agent
):
    crew["rita"] = await add_agent("rita", reader=True)
    with pytest.raises(asyncpg.NoDataFoundError):
        await delegate("ada", "nobody")
    with pytest.raises(asyncpg.InvalidParameterValueError, match="can't grant itself"):
        await delegate("ada", "ada")
    with pytest.raises(asyncpg.InvalidParameterValueError, match="permission must be"):
        await delegate("ada", "bob", "own")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await delegate("rita", "bob")
    for unknown in (uuid4(), None):
        with pytest.raises(asyncpg.NoDataFoundError):
            await revoke("ada", unknown)


async def test_a_delegation_made_while_its_owner_writes_takes_what_is_written(
    pool, database, ada, delegate, remember, seen_by
):
    await remember("note replaced", key="k", tags=["a"])
    writer = await asyncpg.connect(database.dsn)
    transaction = writer.transaction()
    await transaction.start()
    await writer.execute("select set_config('pgrecall.agent', 'ada', true)")
    await writer.execute("select memory.remember('note new', tags => '{a}')")
    await writer.execute("select memory.remember('note again', key => 'k')")
    waiting = asyncio.create_task(delegate("ada", "bob", tags=["a"]))
    blocked = (
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
        " and datname = current_database()"
    )
    async with asyncio.timeout(20):
        while not await pool.fetchval(blocked):
            assert not waiting.done()
    await transaction.commit()
    await writer.close()
    await waiting

    assert await seen_by("bob") == {"note new", "note again"}


async def test_a_deleted_memory_that_is_restored_is_taken_as_its_head_says(
    store, ada, delegate, call, seen_by, crew
):
    await delegate("ada", "bob", tags=["old"])
    await delegate("ada", "cleo", tags=["new"])
    memory = await store.remember(ada, NewMemory(content="note", tags=["old"], key="k"))
    await store.remember(ada, NewMemory(content="note new", tags=["new"], key="k"))
    await call("select memory.forget($1, 'delete')", memory.id)
    assert await seen_by("cleo") == set()

    await call("select memory.restore($1)", memory.id)
    assert (await seen_by("bob"), await seen_by("cleo")) == (set(), {"note new"})
    versions = "select version from memory.memory_versions"
    assert len(await call(versions, agent=crew["cleo"])) == 2
    assert await call(versions, agent=crew["bob"]) == []


async def test_a_version_that_stands_again_is_taken_as_it_says_itself(
    store, ada, delegate, call, seen_by
):
    await delegate("ada", "bob", tags=["old"])
    await delegate("ada", "cleo", tags=["new"])
    memory = await store.remember(ada, NewMemory(content="note", tags=["old"], key="k"))
    await store.remember(ada, NewMemory(content="note new", tags=["new"], key="k"))
    assert (await seen_by("bob"), await seen_by("cleo")) == (set(), {"note new"})

    await call("select memory.forget_version($1, 2)", memory.id)
    assert (await seen_by("bob"), await seen_by("cleo")) == ({"note"}, set())
