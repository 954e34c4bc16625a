"""Forgetting: out of recall, out of sight, or out of existence; and the log says it either way."""

from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from tests.store.conftest import contents

Recall = Callable[..., Awaitable[object]]


@pytest.mark.parametrize("how", ["archive", "delete", "erase"])
async def test_what_is_forgotten_no_longer_answers(remember, recall, as_agent, pool, how):
    memory = await remember("The old wiki has moved")

    async with as_agent("ada") as connection:
        said = await connection.fetchval("select forget($1, $2)", memory.id, how)

    assert said.startswith(how.rstrip("e"))
    assert (await recall("wiki")).results == []
    assert await pool.fetchval("select action from pgrecall.events order by at desc limit 1") == how


async def test_an_archived_memory_can_be_asked_for(remember, recall, as_agent):
    memory = await remember("The old wiki has moved")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)

    assert contents(await recall("wiki", include=["archived"])) == ["The old wiki has moved"]


async def test_an_erased_memory_leaves_no_row_that_holds_its_words(remember, as_agent, pool):
    memory = await remember("The launch code is 0000", key="launch", title="Launch code")
    await remember("The launch code is 1234", key="launch")
    async with as_agent("ada") as connection:
        said = await connection.fetchval("select forget($1, 'erase')", memory.id)

    assert said.startswith("erased 2 versions")
    tables = await pool.fetch(
        "select c.oid::regclass::text as name from pg_class c join pg_namespace n"
        " on n.oid = c.relnamespace where n.nspname = 'pgrecall' and c.relkind = 'r'"
    )
    for table in tables:
        rows = await pool.fetch(f"select t::text as row from {table['name']} t")
        assert not [row["row"] for row in rows if "launch" in row["row"].lower()], table["name"]


async def test_a_deleted_memorys_history_is_left_to_the_spaces_admin(
    remember, as_agent, add_agent, recall
):
    bob = await add_agent("bob", spaces=["infra"])
    memory = await remember("Rotate the root key", space="infra")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1, 'delete')", memory.id)

    async with as_agent("ada") as connection:  # who made the space
        assert len(await connection.fetch("select * from history($1)", memory.id)) == 1
    async with as_agent(bob.name) as connection:
        assert await connection.fetch("select * from history($1)", memory.id) == []


async def test_another_agents_memory_cant_be_forgotten(remember, as_agent, add_agent):
    await add_agent("eve")
    reader = await add_agent("rita", spaces=["infra"], reader=True)
    private = await remember("mine alone")
    public = await remember("for all to see", visibility="public")

    for memory, sqlstate in ((private, "P0002"), (public, "42501")):
        with pytest.raises(asyncpg.PostgresError) as refused:
            async with as_agent("eve") as connection:
                await connection.execute("select forget($1, 'erase')", memory.id)
        assert refused.value.sqlstate == sqlstate
    with pytest.raises(asyncpg.PostgresError) as refused:
        async with as_agent(reader.name) as connection:
            await connection.execute("select forget($1)", public.id)
    assert refused.value.sqlstate == "42501"


async def test_an_unknown_way_to_forget_is_refused(remember, as_agent):
    memory = await remember("x")
    with pytest.raises(asyncpg.InvalidParameterValueError, match="not 'burn'"):
        async with as_agent("ada") as connection:
            await connection.execute("select forget($1, 'burn')", memory.id)


async def test_history_tells_every_version_in_order(remember, as_agent):
    memory = await remember("Bastion listens on 22", key="bastion")
    await remember("Bastion listens on 49222", key="bastion")

    async with as_agent("ada") as connection:
        rows = await connection.fetch("select version, content from history($1)", memory.id)

    assert [tuple(row) for row in rows] == [
        (1, "Bastion listens on 22"),
        (2, "Bastion listens on 49222"),
    ]


async def test_the_view_takes_inserts_and_deletes_as_remember_and_archive(as_agent, recall, ada):
    async with as_agent("ada") as connection:
        identity = await connection.fetchval(
            "insert into memories (content, tags) values ('Typed in DBeaver', '{sql}') returning id"
        )
        row = await connection.fetchrow("select * from memories where id = $1", identity)
    assert (row["tags"], row["agent"], row["kind"]) == (["sql"], "ada", "semantic")
    assert contents(await recall("dbeaver")) == ["Typed in DBeaver"]

    async with as_agent("ada") as connection:
        assert (
            await connection.execute("delete from memories where id = $1", identity) == "DELETE 1"
        )
    assert (await recall("dbeaver")).results == []


async def test_the_view_shows_an_agent_what_it_may_read_and_no_more(as_agent, remember, add_agent):
    await add_agent("bob", spaces=["infra"])
    await remember("private to ada")
    await remember("shared in infra", space="infra")

    async with as_agent("bob") as connection:
        seen = [row["content"] for row in await connection.fetch("select content from memories")]
    assert seen == ["shared in infra"]


async def test_a_whole_view_is_read_with_the_principals_worked_out_once(as_agent, remember):
    await remember("one")
    async with as_agent("ada") as connection:
        plan = "\n".join(
            row[0] for row in await connection.fetch("explain select count(*) from memories")
        )
    assert "InitPlan" in plan
    # Written into the query, not called for each row.
    assert "readable" not in plan
