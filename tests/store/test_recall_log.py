"""Every recall leaves a line in the recall log, whoever asks and by whatever road."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from sql import agents
from sql.recall_log import collect_recalls
from sql.records import NewMemory, RecallQuery

LINE = "select query, mode, results, lexical_hits, vector_hits, degraded from memory.recall_log"


@pytest.fixture
async def session(pool, database, store, unique_name) -> AsyncIterator[asyncpg.Connection]:
    """A SQL login of an agent that remembers how the bastion is reached."""
    name = unique_name("ada")
    secrets = await agents.add_agent(pool, name, sql_login=True)
    await store.remember(
        await agents.find_agent(pool, name), NewMemory(content="The bastion listens on 49222")
    )
    connection = await asyncpg.connect(database.dsn_for(name, secrets.password))
    yield connection
    await connection.close()


async def logged(pool: asyncpg.Pool) -> list[str]:
    await collect_recalls(pool)
    rows = await pool.fetch("select query from pgrecall.recall_log order by at, id")
    return [row["query"] for row in rows]


async def test_a_recall_over_a_front_is_logged_once_and_counts_as_use(pool, store, remember, ada):
    await remember("The bastion listens on 49222")
    await asyncio.gather(*(store.recall(ada, RecallQuery(query="bastion")) for _ in range(3)))

    assert await collect_recalls(pool) == 3
    rows = await pool.fetch("select agent, space, query, mode, results from pgrecall.recall_log")
    assert [tuple(row) for row in rows] == [("ada", "~ada", "bastion", "hybrid", 1)] * 3
    assert await pool.fetchval("select uses from pgrecall.usage") == 3
    assert await collect_recalls(pool) == 0


async def test_a_recall_by_sql_says_what_each_leg_found_and_what_was_missing(pool, session):
    await session.fetch("select * from recall('bastion', k => 3)")
    await session.fetch("select * from recall('zebra')")
    await session.fetch("select * from recall('49222', mode => 'exact', space => 'nowhere')")
    await collect_recalls(pool)

    assert [tuple(row) for row in await session.fetch(f"{LINE} order by at")] == [
        ("bastion", "hybrid", 1, 1, 0, "no query embedding"),
        ("zebra", "hybrid", 0, 0, 0, "no query embedding"),
        ("49222", "exact", 0, 0, 0, None),
    ]
    assert await session.fetchval("select bool_and(took_ms > 0) from recall_log")


@pytest.mark.parametrize(
    "statements",
    [
        ["explain analyze select * from recall('bastion')"],
        ["prepare asked as select * from recall($1)", "execute asked('bastion')"],
        ["begin isolation level serializable", "select * from recall('bastion')", "commit"],
        [
            "begin",
            "declare found cursor for select * from recall('bastion')",
            "fetch 1 from found",
            "fetch all from found",
            "commit",
        ],
        [
            "begin",
            "savepoint before",
            "select * from recall('lost')",
            "rollback to before",
            "select * from recall('bastion')",
            "commit",
        ],
        ["with found as (select id from recall('bastion')) select count(*) from found"],
        ["create temporary table kept as select * from recall('bastion')"],
    ],
)
async def test_however_a_statement_recalls_it_leaves_one_line(pool, session, statements):
    for statement in statements:
        await session.execute(statement)

    assert await logged(pool) == ["bastion"]


@pytest.mark.parametrize(
    "begin", ["begin read only", "begin isolation level serializable, read only"]
)
async def test_where_nothing_may_be_written_recall_answers_and_leaves_no_line(pool, session, begin):
    await session.execute(begin)
    assert await session.fetchval("select count(*) from recall('bastion')") == 1
    await session.execute("commit")

    assert await logged(pool) == []


async def test_a_recall_of_a_transaction_that_was_rolled_back_leaves_no_line(pool, session):
    await session.execute("begin; select * from recall('bastion'); rollback")

    assert await logged(pool) == []


async def test_a_recall_for_each_row_of_a_table_leaves_a_hundred_lines(pool, session):
    await session.fetch(
        "select r.id from generate_series(1, 150) n, lateral recall('bastion ' || n, k => 1) r"
    )
    assert len(await logged(pool)) == 100

    await session.fetch("select * from recall('the next transaction')")
    assert len(await logged(pool)) == 101


@pytest.mark.parametrize("told", ["", "many", "-5", "99999999999"])
async def test_no_setting_of_a_session_breaks_its_recalls(pool, session, told):
    await session.execute("select set_config('pgrecall.recalls_spooled', $1, false)", told)
    await session.execute("select set_config('pgrecall.recall_began', 'never', false)")

    assert len(await session.fetch("select * from recall('bastion')")) == 1
    assert await logged(pool) == ["bastion"]


async def test_a_long_query_is_cut_in_the_log(pool, session):
    await session.fetch("select * from recall($1)", "bastion " * 1000)

    assert [len(query) for query in await logged(pool)] == [2000]


async def test_agents_see_their_own_lines_and_nobody_sees_the_spool(pool, session, store, ada):
    await store.recall(ada, RecallQuery(query="something of ada's"))
    await session.fetch("select * from recall('bastion')")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await session.fetch("select * from pgrecall.recall_spool")
    await collect_recalls(pool)

    assert [row["query"] for row in await session.fetch(LINE)] == ["bastion"]


async def test_many_collectors_at_once_log_each_recall_once(pool, store, ada):
    for number in range(20):
        await store.recall(ada, RecallQuery(query=f"question {number}"))
    moved = await asyncio.gather(*(collect_recalls(pool) for _ in range(4)))

    assert sum(moved) == 20
    assert len(set(await logged(pool))) == 20


async def test_the_spool_needs_no_disk(pool):
    persistence = "select relpersistence::text from pg_class where oid = $1::regclass"

    assert await pool.fetchval(persistence, "pgrecall.recall_spool") == "u"
