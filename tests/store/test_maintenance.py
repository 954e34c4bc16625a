"""Maintenance archives what expired, keeps the recall log short, and knows how common words are."""

import asyncio
from datetime import timedelta

import pytest

from sql.errors import StoreError
from sql.maintenance import maintain
from tests.store.conftest import until_somebody_waits
from tests.store.history import superuser


async def test_what_has_expired_is_archived_once_and_logged(remember, pool):
    await remember("gone soon", ttl=timedelta(days=1))
    await remember("here to stay")
    await pool.execute(
        "update pgrecall.memories set expires_at = now() - interval '1 hour'"
        " where expires_at is not null"
    )

    await asyncio.gather(*(maintain(pool) for _ in range(4)))

    rows = await pool.fetch(
        "select content, archived_at = expires_at as swept from pgrecall.memories order by content"
    )
    assert [tuple(row) for row in rows] == [("gone soon", True), ("here to stay", None)]
    expired = await pool.fetchval("select count(*) from pgrecall.events where action = 'expire'")
    assert expired == 1


@pytest.fixture
async def expired(remember, pool):
    """A memory that expired an hour ago, and was not swept yet."""
    memory = await remember("gone soon", ttl=timedelta(days=1))
    await pool.execute("update pgrecall.memories set expires_at = now() - interval '1 hour'")
    return memory


async def swept(pool) -> tuple[int, int]:
    """How many memories are archived, and how many events say that one expired."""
    row = await pool.fetchrow(
        "select count(archived_at), (select count(*) from pgrecall.events where action = 'expire')"
        " from pgrecall.memories"
    )
    return tuple(row)


async def test_while_one_process_maintains_another_leaves_at_once(pool, expired):
    async with pool.acquire() as first:
        turn = first.transaction()
        await turn.start()
        assert len(await first.fetch("select * from pgrecall.maintain()")) == 1
        assert await pool.fetch("select * from pgrecall.maintain()") == []
        assert await swept(pool) == (0, 0)
        await turn.rollback()

    await maintain(pool)
    assert await swept(pool) == (1, 1)


async def test_maintenance_that_is_killed_has_done_nothing_and_the_next_does_it_once(
    pool, expired, database
):
    await pool.execute(
        "insert into pgrecall.recall_log values ('~ada', pgrecall.new_id(),"
        " now() - interval '31 days', 'ada', 'q', 'hybrid', 0, 0, 0, 1)"
    )
    async with pool.acquire() as holder, holder.transaction():
        # It archives before it comes to the recall log.
        await holder.execute("select from pgrecall.recall_log for update")
        killed = asyncio.create_task(maintain(pool))
        await until_somebody_waits(pool)
        async with superuser(database.superuser_dsn) as root:
            await root.execute(
                "select pg_terminate_backend(a.pid) from pg_stat_activity a"
                " where a.datname = current_database() and cardinality(pg_blocking_pids(a.pid)) > 0"
            )
        with pytest.raises(StoreError):
            await killed
    assert await swept(pool) == (0, 0)

    await maintain(pool)

    assert await swept(pool) == (1, 1)
    assert await pool.fetchval("select count(*) from pgrecall.recall_log") == 0


async def test_old_lines_of_the_recall_log_are_dropped(pool):
    for days in (1, 31):
        await pool.execute(
            "insert into pgrecall.recall_log values ('~ada', pgrecall.new_id(),"
            " now() - make_interval(days => $1), 'ada', 'q', 'hybrid', 0, 0, 0, 1)",
            days,
        )

    await maintain(pool)

    assert await pool.fetchval("select count(*) from pgrecall.recall_log") == 1


async def test_a_large_store_knows_how_common_words_and_readers_are(remember, recall, pool, ada):
    await pool.execute(
        """
        insert into pgrecall.memories (space, id, version, agent, kind, visibility, readers,
            content, tags, importance, confidence, pinned, metadata, created_at, identity_hash,
            salt)
        select 'infra', pgrecall.new_id(), 1, 'ada', 'semantic', 'shared',
            '{agent:ada,space:infra}',
            case when n % 2 = 0 then 'common ' else '' end || 'words ' || n,
            '{}', 0.5, 0.8, false, '{}', now(), int4send(n), ''
        from generate_series(1, 6000) n
        """
    )
    await pool.execute("analyze pgrecall.memories")
    await maintain(pool)

    shares = {
        (row["subject"], row["value"]): row["share"]
        for row in await pool.fetch("select * from pgrecall.shares")
    }
    assert abs(shares[("word", "common")] - 0.5) < 0.05
    assert shares[("reader", "space:infra")] == 1
    assert shares[("space", "infra")] == 1
    # A word too rare for the statistics is found all the same.
    assert [r.content for r in (await recall("common 4242", k=1)).results] == ["common words 4242"]
