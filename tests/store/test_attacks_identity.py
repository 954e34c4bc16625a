"""An SQL login stays itself, whatever it sets, and reads and writes as nobody else."""

from __future__ import annotations

from itertools import product

import psycopg
import pytest

from sql import agents
from sql.acting import acting, transaction
from sql.errors import NotFound
from sql.records import NewMemory, RecallQuery
from tests.store.conftest import SECRET

OURS = ("pgrecall_owner", "pgrecall_service", "pgrecall_reader", "pgrecall", "postgres")
# {victim} is the name of the agent that the session would like to be.
CLAIMS = (
    "set pgrecall.agent = '{victim}'",
    "select set_config('pgrecall.agent', '{victim}', false)",
    "set role pgrecall_agent; set pgrecall.agent = '{victim}'",
    "set role none; set pgrecall.agent = '{victim}'",
    "reset role; reset session authorization; set pgrecall.agent = '{victim}'",
    "set session authorization default; set pgrecall.agent = '{victim}'",
    "set application_name = '{victim}'",
    "set search_path = pg_temp; create function pg_temp.current_agent() returns text"
    " language sql as $$select '{victim}'$$",
    "create function pg_temp.session_user() returns text language sql as $$select '{victim}'$$;"
    " set search_path = pg_temp, pg_catalog, memory",
)


async def sees_the_secret(connection: psycopg.AsyncConnection) -> bool:
    """By any of the roads that an SQL client has."""
    roads = (
        "select content from memory.memories",
        "select content from memory.memory_versions",
        "select content from memory.recall('alarm code warehouse', k => 100)",
        "select content from memory.recall('alarm code', k => 100, mode => 'exact')",
    )
    for road in roads:
        rows = await (await connection.execute(road)).fetchall()
        if any(SECRET in row[0] for row in rows):
            return True
    return False


async def test_the_owner_sees_its_secret_by_every_road(scene):
    assert await sees_the_secret(scene.ada.sql)


async def test_no_setting_makes_a_session_another_agents(scene):
    for claim, login in product(CLAIMS, (scene.eve, scene.mallory)):
        await login.sql.execute(claim.format(victim=scene.ada.name))

        answer = await login.sql.execute("select memory.current_agent()")
        assert await answer.fetchone() == (login.name,), claim
        assert not await sees_the_secret(login.sql), claim
        await login.sql.execute("discard all")


async def test_no_session_takes_a_role_of_ours(scene):
    statements = ('set role "{}"', 'set session authorization "{}"', 'grant "{}" to current_user')
    for role, statement in product((*OURS, scene.ada.name), statements):
        for login in (scene.eve, scene.mallory):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await login.sql.execute(statement.format(role))


