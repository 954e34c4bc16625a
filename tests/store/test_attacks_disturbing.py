"""An SQL login gets in nobody's way: no lock, object or setting of its own reaches others."""

from __future__ import annotations

import psycopg
import pytest

from sql import agents, migrate
from sql.migrate import MigrationError
from sql.records import RecallQuery
from tests.store.conftest import Login

# Temporary objects of our names, and of Postgres's that our functions call.
SHADOWS = """
create temp table memories (id uuid, content text, readers text[]);
create temp table agents (agent text, admin boolean, reader boolean);
create temp table members (space text, agent text, role text);
create temp table shares (subject text, value text, share real);
create temp view spaces as select 'everything' as space;
insert into pg_temp.agents values (current_user, true, false);
create type pg_temp.scope as (principals text[]);
create domain pg_temp.uuid as text;
create function pg_temp.principals() returns text[] language sql as
    $$select array['*', 'agent:{victim}']$$;
create function pg_temp.current_agent() returns text language sql as $$select '{victim}'$$;
create function pg_temp.now() returns timestamptz language sql as $$select 'epoch'::timestamptz$$;
create function pg_temp.coalesced(text[], text[]) returns boolean language sql as $$select true$$;
create operator pg_temp.&& (leftarg = text[], rightarg = text[], function = pg_temp.coalesced);
create function pg_temp.equal(text, text) returns boolean language sql as $$select true$$;
create operator pg_temp.= (leftarg = text, rightarg = text, function = pg_temp.equal);
create function pg_temp.sha256(bytea) returns bytea language sql as $$select ''::bytea$$;
set search_path = pg_temp, memory, public, pg_catalog;
"""
SETTINGS = (
    "pgrecall.recall_began = 'nonsense'",
    "pgrecall.left_out = 'all of it'",
    "pgrecall.session = 'no uuid'",
    "pgrecall.noticed_at = 'x'",
    "pgrecall.deadline_ms = '1e9'",
    "row_security = on",
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "array_nulls = off",
    "bytea_output = 'escape'",
    "datestyle = 'SQL, DMY'",
    "intervalstyle = 'sql_standard'",
    "timezone = 'Pacific/Apia'",
    "extra_float_digits = -15",
    "default_text_search_config = 'pg_catalog.french'",
    "quote_all_identifiers = on",
    "enable_indexscan = off",
    "plan_cache_mode = force_generic_plan",
    "hnsw.ef_search = 1",
    "session_replication_role = 'origin'",
    "xmloption = 'content'",
    "default_transaction_isolation = 'serializable'",
)


async def refusal(login: Login, statement: str) -> str | None:
    """The SQLSTATE of a statement's error; None when it goes through."""
    try:
        await login.sql.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate
    return None


async def answered(login: Login) -> list[tuple]:
    roads = (
        "select content from memory.recall('eve alarm code warehouse', k => 100) order by 1",
        "select content from memory.memories order by 1",
        "select content from memory.memory_versions order by 1",
    )
    return [tuple(await (await login.sql.execute(road)).fetchall()) for road in roads]


async def test_temporary_objects_stand_in_for_none_of_ours(scene):
    for login in (scene.eve, scene.mallory):
        before = await answered(login)
        await login.sql.execute(SHADOWS.format(victim=scene.ada.name))
        assert await answered(login) == before
        await login.sql.execute("select memory.remember('kept under shadows')")
        rows = await login.sql.execute(
            "select agent from memory.memories where content ~ 'shadows'"
        )
        assert await rows.fetchall() == [(login.name,)]
        with pytest.raises(psycopg.errors.NoDataFound):
            await login.sql.execute("select memory.forget(%s)", [scene.secret])


async def test_no_setting_of_a_session_changes_what_it_may_see(scene):
    before = [await answered(login) for login in scene.others]
    for setting in SETTINGS:
        for login, seen in zip(scene.others, before, strict=True):
            try:
                await login.sql.execute(f"set {setting}")
            except psycopg.errors.InsufficientPrivilege:
                continue
            assert await answered(login) == seen, setting
            await login.sql.execute("reset all")


async def test_a_session_makes_nothing_outside_its_temporary_schema(scene):
    for statement in (
        "create table public.t (x int)",
        "create table memory.t (x int)",
        "create function memory.recall(text) returns int language sql as 'select 1'",
        "create function public.recall(text) returns int language sql as 'select 1'",
        "create schema evil",
        "create extension hstore",
        "create event trigger e on ddl_command_end execute function pg_temp.f()",
        "create temp table t (space text references pgrecall.spaces)",
        "create temp view v as select * from pgrecall.memories",
        "create publication p for all tables",
        "create rule r as on select to memory.memories do instead nothing",
        "alter view memory.memories set (security_invoker = false)",
        "create or replace view memory.memories as select 1 as id",
        "alter function memory.recall owner to current_user",
        "drop view memory.memories",
    ):
        for login in scene.others:
            refused = await refusal(login, statement)
            assert refused in ("42501", "42883", "0A000", "42P07", "42809"), statement


