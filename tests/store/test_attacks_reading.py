"""What an SQL login can't read it can't learn: from errors, plans, notices, statistics, scores."""

from __future__ import annotations

import json
import re
from itertools import product

import psycopg
import pytest

from tests.store.conftest import SECRET, Login, Scene

# Functions that tell whoever asks what they were called with.
LEAKY = """
create function pg_temp.told(value text) returns boolean language plpgsql cost 0.0000001 as
    $$begin raise notice '%', value; return true; end$$;
create function pg_temp.told(a text, b text) returns boolean language plpgsql cost 0.0000001 as
    $$begin raise notice '%', a; return true; end$$;
create operator pg_temp.~~~ (leftarg = text, rightarg = text, function = pg_temp.told);
create type pg_temp.loud as (value text);
create function pg_temp.shout(text) returns pg_temp.loud language plpgsql as
    $$begin raise notice '%', $1; return row($1)::pg_temp.loud; end$$;
create cast (text as pg_temp.loud) with function pg_temp.shout(text);
create aggregate pg_temp.gathered(text) (sfunc = textcat, stype = text);
"""
LOOKS = (
    "select count(*) from {view} where pg_temp.told(content)",
    "select count(*) from {view} where pg_temp.told(content) and id = '{secret}'",
    "select count(*) from {view} where content operator(pg_temp.~~~) 'x'",
    "select count(*) from {view} where (content::pg_temp.loud).value <> ''",
    "select count(*) from {view} where not exists (select where not pg_temp.told(content))",
    "select count(*) from {view} m join {view} n on pg_temp.told(m.content, n.content)",
    "select pg_temp.gathered(content) from {view}",
    "select count(*) from {view} where content::int = 1 or pg_temp.told(content)",
    "select count(*) from {view} where 1 / (length(content) - {length}) > 0 or true",
    "select 1 from {view} where case when content like '%4711%' then content::int > 0 end",
    "select count(*) from {view} where xpath('//x', content::xml) is null",
    "select content from {view} order by pg_temp.told(content)",
    "select string_agg(content, '|') filter (where pg_temp.told(content)) from {view}",
    "delete from memory.memories where pg_temp.told(content) and content like '%4711%'",
    "copy (select content from {view} where pg_temp.told(content)) to stdout",
    "declare held cursor with hold for select * from {view} where pg_temp.told(content)",
    "select to_json(m) from {view} m where pg_temp.told(to_json(m)::text)",
    "table {view}",
    "select * from memory.related('{secret}')",
    "select * from memory.history('{secret}')",
    "select memory.link('{secret}', '{secret}', 'same')",
    "select memory.forget('{secret}')",
)
PLANNERS = (
    "set enable_seqscan = off",
    "set enable_indexscan = off; set enable_bitmapscan = off",
    "set enable_bitmapscan = off; set enable_seqscan = off",
)


async def everything_told(login: Login, statement: str) -> str:
    """All that the server sends for a statement: rows, copied lines, notices, an error's fields."""
    heard: list[str] = []

    def hear(diagnostic: psycopg.errors.Diagnostic) -> None:
        heard.append(f"{diagnostic.message_primary} {diagnostic.message_detail}")

    login.sql.add_notice_handler(hear)
    try:
        async with login.sql.transaction(force_rollback=True), login.sql.cursor() as cursor:
            if statement.startswith("copy"):
                async with cursor.copy(statement) as copy:
                    heard += [bytes(line).decode() async for line in copy]
            else:
                await cursor.execute(statement)
                heard += [str(row) for row in await cursor.fetchall()] if cursor.description else []
                if statement.startswith("declare"):
                    await cursor.execute("fetch all from held")
                    heard += [str(row) for row in await cursor.fetchall()]
    except psycopg.Error as error:
        shown = error.diag
        heard += [
            str(error),
            str(shown.message_detail),
            str(shown.message_hint),
            str(shown.context),
        ]
    finally:
        login.sql.remove_notice_handler(hear)
    return "\n".join(heard)


async def test_no_function_cast_or_error_in_a_query_tells_anothers_row(scene):
    written = 0
    for login in (scene.eve, scene.mallory):
        await login.sql.execute(LEAKY)
        for planner in PLANNERS:
            await login.sql.execute(planner)
            for look in LOOKS:
                for view in ("memory.memories", "memory.memory_versions"):
                    statement = look.format(view=view, secret=scene.secret, length=len(SECRET))
                    told = await everything_told(login, statement)
                    assert "4711" not in told.replace(statement, ""), statement
                    assert "division by zero" not in told, statement
                    written += "eve was here" in told
            await login.sql.execute("reset all")
    assert written > 20, "the statements tell nothing even of one's own rows: they test nothing"


