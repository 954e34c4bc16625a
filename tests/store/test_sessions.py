"""A session says in which sitting of its agent a memory was written."""

import asyncpg
import pytest

from sql import agents


@pytest.fixture
async def ada_logs_in(database, pool, unique_name):
    """SQL as an agent's own login has it: `(name, connection)`."""
    name = unique_name("ada")
    made = await agents.add_agent(pool, name, sql_login=True)
    connection = await asyncpg.connect(database.dsn_for(name, made.password))
    yield name, connection
    await connection.close()
    await agents.remove(pool, name)


async def test_what_is_written_in_a_session_names_it_until_it_ends(ada_logs_in):
    name, connection = ada_logs_in
    before = await connection.fetchval("select remember('before')")
    session = await connection.fetchval("select start_session('a notebook')")
    within = await connection.fetchval("select remember('within')")
    keyed = await connection.fetchval("select remember('one', key => 'k')")
    await connection.execute("select end_session()")
    await connection.execute("select remember('two', key => 'k')")
    after = await connection.fetchval("select remember('after')")

    rows = await connection.fetch("select id, session from memories")
    assert {row["id"]: row["session"] for row in rows} == {
        before: None,
        within: session,
        keyed: None,
        after: None,
    }
    row = await connection.fetchrow("select * from sessions")
    assert (row["session"], row["agent"], row["client"]) == (session, name, "a notebook")
    assert row["ended_at"] >= row["started_at"]


async def test_a_session_that_is_over_or_never_was_cant_be_ended(ada_logs_in):
    _, connection = ada_logs_in
    session = await connection.fetchval("select start_session()")
    await connection.execute("select end_session($1)", session)

    with pytest.raises(asyncpg.NoDataFoundError, match=f"no open session {session}"):
        await connection.execute("select end_session($1)", session)
    with pytest.raises(asyncpg.NoDataFoundError, match="no open session in this connection"):
        await connection.execute("select end_session()")


async def test_a_session_set_by_hand_counts_only_if_it_is_ones_own(ada_logs_in, pool):
    _, connection = ada_logs_in
    await agents.add_agent(pool, "bob")
    async with pool.acquire() as other, other.transaction():
        await other.execute("set local pgrecall.agent = 'bob'")
        of_bob = await other.fetchval("select memory.start_session()")

    for claimed in (str(of_bob), "no uuid"):
        await connection.execute("select set_config('pgrecall.session', $1, false)", claimed)
        identity = await connection.fetchval(
            "select remember('written with ' || $1::text)", claimed
        )
        row = await connection.fetchrow("select session from memories where id = $1", identity)
        assert row["session"] is None
