"""The gateway admits agents with a login and nobody else, and makes nobody more than he is."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from sql import agents
from tests.clients.conftest import MEMORIES, Road

# What a client can ask for in its startup packet.
STARTUPS = (
    {"options": "-c role=pgrecall_owner"},
    {"options": "-c role=pgrecall_service"},
    {"options": "-c session_authorization=pgrecall"},
    {"options": "-c session_replication_role=replica"},
    {"replication": "database"},
    {"replication": "true"},
)
HARMLESS = (
    {"options": "-c pgrecall.agent={victim}"},
    {"options": "-c search_path=pg_temp"},
    {"options": "-c row_security=on"},
    {"application_name": "{victim}"},
)


@pytest.fixture
async def victim(pool, unique_name) -> str:
    """An agent without an SQL login, who keeps something to itself."""
    name = unique_name("victim")
    await agents.add_agent(pool, name)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("select set_config('pgrecall.agent', $1, true)", name)
        await connection.execute("select memory.remember('the alarm code is 4711')")
    return name


async def refusal(road: Road, **more: str) -> psycopg.OperationalError:
    with pytest.raises(psycopg.OperationalError) as caught:
        await road.connect(**more)
    return caught.value


async def test_only_agents_with_a_login_are_let_in(road, database, pool, unique_name, victim):
    removed = unique_name("removed")
    password = (await agents.add_agent(pool, removed, sql_login=True)).password
    await agents.remove(pool, removed)
    strangers = (
        *("pgrecall_owner", "pgrecall_service", "pgrecall_agent", "pgrecall_reader", "pgrecall"),
        *("postgres", "template1", "nobody", victim, removed, "A" * 300, "ädä"),
    )
    said = set()
    for name in strangers:
        for given in (road.password, password, "", name):
            refused = await refusal(replace(road, user=name, password=given or "x"))
            said.add(str(refused).rpartition("FATAL:")[2].strip().replace(name, "NAME"))
    assert said == {'password authentication failed for user "NAME"'}


async def test_a_wrong_password_and_an_unknown_name_look_alike(road, unique_name):
    wrong = str(await refusal(replace(road, password="wrong")))
    unknown = str(await refusal(replace(road, user="nobody_there")))

    assert wrong.replace(road.user, "NAME") == unknown.replace("nobody_there", "NAME")


async def test_nothing_in_a_startup_packet_takes_a_role(road):
    for about in STARTUPS:
        refused = await refusal(road, **about)
        assert refused.sqlstate in (None, "42501", "28000"), about
        assert "permission denied" in str(refused), about


async def test_what_a_startup_packet_may_set_shows_nothing_more(road, remembered, victim):
    for about in HARMLESS:
        given = {name: value.format(victim=victim) for name, value in about.items()}
        async with await road.connect(**given) as connection:
            answer = await connection.execute("select memory.current_agent(), session_user::text")
            assert await answer.fetchone() == (road.user, road.user)
            rows = await connection.execute("select content from memory.memories order by 1")
            assert [row[0] for row in await rows.fetchall()] == sorted(MEMORIES)


async def test_no_recall_through_the_gateway_answers_with_anothers_memory(road, remembered, victim):
    """The splice hands a vector over and no rights: literals, parameters, prepared and batched."""
    async with await road.connect() as connection:
        await connection.execute(f"set pgrecall.agent = '{victim}'")
        for statement, arguments in (
            ("select content from memory.recall('alarm code 4711', k => 100)", None),
            ("select content from memory.recall(%s, k => 100)", ["alarm code 4711"]),
            (
                f"set pgrecall.agent = '{victim}'; select content from memory.recall('alarm code')",
                None,
            ),
        ):
            for _ in range(3):
                cursor = await connection.execute(statement, arguments, prepare=bool(arguments))
                while cursor.nextset():
                    pass
                assert "4711" not in str(await cursor.fetchall())


async def test_connections_one_after_another_are_each_their_own_agents(
    road, pool, gateway, unique_name
):
    """No backend is handed on from one client to the next."""
    other = unique_name("other")
    password = (await agents.add_agent(pool, other, sql_login=True)).password
    assert password is not None
    pids = set()
    for _ in range(3):
        for login in (road, replace(road, user=other, password=password)):
            async with await login.connect() as connection:
                await connection.execute("set pgrecall.session = 'left behind'")
                await connection.execute("create temp table left_behind (x int)")
                answer = await connection.execute("select session_user::text, pg_backend_pid()")
                user, pid = await answer.fetchone()
                assert user == login.user
                pids.add(pid)
    assert len(pids) == 6
    await agents.remove(pool, other)


async def test_removing_an_agent_ends_its_session_at_the_gateway(road, pool, unique_name):
    leaving = unique_name("leaving")
    password = (await agents.add_agent(pool, leaving, sql_login=True)).password
    connection = await replace(road, user=leaving, password=password).connect()
    await connection.execute("select 1")

    await agents.remove(pool, leaving)

    with pytest.raises(psycopg.OperationalError):
        await connection.execute("select content from memory.memories")
    await refusal(replace(road, user=leaving, password=password))


async def test_refused_logins_are_counted_and_logged_without_the_password(road, caplog):
    from structlog.testing import capture_logs

    with capture_logs() as logs:
        await refusal(replace(road, password="hunter2-wrong"))

    (line,) = [line for line in logs if line["event"] == "login_refused"]
    assert (line["reason"], line["role"], line["sqlstate"]) == ("password", road.user, "28P01")
    assert line["address"]
    assert "hunter2" not in str(logs)