async def test_what_may_not_be_seen_is_refused_in_the_words_for_what_is_not_there(scene):
    for function in ("forget('{}')", "link('{}', gen_random_uuid(), 'x')", "related('{}')"):
        said = []
        for identity in (scene.secret, "01a00000-0000-7000-8000-000000000000"):
            with pytest.raises(psycopg.Error) as caught:
                await scene.eve.sql.execute(f"select memory.{function.format(identity)}")
            said.append((caught.value.sqlstate, str(caught.value).replace(str(identity), "ID")))
        assert said[0] == said[1]


async def test_a_key_or_words_that_anothers_private_memory_has_are_free_for_everyone(scene):
    """Every way to meet a unique index: the same words, key, entity, thread, and new versions."""
    same = "space => %(space)s, key => 'alarm', entity => 'warehouse', thread => 'locks'"
    shared = {"space": scene.space, "words": "ada says this aloud", "secret": SECRET}
    await scene.ada.sql.execute(
        f"select remember(%(words)s, {same}, visibility => 'shared')", shared
    )
    for visibility in ("private", "shared", "public"):
        for words in ("something else", SECRET):
            # Eve may refine what ada shared under the key, whatever ada keeps to herself under it.
            await scene.eve.sql.execute(
                f"select remember(%(words)s, {same}, visibility => %(visibility)s)",
                {**shared, "words": words, "visibility": visibility},
            )
    rows = await scene.ada.sql.execute(
        "select content, visibility from memories where agent = %s", [scene.ada.name]
    )
    assert sorted(await rows.fetchall()) == [(SECRET, "private"), (SECRET, "public")]


async def test_repeating_ones_own_private_words_aloud_shares_them(scene):
    statement = "select remember(%s, space => %s, visibility => %s)"
    for visibility in ("private", "shared"):
        await scene.ada.sql.execute(statement, ["said twice", scene.space, visibility])
    rows = await scene.eve.sql.execute("select content from memories where content = 'said twice'")
    assert await rows.fetchall() == [("said twice",)]


@pytest.fixture
async def crowd(scene: Scene, pool) -> Scene:
    """Many private memories of ada's, some much like another, and fresh statistics of them."""
    await pool.execute(
        """
        insert into pgrecall.memories (
            space, id, version, agent, kind, visibility, readers, content, title, entity, tags,
            importance, confidence, pinned, key, thread, source, metadata, created_at,
            identity_hash, salt)
        select $2, pgrecall.new_id(), 1, $1, 'semantic', 'private', array['agent:' || $1],
            case when n % 2 = 0 then 'merger' else 'note' || n end,
            case when n % 2 = 0 then 'merger' end,
            case when n % 2 = 0 then 'Merger' else 'E' || n end, '{}', 0.5, 0.8, false, 'key' || n,
            case when n % 2 = 0 then 'merger' else 't' || n end,
            case when n % 2 = 0 then 'merger' end, '{}', now(), int4send(n), ''
        from generate_series(1, 3000) n
        """,
        scene.ada.name,
        scene.space,
    )
    for number in range(40):
        await pool.execute(
            "insert into pgrecall.recall_log select '~' || $1, gen_random_uuid(), now(), $1, $2,"
            " 'hybrid', 0, 0, 0, 1, $2",
            scene.ada.name,
            "merger" if number % 2 else f"query {number}",
        )
    await pool.execute("analyze pgrecall.memories, pgrecall.recall_log")
    return scene


def every_value(plan: object, name: str) -> list[object]:
    if isinstance(plan, dict):
        own = [plan[name]] if name in plan else []
        return own + [value for part in plan.values() for value in every_value(part, name)]
    if isinstance(plan, list):
        return [value for part in plan for value in every_value(part, name)]
    return []


TELLING = ("Plan Rows", "Node Type")
# Columns that hold names and choices, not words: their statistics are no secret.
NAMES = {
    *("space", "agent", "owner", "granted_by", "created_by", "written_by"),
    *("kind", "visibility", "action", "mode", "role", "permission"),
}


async def text_columns(login: Login) -> list[tuple[str, str]]:
    rows = await login.sql.execute(
        "select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid"
        " where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v' and a.attnum > 0"
        " and a.atttypid = 'text'::regtype and has_table_privilege(c.oid, 'select') order by 1, 2"
    )
    return [row for row in await rows.fetchall() if row[1] not in NAMES]


