"""Membership after the fact: who may change it, and what it ends."""

import asyncpg
import pytest

from sql.records import NewMemory

ADD = "select memory.add_member($1, $2, $3)"
REMOVE = "select memory.remove_member($1, $2)"


@pytest.fixture(autouse=True)
async def crew(add_agent, ada):
    """Ada administers infra, bob writes there; rita only reads; root runs the deployment."""
    return {
        "ada": ada,
        "bob": await add_agent("bob", spaces=["infra"]),
        "cleo": await add_agent("cleo"),
        "rita": await add_agent("rita", reader=True),
        "root": await add_agent("root", admin=True),
    }


async def members(call, who) -> dict[str, str]:
    rows = await call("select agent, role from memory.members where space = 'infra'", agent=who)
    return {row["agent"]: row["role"] for row in rows}


async def contents(call, who) -> set[str]:
    return {row["content"] for row in await call("select content from memory.memories", agent=who)}


async def test_a_member_sees_what_is_there_and_what_comes_until_it_is_removed(
    store, call, crew, remember
):
    await remember("from before", space="infra")
    await call(ADD, "infra", "cleo", "writer")
    await remember("from after", space="infra")
    await store.remember(crew["cleo"], NewMemory(content="of cleo's", space="infra"))
    assert await contents(call, crew["cleo"]) == {"from before", "from after", "of cleo's"}

    await call(REMOVE, "infra", "cleo")
    assert await contents(call, crew["cleo"]) == {"of cleo's"}
    rows = await call("select space from memory.spaces", agent=crew["cleo"])
    assert [row["space"] for row in rows] == ["~cleo"]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call("select memory.remember('x', space => 'infra')", agent=crew["cleo"])


async def test_a_role_can_be_changed_and_counts_at_once(call, crew, remember):
    memory = await remember("of the crew", space="infra")
    forget = "select memory.forget($1)"
    await call(ADD, "infra", "cleo", "reader")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call(forget, memory.id, agent=crew["cleo"])
    await call(ADD, "infra", "cleo", "writer")
    await call(forget, memory.id, agent=crew["cleo"])
    await call(ADD, "infra", "cleo", "admin")
    await call(ADD, "infra", "ada", "reader", agent=crew["cleo"])
    assert await members(call, crew["bob"]) == {"ada": "reader", "bob": "writer", "cleo": "admin"}


@pytest.mark.parametrize(
    ("who", "sqlstate"), [("bob", "42501"), ("cleo", "P0002"), ("rita", "42501"), ("root", None)]
)
async def test_only_an_admin_of_the_space_or_of_the_deployment_chooses_members(
    call, crew, who, sqlstate
):
    for statement, arguments in ((ADD, ("infra", "cleo", "reader")), (REMOVE, ("infra", "ada"))):
        if sqlstate is None:
            await call(statement, *arguments, agent=crew[who])
            continue
        with pytest.raises(asyncpg.PostgresError) as refused:
            await call(statement, *arguments, agent=crew[who])
        assert refused.value.sqlstate == sqlstate


async def test_the_last_admin_stays_unless_the_deployments_admin_says_otherwise(call, crew):
    for statement, arguments in ((ADD, ("infra", "ada", "writer")), (REMOVE, ("infra", "ada"))):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="last admin"):
            await call(statement, *arguments)
    await call(ADD, "infra", "bob", "admin")
    await call(REMOVE, "infra", "ada")
    await call(ADD, "infra", "bob", "reader", agent=crew["root"])
    assert await members(call, crew["root"]) == {"bob": "reader"}


async def test_an_agent_always_administers_its_own_space_and_may_let_others_in(call, crew):
    await call(ADD, "~ada", "bob", "admin")
    for who in ("ada", "bob", "root"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="always administers"):
            await call(REMOVE, "~ada", "ada", agent=crew[who])
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="always administers"):
            await call(ADD, "~ada", "ada", "writer", agent=crew[who])


async def test_a_member_may_leave(call, crew):
    await call(REMOVE, "infra", "bob", agent=crew["bob"])
    assert await members(call, crew["ada"]) == {"ada": "admin"}
    with pytest.raises(asyncpg.NoDataFoundError):
        await call(REMOVE, "infra", "bob", agent=crew["bob"])


async def test_a_space_is_made_once_and_administered_by_its_maker(call, crew):
    await call("select memory.create_space('docs')", agent=crew["cleo"])
    rows = await call("select * from memory.spaces where space = 'docs'", agent=crew["cleo"])
    assert [(row["created_by"], row["role"], row["members"]) for row in rows] == [
        ("cleo", "admin", 1)
    ]
    for taken in ("docs", "infra", "~cleo"):
        with pytest.raises(asyncpg.UniqueViolationError, match="exists already"):
            await call("select memory.create_space($1)", taken, agent=crew["cleo"])
    for wrong in ("", " ", None, "x" * 201):
        with pytest.raises(asyncpg.InvalidParameterValueError):
            await call("select memory.create_space($1)", wrong)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call("select memory.create_space('~nobody')")


async def test_members_are_seen_by_members_and_by_the_deployments_admin(call, crew):
    assert await members(call, crew["cleo"]) == {}
    for who in ("ada", "bob", "root"):
        assert await members(call, crew[who]) == {"ada": "admin", "bob": "writer"}


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("infra", "cleo", "boss"), "role must be"),
        (("infra", "cleo", None), "role must be"),
        (("infra", "rita", "writer"), "only reads"),
        (("infra", "nobody", "writer"), "no agent 'nobody'"),
        (("infra", None, "writer"), "no agent NULL"),
        (("nowhere", "cleo", "writer"), "no space 'nowhere'"),
        ((None, "cleo", "writer"), "no space NULL"),
    ],
)
async def test_a_membership_that_cant_be_is_refused_with_the_reason(call, arguments, refusal):
    with pytest.raises(asyncpg.PostgresError, match=refusal) as refused:
        await call(ADD, *arguments)
    assert refused.value.sqlstate in ("22023", "P0002")


async def test_memberships_are_told_in_the_log(call, pool):
    for role in ("reader", "reader", "admin"):
        await call(ADD, "infra", "cleo", role)
    await call(REMOVE, "infra", "cleo")

    rows = await pool.fetch(
        "select action, payload from pgrecall.events where action like '%_member' order by sequence"
    )
    assert [(row["action"], row["payload"]) for row in rows] == [
        ("add_member", {"agent": "cleo", "role": "reader"}),
        ("add_member", {"agent": "cleo", "role": "admin"}),
        ("remove_member", {"agent": "cleo"}),
    ]


async def test_an_agent_that_only_reads_leaves_a_space_itself(call, crew):
    await call(ADD, "infra", "rita", "reader")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await call(REMOVE, "infra", "bob", agent=crew["rita"])
    await call(REMOVE, "infra", "rita", agent=crew["rita"])
    assert "rita" not in await members(call, crew["ada"])
