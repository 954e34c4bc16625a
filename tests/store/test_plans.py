"""No recall reads the whole of a large store, whatever it asks: by the server's own counters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import asyncpg
import pytest

from sql import agents
from sql.maintenance import maintain
from sql.pool import create_pool
from tests.conftest import Database, as_superuser, create_database

ROWS = 50_000
# Of every hundred rows: one in `small`, a twentieth of one in `tiny`, the rest in `big`.
_FILL = """
with drawn as (
    select n, pgrecall.new_id() as id,
        case when n % 2000 = 0 then 'tiny' when n % 100 = 1 then 'small' else 'big' end as space,
        n % 10 = 2 as past, now() - make_interval(mins => n) as at
    from generate_series(1, $1::int) n
), told as (
    insert into pgrecall.memories (space, id, version, agent, kind, visibility, readers, title,
        content, entity, tags, importance, confidence, pinned, thread, metadata, created_at,
        superseded_at, identity_hash, salt)
    select d.space, d.id, 1, 'ada', case when n % 50 = 3 then 'procedural' else 'semantic' end,
        'shared', array['agent:ada', 'space:' || d.space], null,
        'customer word' || (n * 7919) % 997 || ' rare' || n % 9973 || ' note' || n,
        case when n % 100 = 4 then 'Entity ' || n % 1000 end,
        case when n % 200 = 5 then array['tagged'] else '{}' end,
        (n % 10) / 10.0, 0.8, false, 'thread' || n / 20, '{}', d.at,
        case when past then d.at + interval '1 minute' end, int4send(n), ''
    from drawn d
)
insert into pgrecall.embeddings (space, id, version, model, chunk, head, readers, embedding)
select d.space, d.id, 1, 'plans', 0, not past, array['agent:ada', 'space:' || d.space],
    array(select random() - 0.5 + d.n * 0 from generate_series(1, 8))::real[]::public.halfvec
from drawn d
"""
_SCANS = """
select s.relname, s.seq_scan from pg_stat_user_tables s
where s.schemaname = 'pgrecall' and s.relname in ('memories', 'embeddings', 'links', 'events')
"""
_POINT = "[0.1,0.2,-0.1,0.3,0.2,-0.3,0.1,0.2]"
_VECTOR = f"'plans {_POINT}'"
_numbers = count(1)


@pytest.fixture(scope="module")
async def large(server, template) -> AsyncIterator[asyncpg.Pool]:
    name = f"plans_{next(_numbers)}"
    made: Database = await create_database(server, name, template=template)
    pool = await create_pool(made.dsn, min_size=1, max_size=2)
    for agent, spaces in (("ada", ["big", "small", "tiny"]), ("eve", ["tiny"]), ("bob", ["small"])):
        await agents.add_agent(pool, agent, spaces=spaces)
    await pool.execute("insert into pgrecall.embedding_models values ('plans', 8, true)")
    await pool.execute(_FILL, ROWS, timeout=120)
    await pool.execute("select pgrecall.use_embedding_model('plans', 8)", timeout=120)
    await pool.execute("vacuum analyze pgrecall.memories, pgrecall.embeddings", timeout=120)
    await maintain(pool)
    yield pool
    await pool.close()
    await as_superuser(server, f"DROP DATABASE {name} WITH (FORCE)")


async def scans(connection: asyncpg.Connection) -> dict[str, int]:
    """Return how often each table was read from end to end, this session's statements included."""
    await connection.execute("select pg_stat_force_next_flush()")
    return dict(await connection.fetch(_SCANS))


@pytest.mark.parametrize("agent", ["ada", "bob", "eve"])
@pytest.mark.parametrize(
    "arguments",
    [
        "'customer word17 rare42'",
        "'customer'",
        "'nothing of this stands anywhere'",
        "'\"customer word17\" rare42'",
        "'word17', k => 100, skip => 100",
        "'word17', space => 'big'",
        "'word17', space => 'small'",
        "'word17', space => 'tiny'",
        "'word17', entity => 'entity 4'",
        "'word17', entity => 'entity 4', space => 'big'",
        "'word17', tags => '{tagged}'",
        "'word17', kinds => '{procedural}'",
        "'word17', since => now() - interval '1 day'",
        "'word17', until => now() - interval '30 days'",
        "'word17 since yesterday'",
        "'yesterday'",
        "'word17', as_of => now() - interval '10 days'",
        "'word17', include => '{superseded}'",
        "'word17', min_importance => 0.9",
        "'word17', mode => 'lexical'",
        "'word17', mode => 'vector'",
        "'note4242', mode => 'exact'",
        "'word17', weights => '{1,1,1,1}'",
    ],
)
async def test_no_recall_reads_a_whole_table(large, agent, arguments):
    async with large.acquire() as connection:
        before = await scans(connection)
        async with connection.transaction():
            await connection.execute("select set_config('pgrecall.agent', $1, true)", agent)
            await connection.fetch(
                f"select * from memory.recall({arguments}, query_embedding => {_VECTOR})"
            )
        assert await scans(connection) == before