async def test_no_plan_tells_what_words_others_have(crowd):
    """How many rows are expected depends on no words, and no words are compared ahead of a policy.

    Else an index would tell, by the rows removed behind it, that it holds just this key.
    """
    columns = await text_columns(crowd.mallory)
    assert ("memories", "content") in columns
    assert len(columns) > 15
    questions = ("{0} = '{1}'", "{0} < '{1}'", "lower({0}) < '{1}'", "{0} in ('{1}', 'y')")
    for view, column in columns:
        for planner, question in product(("reset all", *PLANNERS), questions):
            await crowd.mallory.sql.execute(planner)
            asked = f"select from memory.{view} where {question}"
            if view in ("memories", "memory_versions"):
                asked += f" and space = '{crowd.space}'"
            told = set()
            for value in ("merger", "key7", "zzz", "Merger"):
                plan = await explained(crowd.mallory, asked.format(column, value))
                told.add(str([every_value(plan, name) for name in TELLING]))
                conditions = [*every_value(plan, "Filter"), *every_value(plan, "Index Cond")]
                assert not re.search(rf"(?<!')\b{column}\b(?! \|\|)", str(conditions)), conditions
            assert len(told) == 1, (view, column, planner, question, told)


async def explained(login: Login, query: str) -> object:
    answer = await login.sql.execute(
        f"explain (analyze, timing off, costs on, buffers off, format json) {query}"
    )
    ((plan,),) = await answer.fetchall()
    return json.loads(plan) if isinstance(plan, str) else plan


async def test_the_plan_of_recall_is_a_function_call_and_nothing_else(scene):
    plan = await explained(scene.eve, "select * from recall('alarm code')")

    assert every_value(plan, "Node Type") == ["Function Scan"]


async def test_statistics_and_other_sessions_show_nothing(scene, pool):
    await pool.execute("analyze")
    async with pool.acquire() as connection:
        await connection.fetch("select 'the service asks for 4711'")
        for login in scene.others:
            for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
                rows = await login.sql.execute(
                    f"select count(*) from {view} where schemaname in ('pgrecall', 'memory')"
                )
                assert await rows.fetchone() == (0,)
            for view in ("pg_stat_activity", "pg_prepared_statements", "pg_cursors"):
                rows = await login.sql.execute(f"select * from {view}")
                assert "4711" not in str(await rows.fetchall())
            for hidden in ("pg_statistic", "pg_statistic_ext_data", "pg_authid"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    await login.sql.execute(f"select * from {hidden}")


async def test_no_notice_of_ours_carries_anothers_words(scene, pool):
    """Whoever may connect may listen, on any channel."""
    await pool.execute("select pgrecall.use_embedding_model('test-hash', 3)")
    channels = await pool.fetch(
        r"select distinct m[1] as channel from pg_proc p"
        r" join pg_namespace n on n.oid = p.pronamespace,"
        r" regexp_matches(p.prosrc, 'notify\(''(\w+)''', 'g') m"
        r" where n.nspname in ('pgrecall', 'memory')"
    )
    assert len(channels) >= 2
    for row in channels:
        await scene.mallory.sql.execute(f"listen {row['channel']}")

    await scene.ada.sql.execute("select * from recall('is the alarm code 4711')")
    await scene.ada.sql.execute("select remember('the code is now 4712')")

    heard = [notice async for notice in scene.mallory.sql.notifies(timeout=0.2)]
    wanted = [notice.payload for notice in heard if notice.channel == "pgrecall_wanted"]
    assert wanted
    assert all("471" not in notice.payload for notice in heard)
    assert (
        await pool.fetchval("select pgrecall.unsealed($1)", wanted[0]) == "is the alarm code 4711"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await scene.mallory.sql.execute("select pgrecall.unsealed('x')")


async def test_no_score_tells_whether_a_word_stands_in_anothers_memory(scene):
    """Two memories of one's own and the word in question: its weight shows in their distance."""
    await scene.mallory.sql.execute("select remember('orchard 4711'), remember('orchard 4713')")
    scores = []
    for word in ("4711", "4713"):
        rows = await scene.mallory.sql.execute(
            "select score, lexical_rank from recall(%s, mode => 'lexical')", [f"orchard {word}"]
        )
        scores.append(await rows.fetchall())

    assert scores[0] == scores[1]


async def test_no_score_tells_how_many_memories_are_about_an_entity(scene):
    me = scene.mallory.sql
    await me.execute("select alias('warehouse', 'wh1'), alias('depot', 'wh2')")
    await me.execute("select remember('wh1 gate orchard'), remember('wh2 gate orchard')")
    scores = []
    for name in ("wh1", "wh2"):
        rows = await me.execute(
            "select score from recall(%s, mode => 'lexical')", [f"{name} orchard gate"]
        )
        scores.append(await rows.fetchall())

    assert scores[0] == scores[1]
