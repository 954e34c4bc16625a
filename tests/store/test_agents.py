"""Agents come and go; what they wrote is nobody else's."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import psycopg
import pytest

from sql import agents
from sql.errors import Conflict, InvalidInput, NotFound


async def test_a_removed_agents_name_is_not_given_to_one_who_would_read_its_memories(
    pool, ada, remember
):
    await remember("for ada alone")
    await agents.remove(pool, "ada")

    with pytest.raises(Conflict, match="would read its memories"):
        await agents.add_agent(pool, "ada")


async def test_a_removed_agent_that_left_nothing_may_come_back(pool, add_agent):
    await add_agent("bob")
    await agents.remove(pool, "bob")

    assert (await agents.add_agent(pool, "bob")).agent == "bob"


async def test_a_removed_agents_token_is_nobodys(pool):
    secrets = await agents.add_agent(pool, "bob")
    assert (await agents.agent_for_token(pool, secrets.token)).name == "bob"

    await agents.remove(pool, "bob")

    assert await agents.agent_for_token(pool, secrets.token) is None
    with pytest.raises(NotFound):
        await agents.find_agent(pool, "bob")


async def test_rotation_issues_a_new_token_while_the_old_one_still_goes(pool):
    old = await agents.add_agent(pool, "bob")
    new = await agents.rotate(pool, "bob")

    for token in (old.token, new.token):
        assert (await agents.agent_for_token(pool, token)).name == "bob"
    ends = await pool.fetch("select expires_at - now() as left from pgrecall.agent_tokens")
    assert sorted(row["left"] is None for row in ends) == [False, True]


@pytest.mark.parametrize("name", ["", "Ada", "1st", "pg_x", "pgrecall", "postgres", "a b", 'a"b'])
async def test_a_name_that_no_role_should_have_is_refused(pool, name):
    with pytest.raises(InvalidInput, match="can't be an agent's name"):
        await agents.add_agent(pool, name)


async def test_a_new_login_replaces_the_password_alone(pool, database, log_in):
    eve = await log_in("eve")
    token = (await agents.rotate(pool, eve.name)).token

    given = await agents.give_login(pool, eve.name)

    with pytest.raises(psycopg.OperationalError):
        await psycopg.AsyncConnection.connect(database.dsn_for(eve.name, eve.password))
    async with await psycopg.AsyncConnection.connect(database.dsn_for(eve.name, given.password)):
        pass
    assert (await agents.agent_for_token(pool, token)).name == eve.name


async def test_a_login_can_be_given_later_and_ends_when_it_was_to(
    pool, database, add_agent, unique_name
):
    name = unique_name("late")
    await add_agent(name)
    given = await agents.give_login(pool, name, expires_at=datetime.now(UTC) + timedelta(seconds=1))
    connection = await asyncpg.connect(database.dsn_for(name, given.password))
    await connection.close()

    # A new secret does not make the login last longer.
    rotated = (await agents.rotate(pool, name)).password
    await asyncio.sleep(1)
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(database.dsn_for(name, rotated))
    await agents.remove(pool, name)


async def test_an_ended_login_ends_its_sessions_and_nothing_else(pool, database, log_in):
    eve = await log_in("eve")
    await eve.sql.execute("select memory.remember('kept')")

    await agents.end_login(pool, eve.name)

    with pytest.raises(psycopg.OperationalError):
        await eve.sql.execute("select 1")
    with pytest.raises(psycopg.OperationalError):
        await psycopg.AsyncConnection.connect(database.dsn_for(eve.name, eve.password))
    assert (await agents.find_agent(pool, eve.name)).name == eve.name
    actions = await pool.fetch(
        "select action from pgrecall.events where agent = $1 order by at desc limit 1", eve.name
    )
    assert [row["action"] for row in actions] == ["end_login"]
    with pytest.raises(NotFound, match="has no SQL login"):
        await agents.end_login(pool, eve.name)


async def test_a_login_of_a_foreign_role_or_in_the_past_is_refused(pool, add_agent, log_in):
    eve = await log_in("eve")
    with pytest.raises(InvalidInput, match="in the future"):
        await agents.give_login(pool, eve.name, expires_at=datetime.now(UTC))
    with pytest.raises(NotFound):
        await agents.give_login(pool, "nobody")
    forget = "delete from pgrecall.sql_logins where agent = $1 returning scram_secret"
    secret = await pool.fetchval(forget, eve.name)
    with pytest.raises(Conflict, match="is not ours"):
        await agents.give_login(pool, eve.name)
    remember = "insert into pgrecall.sql_logins (agent, scram_secret) values ($1, $2)"
    await pool.execute(remember, eve.name, secret)