async def test_a_reader_does_not_become_a_writer(scene):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await scene.rita.sql.execute("set role pgrecall_agent")
    for statement in (
        "select memory.remember('x')",
        "insert into memories (content) values ('x')",
        "delete from memories",
        f"select memory.forget('{scene.secret}')",
        "select memory.start_session()",
        "copy memories (content) from stdin",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await scene.rita.sql.execute(statement)


async def test_no_session_gives_its_role_more(scene):
    for change in (
        *("superuser", "createrole", "bypassrls", "replication", "valid until 'infinity'"),
        f"set pgrecall.agent = '{scene.ada.name}'",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await scene.eve.sql.execute(f"alter role current_user {change}")


async def test_what_a_role_sets_for_itself_opens_nothing(scene, database):
    for setting in ("row_security = off", "search_path = pg_temp, public", "role = pgrecall_agent"):
        await scene.eve.sql.execute(f"alter role current_user set {setting}")
    dsn = database.dsn_for(scene.eve.name, scene.eve.password)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as again:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            await again.execute("select * from memory.memories")
        await again.execute("set row_security = on")
        assert not await sees_the_secret(again)


async def test_a_row_written_by_insert_is_the_sessions_own_whoever_it_names(scene):
    await scene.eve.sql.execute(
        "insert into memories (id, content, agent, space, version, visibility)"
        " values (%s, 'planted', %s, %s, 7, 'shared')",
        [scene.secret, scene.ada.name, scene.space],
    )
    written = await scene.eve.sql.execute(
        "select id, agent, version from memories where content = 'planted'"
    )
    ((identity, agent, version),) = await written.fetchall()
    assert identity != scene.secret
    assert (agent, version) == (scene.eve.name, 1)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await scene.eve.sql.execute(
            "insert into memories (content, space) values ('planted', %s)", [f"~{scene.ada.name}"]
        )


async def test_copy_into_the_view_writes_as_the_session(scene):
    async with scene.eve.sql.cursor() as cursor:
        async with cursor.copy("copy memories (content, agent) from stdin") as copy:
            await copy.write_row(("copied", scene.ada.name))
        await cursor.execute("select agent from memories where content = 'copied'")
        assert await cursor.fetchall() == [(scene.eve.name,)]


async def test_a_prepared_statement_keeps_no_ones_sight(scene):
    await scene.ada.sql.execute("prepare seen as select count(*) from memories")
    answers = []
    for role in ("none", "pgrecall_agent", "none"):
        await scene.ada.sql.execute(f"set role {role}")
        answers.append(await (await scene.ada.sql.execute("execute seen")).fetchone())
    assert answers == [(2,)] * 3
    await scene.eve.sql.execute("prepare seen as select content from memories")
    await scene.eve.sql.execute("set role pgrecall_agent")
    assert await (await scene.eve.sql.execute("execute seen")).fetchall() == [("eve was here",)]


async def test_a_pooled_connection_forgets_its_agent_with_the_transaction(scene, pool, store):
    async with pool.acquire() as connection:
        pid = connection.get_server_pid()
    await store.recall(scene.ada.agent, RecallQuery(query="alarm"))
    with pytest.raises(NotFound):
        async with acting(pool, scene.ada.agent) as connection:
            await connection.execute("select memory.forget(gen_random_uuid())")
    async with transaction(pool) as connection:
        assert connection.get_server_pid() == pid
        assert await connection.fetchval("select memory.current_agent()") is None
        assert await connection.fetchval("select current_user") == "pgrecall"
        assert await connection.fetch("select * from memory.recall('alarm', k => 9)") == []


async def test_one_connection_serves_agents_in_turn_and_mixes_none_up(scene, pool, store):
    for _ in range(3):
        for login in (scene.ada, scene.eve, scene.rita, scene.mallory):
            answer = await store.recall(login.agent, RecallQuery(query="alarm code", k=100))
            seen = any(result.id == scene.secret for result in answer.results)
            assert seen == (login is scene.ada)


async def test_a_transaction_left_half_way_leaves_no_identity_behind(scene, pool):
    with pytest.raises(RuntimeError, match="left"):
        async with acting(pool, scene.ada.agent):
            raise RuntimeError("left")
    async with transaction(pool) as connection:
        assert await connection.fetchval("select memory.current_agent()") is None


async def test_an_unknown_agents_service_transaction_sees_nothing(scene, pool):
    await agents.add_agent(pool, "passing")
    ghost = await agents.find_agent(pool, "passing")
    await agents.remove(pool, "passing")
    async with acting(pool, ghost) as connection:
        assert await connection.fetch("select * from memory.memories") == []
        assert await connection.fetch("select * from memory.recall('alarm', k => 9)") == []


async def test_a_session_of_a_removed_agent_ends_and_reads_nothing_more(scene, pool, store):
    await store.remember(scene.eve.agent, NewMemory(content="for all", visibility="public"))
    await agents.remove(pool, scene.eve.name)

    with pytest.raises(psycopg.OperationalError):
        await scene.eve.sql.execute("select content from memories")


async def test_a_removed_agents_role_logs_in_no_more(scene, pool, database):
    await agents.remove(pool, scene.eve.name)

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await psycopg.AsyncConnection.connect(database.dsn_for(scene.eve.name, scene.eve.password))


async def test_no_agent_can_make_itself_impossible_to_remove(scene, pool):
    for keeping in (
        "select lo_create(0)",
        "alter default privileges grant select on tables to public",
        "create temp table kept (x int)",
    ):
        await scene.eve.sql.execute(keeping)

    await agents.remove(pool, scene.eve.name)

    with pytest.raises(NotFound):
        await agents.find_agent(pool, scene.eve.name)


async def test_a_replication_connection_is_refused(scene, database):
    dsn = database.dsn_for(scene.eve.name, scene.eve.password)
    for kind in ("database", "true"):
        with pytest.raises(psycopg.OperationalError, match="REPLICATION"):
            await psycopg.AsyncConnection.connect(dsn, replication=kind)


async def test_an_agents_login_opens_no_other_database(scene, database):
    for name in ("postgres", "template1", "memory"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            await psycopg.AsyncConnection.connect(
                database.server.dsn(scene.eve.name, scene.eve.password, name)
            )