async def test_a_session_reaches_no_table_of_ours_and_no_file(scene):
    for statement in (
        "select * from pgrecall.memories",
        "insert into pgrecall.agents (agent, admin) values ('x', true)",
        "copy pgrecall.sql_logins to stdout",
        "select 'pgrecall.memories'::regclass",
        "select pgrecall.principals()",
        "select pgrecall.store_embeddings('x', gen_random_uuid(), 1, 'm', '{}')",
        "select pgrecall.log_recalls('[]')",
        "select ts_stat('select lexemes from pgrecall.memories')",
        "select query_to_xml('select * from pgrecall.memories', true, true, '')",
        "select pg_read_file('/etc/passwd')",
        "select pg_ls_dir('.')",
        "select lo_import('/etc/passwd')",
        "copy memories to '/tmp/x'",
        "copy (select 1) to program 'id'",
        "load 'auto_explain'",
        "alter system set log_statement = 'all'",
        "set log_statement = 'all'",
        "set session_preload_libraries = 'x'",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'pgrecall'",
        "select pg_create_logical_replication_slot('s', 'test_decoding')",
    ):
        for login in scene.others:
            assert await refusal(login, statement) in ("42501", "0A000"), statement


async def test_a_session_locks_no_table_against_others(scene):
    for mode in ("row exclusive", "share", "exclusive", "access exclusive"):
        for view in ("memories", "memory_versions", "events", "agents", "spaces"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await scene.eve.sql.execute(f"begin; lock memory.{view} in {mode} mode")
            await scene.eve.sql.rollback()


async def test_advisory_locks_that_an_agent_holds_stop_no_maintenance(scene, pool):
    await scene.eve.sql.execute("select pg_advisory_lock(hashtext('pgrecall.maintain'))")
    await scene.eve.sql.execute("select pg_advisory_lock(hashtext('pgrecall'))")
    await scene.ada.sql.execute(
        "select remember('gone in a blink', ttl => interval '1 microsecond')"
    )

    assert (await pool.fetchrow("select * from pgrecall.maintain()"))["expired"] == 1


async def test_no_function_of_ours_waits_for_an_advisory_lock(pool):
    """Any agent could hold it for ever."""
    rows = await pool.fetch(
        "select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where n.nspname in ('pgrecall', 'memory') and p.prosrc ~ 'pg_\\w*advisory\\w*lock'"
    )

    assert rows == []


async def test_an_agent_that_holds_the_lock_of_migrations_is_named(scene, database):
    await scene.eve.sql.execute("select pg_advisory_lock(%s)", [migrate._LOCK])

    with pytest.raises(MigrationError, match=scene.eve.name) as caught:
        await migrate.migrate(database.dsn)
    assert "pg_terminate_backend" in str(caught.value.hint)
    await scene.eve.sql.execute("select pg_advisory_unlock_all()")
    assert await migrate.migrate(database.dsn) == []


async def test_notices_that_an_agent_forges_are_no_texts(scene, pool):
    for forged in ("", "hello", "A" * 44, "=" * 44, "AAAA" * 100, "é" * 44, "A" * 45):
        assert await pool.fetchval("select pgrecall.unsealed($1)", forged) is None
    assert await pool.fetchval("select pgrecall.unsealed(null)") is None
    for text in ("", "x", "1234567", "12345678", "ключ от склада 🔑", "y" * 5900):
        sealed = await pool.fetch(
            "select pgrecall.sealed($1) as notice from generate_series(1, 2)", text
        )
        assert len({row["notice"] for row in sealed}) == 2
        assert all(len(row["notice"]) < 8000 for row in sealed)
        for row in sealed:
            assert await pool.fetchval("select pgrecall.unsealed($1)", row["notice"]) == text


async def test_large_objects_and_objects_of_a_removed_agent_go_with_it(scene, pool):
    await scene.eve.sql.execute("select lo_from_bytea(0, 'hoarded')")
    rows = await scene.eve.sql.execute("select oid from pg_largeobject_metadata")
    ((oid,),) = await rows.fetchall()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await scene.mallory.sql.execute("select lo_get(%s)", [oid])

    await agents.remove(pool, scene.eve.name)

    assert await pool.fetchval("select count(*) from pg_largeobject_metadata") == 0


async def test_a_password_that_an_agent_gives_itself_ends_with_the_next_rotation(
    scene, pool, database
):
    await scene.eve.sql.execute("alter role current_user password 'mine'")
    secrets = await agents.rotate(pool, scene.eve.name)

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await psycopg.AsyncConnection.connect(database.dsn_for(scene.eve.name, "mine"))
    assert secrets.password is not None
    dsn = database.dsn_for(scene.eve.name, secrets.password)
    async with await psycopg.AsyncConnection.connect(dsn) as again:
        await again.execute("select 1")


async def test_a_deadline_that_an_agent_sets_is_its_own(scene, pool, store):
    await scene.eve.sql.execute("set pgrecall.deadline_ms = '0.000001'")
    await scene.eve.sql.execute("select * from recall('eve')")

    answer = await store.recall(scene.eve.agent, RecallQuery(query="eve was here"))
    assert [result.content for result in answer.results][:1] == ["eve was here"]
