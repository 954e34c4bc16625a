"""verify(): who may verify what, no false alarm for lawful work, and input without sense."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from sql import agents
from sql.acting import acting
from sql.agents import Agent, add_agent, find_agent
from sql.errors import Conflict, Forbidden, InvalidInput, NotFound
from sql.events import chain_heads, verify_everything
from sql.maintenance import maintain
from sql.pool import create_pool
from tests.conftest import Database
from tests.store.history import SPACE, export, offline, online, remember, write_history

WRITERS = 8


async def chains(pool: asyncpg.Pool, name: str, *arguments: object) -> dict[tuple[str, str], bool]:
    """What verify() answers the agent: the chains, and whether each is valid."""
    async with acting(pool, await find_agent(pool, name)) as connection:
        named = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
        rows = await connection.fetch(f"select * from memory.verify({named})", *arguments)
    return {(row["space"], row["agent"]): row["valid"] for row in rows}


async def test_an_agent_verifies_its_own_chains_and_an_admin_its_spaces_and_all(pool):
    await write_history(pool)
    await add_agent(pool, "rita", reader=True, spaces=[SPACE])
    await add_agent(pool, "root", admin=True)

    assert set(await chains(pool, "bob")) == {("infra", "bob"), ("~bob", "bob")}
    assert set(await chains(pool, "rita")) == {("infra", "rita"), ("~rita", "rita")}
    infra = {("infra", "ada"), ("infra", "bob"), ("infra", "rita")}
    assert set(await chains(pool, "ada")) == {*infra, ("~ada", "ada")}
    assert set(await chains(pool, "ada", "infra")) == infra
    every = {("~bob", "bob"), ("~rita", "rita"), ("~root", "root"), ("~ada", "ada"), *infra}
    assert set(await chains(pool, "root")) == every
    assert all((await chains(pool, "root")).values())


async def test_an_agents_own_chain_is_valid_where_others_write_and_erase_its_memories(pool):
    ada, bob = await write_history(pool)
    shared = await remember(pool, bob, "Bob's, for all of infra", key="ours")
    await remember(pool, ada, "Ada refines it", key="ours")
    async with acting(pool, ada) as connection:
        await connection.execute("select memory.forget($1, 'erase')", shared)

    assert await chains(pool, "bob", "infra") == {("infra", "bob"): True}
    assert await online(pool) == []


@pytest.mark.parametrize("space", ["nowhere", "~ada", "", "x" * 100_000, "~"])
async def test_a_space_without_a_chain_that_one_may_verify_is_refused(pool, space):
    await write_history(pool)
    with pytest.raises(NotFound, match="no chain that you may verify"):
        await chains(pool, "bob", space)


async def test_whoever_is_no_agent_verifies_nothing(pool):
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.fetch("select * from memory.verify()")


@pytest.mark.parametrize("head", [b"", b"\x00", bytes(32), b"x" * 100_000])
async def test_an_expected_head_that_no_chain_holds_is_said(pool, head):
    await write_history(pool)

    assert await chains(pool, "bob", "infra", head) == {("infra", "bob"): False}
    found = await chains(pool, "ada", "infra", head)
    assert found == {("infra", "ada"): True, ("infra", "bob"): True, ("infra", None): False}


async def test_events_of_older_versions_verify_as_they_were_written(pool):
    """Commitments had another form once: 32 bytes, over fewer fields."""
    await pool.execute(
        "create or replace function pgrecall.commitment(m pgrecall.memories) returns bytea"
        " language sql stable parallel safe return pgrecall.commitment_1(m)"
    )
    await write_history(pool)
    assert (
        await pool.fetchval("select count(*) from pgrecall.events where length(commitment) = 33")
        == 0
    )

    assert await online(pool) == []
    await pool.execute("update pgrecall.memories set content = 'x' where version = 2")
    [chain] = await online(pool)
    assert (chain.agent, chain.first_bad) == ("ada", 6)


async def test_hashes_are_those_that_were_written_from_the_first_day(pool):
    """Known answers: whoever changes these bytes makes every standing chain invalid."""
    payload = '{"ü": [1, 2.50], "a": null}'
    row = await pool.fetchrow(
        """
        select encode(pgrecall.event_hash(sha256(''), 'infra', 'ada', 7,
                '2026-03-01T12:00:00.123456Z', 'remember',
                '01a22e2c-4eb0-702d-8086-b6a09cfbcc26', 2,
                $1::text::jsonb, '\\x0102'), 'hex') as full,
            encode(pgrecall.event_hash('', '', 'ada', 1, 'epoch', '', null, null, '{}', null),
                'hex') as bare
        """,
        payload,
    )
    assert dict(row) == KNOWN


KNOWN = {
    "full": "aa88199d69975986f8705cac92dfa320667f8044cbf51a4a09c5174a59d792a6",
    "bare": "cca66a9be8eb9b0e64478bfba4d5e323f97d4351b24f7b094810a390ea1d039d",
}


async def test_agents_that_come_change_secrets_and_go_leave_valid_chains(pool, unique_name):
    await write_history(pool)
    name = unique_name("carl")
    await add_agent(pool, name, sql_login=True, spaces=[SPACE, "other"])
    carl = await find_agent(pool, name)
    await remember(pool, carl, "Carl was here")
    await agents.rotate(pool, name)
    await agents.remove(pool, name)

    assert await online(pool) == []
    assert (await chains(pool, "ada"))["infra", name]
    told = await pool.fetch(
        "select action from pgrecall.events where space = $1 order by sequence", f"~{name}"
    )
    assert [row["action"] for row in told] == [
        *("add_agent", "create_space", "join_space", "add_token", "set_login"),
        *("expire_tokens", "add_token", "set_login", "leave_space", "remove_agent"),
    ]


async def test_what_expired_and_is_said_again_leaves_valid_chains(pool):
    ada, _ = await write_history(pool)
    fading = {"ttl": "PT1S", "key": "fading"}
    await remember(pool, ada, "Gone soon", **fading)
    await remember(pool, ada, "Gone soon too", ttl="PT1S")
    await pool.execute("select pg_sleep(1)")
    await remember(pool, ada, "Gone soon", **fading)
    await maintain(pool)

    assert await online(pool) == []
    expired = await pool.fetchval("select count(*) from pgrecall.events where action = 'expire'")
    assert expired == 2


async def test_lawful_work_of_eight_writers_at_once_raises_no_alarm(pool, database):
    await _work(pool, database, operations=400)


@pytest.mark.soak
async def test_ten_thousand_lawful_operations_of_eight_writers_raise_no_alarm(pool, database):
    await _work(pool, database, operations=10_000)


async def _work(pool: asyncpg.Pool, database: Database, operations: int) -> None:
    """Let eight writers do at random all that changes something, and verify all the while."""
    crew = []
    for number in range(WRITERS):
        await add_agent(pool, f"writer-{number}", spaces=["shared", "other"])
        crew.append(await find_agent(pool, f"writer-{number}"))
    wide = await create_pool(database.dsn, min_size=WRITERS + 1, max_size=WRITERS + 1)
    ids: list[str] = []
    counted = [0]

    async def write(agent: Agent, chance: random.Random) -> None:
        for _ in range(operations // WRITERS):
            operation = chance.choice(OPERATIONS)
            try:
                await operation(wide, agent, ids, chance)
            except (NotFound, Conflict, InvalidInput, Forbidden):  # refused, and nothing written
                continue
            finally:
                counted[0] += 1

    work = asyncio.gather(
        *(write(agent, random.Random(number)) for number, agent in enumerate(crew))
    )
    try:
        while not work.done():
            assert [one for one in (await verify_everything(wide)).chains if not one.valid] == []
            await asyncio.wait([work], timeout=0.5)
        await work
        assert counted[0] == operations // WRITERS * WRITERS
        told = await wide.fetch("select distinct action from pgrecall.events")
        common = {
            *("remember", "revise", "restore", "archive", "delete", "erase", "link", "unlink"),
            *("share", "unshare", "delegate", "revoke_delegation", "alias"),
        }
        assert common <= {row["action"] for row in told}
        assert await online(wide, await chain_heads(wide)) == []
        assert offline(await export(wide), await chain_heads(wide)) == []
    finally:
        await wide.close()


Operation = Callable[[asyncpg.Pool, Agent, list[str], random.Random], Awaitable[None]]


async def _remember(pool, agent, ids, chance):
    space = chance.choice(["shared", "other", f"~{agent.name}"])
    ids.append(await remember(pool, agent, f"fact {chance.random()}", space=space))


async def _repeat(pool, agent, ids, chance):
    await remember(pool, agent, f"fact {chance.randrange(5)}", space="shared")


async def _refine(pool, agent, ids, chance):
    key = f"key-{chance.randrange(6)}"
    ids.append(await remember(pool, agent, f"v {chance.random()}", key=key, space="shared"))


async def _batch(pool, agent, ids, chance):
    drafts = [
        {"content": f"batch {chance.random()}", "space": chance.choice(["other", "shared"])}
        for _ in range(5)
    ]
    async with acting(pool, agent) as connection:
        rows = await connection.fetch("select id from memory.remember_many($1)", drafts)
    ids.extend(str(row["id"]) for row in rows)


async def _forget(pool, agent, ids, chance):
    if ids:
        how = chance.choice(["archive", "delete", "erase"])
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.forget($1, $2)", chance.choice(ids), how)


async def _restore(pool, agent, ids, chance):
    archived = await pool.fetchval(
        "select id from pgrecall.memories where superseded_at is null and archived_at is not null"
        " and visibility <> 'private' and deleted_at is null order by random() limit 1"
    )
    if archived is not None:
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.restore($1)", archived)


async def _link(pool, agent, ids, chance):
    if len(ids) > 1:
        async with acting(pool, agent) as connection:
            source, target = chance.sample(ids, 2)
            await connection.execute("select memory.link($1, $2, 'about')", source, target)


async def _unlink(pool, agent, ids, chance):
    link = await pool.fetchrow(
        "select source, target, relation from pgrecall.links order by random() limit 1"
    )
    if link is not None:
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.unlink($1, $2, $3)", *link.values())


async def _unshare(pool, agent, ids, chance):
    share = await pool.fetchrow(
        "select id, agent from pgrecall.memory_shares where $1 in (owner, granted_by, agent)"
        " order by random() limit 1",
        agent.name,
    )
    if share is not None:
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.unshare($1, $2)", *share.values())


async def _delegate(pool, agent, ids, chance):
    async with acting(pool, agent) as connection:
        delegation = await connection.fetchval(
            "select memory.delegate($1, $2, space => 'shared')",
            *(f"writer-{chance.randrange(WRITERS)}", chance.choice(["read", "write"])),
        )
    if chance.random() < 0.5:
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.revoke_delegation($1)", delegation)


async def _settle(pool, agent, ids, chance):
    if len(ids) > 1:
        pair, how = chance.sample(ids, 2), chance.choice(["newest", "evidence", "both"])
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.resolve($1, $2)", pair, how)


async def _consolidate(pool, agent, ids, chance):
    if len(ids) > 1:
        async with acting(pool, agent) as connection:
            text = f"together {chance.random()}"
            await connection.execute(
                "select memory.consolidate($1, $2)", chance.sample(ids, 2), text
            )


async def _import(pool, agent, ids, chance):
    records = [{"content": f"line {chance.randrange(9)}"} for _ in range(3)]
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.replace_source('notes', $1, 'other')", records)


async def _by_view(pool, agent, ids, chance):
    async with acting(pool, agent) as connection:
        await connection.execute(
            "insert into memory.memories (content, space) values ($1, 'shared')",
            f"{chance.random()}",
        )
        await connection.execute(
            "delete from memory.memories where id in (select id from memory.memories"
            " where agent = memory.current_agent() order by id limit 1)"
        )


async def _alias(pool, agent, ids, chance):
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.alias('Kubernetes', $1)", f"k{chance.random()}")


async def _rotate(pool, agent, ids, chance):
    await agents.rotate(pool, agent.name)


def _on_one(statement: str) -> Operation:
    """An operation on any memory: the statement takes its id."""

    async def operation(pool, agent, ids, chance):
        if ids:
            async with acting(pool, agent) as connection:
                await connection.execute(statement, chance.choice(ids))

    return operation


OPERATIONS: list[Operation] = [
    _on_one("select memory.revise($1, content => 'revised ' || random())"),
    _on_one("select memory.revise($1, valid_from => now() - interval '1 day')"),
    _on_one("select memory.forget_version($1, 1)"),
    _on_one("select memory.forget_version($1, 2)"),
    _on_one("select memory.share($1, 'writer-3', 'write')"),
    *(_remember, _remember, _remember, _repeat, _refine, _refine, _batch),
    *(
        _forget,
        _restore,
        _link,
        _link,
        _unlink,
        _unshare,
        _delegate,
        _settle,
        _consolidate,
        _import,
    ),
    *(_by_view, _alias, _rotate),
]
