"""Agents come and go; what they wrote is nobody else's."""

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