@pytest.mark.parametrize(
    ("arguments", "versions"),
    [
        ("as_of => now() - interval '12 hours'", "created_at <= now() - interval '12 hours' and"
         " coalesce(superseded_at, 'infinity') > now() - interval '12 hours'"),
        ("include => '{superseded}'", "true"),
        ("kinds => '{procedural}'", "superseded_at is null and kind = 'procedural'"),
    ],
)  # fmt: skip
async def test_the_nearest_of_a_large_store_are_the_nearest_of_all(large, arguments, versions):
    nearest = f"""
        select m.id from pgrecall.memories m join pgrecall.embeddings e using (space, id, version)
        where {versions} order by e.embedding <=> '{_POINT}'::halfvec, m.id limit 10
    """
    async with large.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        rows = await connection.fetch(
            "select id from memory.recall('word17', mode => 'vector',"
            f" {arguments}, query_embedding => {_VECTOR})"
        )
        wanted = await connection.fetch(nearest)

    assert len({row["id"] for row in rows} & {row["id"] for row in wanted}) >= 9


async def cut(pool: asyncpg.Pool, arguments: str, deadline: str) -> tuple[int, str]:
    """Return how many rows a recall under a deadline has, and what it says that it left out."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        await connection.execute(f"set local pgrecall.deadline_ms = {deadline}")
        rows = await connection.fetch(
            f"select * from memory.recall({arguments}, query_embedding => {_VECTOR})"
        )
        return len(rows), await connection.fetchval("select current_setting('pgrecall.degraded')")


@pytest.mark.parametrize(
    ("arguments", "rows", "left_out"),
    [
        ("'note1234', mode => 'exact'", (1, 10), "the older memories"),
        ("'note49990', mode => 'exact'", (0, 1), "the older memories"),
        (
            "'word17', mode => 'vector', as_of => now() - interval '12 hours'",
            (10, 10),
            "the past versions' vectors",
        ),
        (
            "'word17', mode => 'vector', include => '{superseded}'",
            (10, 10),
            "the past versions' vectors",
        ),
    ],
)
async def test_a_deadline_ends_what_takes_as_long_as_the_store_is_large(
    large, arguments, rows, left_out
):
    cut_short, whole = rows

    assert await cut(large, arguments, "0.001") == (
        cut_short,
        f"the deadline passed before {left_out}",
    )
    assert await cut(large, arguments, "0") == (whole, "")


async def test_slices_find_what_one_look_at_all_finds(large):
    everything = "select id from pgrecall.memories where superseded_at is null and content like $1"
    async with large.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        for text in ("note4999", "word17 ", "rare42"):
            rows = await connection.fetch(
                f"select id from memory.recall('{text}', k => 1000, mode => 'exact')"
            )
            wanted = await connection.fetch(everything, f"%{text}%")
            assert 1 < len(wanted) < 1000
            assert {row["id"] for row in rows} == {row["id"] for row in wanted}


async def test_an_agent_verifies_its_own_chains_without_reading_those_of_others(large):
    await large.execute(
        "insert into pgrecall.events (space, agent, sequence, at, action, previous_hash, hash)"
        " select 'big', 'ada', 1000 + n, now(), 'noted', '', '' from generate_series(1, 20000) n"
    )
    await large.execute("vacuum analyze pgrecall.events")
    async with large.acquire() as connection:
        before = await scans(connection)
        async with connection.transaction():
            await connection.execute("set local pgrecall.agent = 'bob'")
            rows = await connection.fetch("select * from memory.verify()")
        after = await scans(connection)

    assert {(row["space"], row["valid"]) for row in rows} == {("small", True), ("~bob", True)}
    assert after == before
