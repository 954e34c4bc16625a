"""What held at a time, and what was known at one."""

from datetime import UTC, datetime, timedelta

from tests.store.conftest import contents

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


async def test_as_of_goes_by_the_time_of_writing_where_no_time_is_stated(remember, change, recall):
    first = await remember("Bastion listens on 22")
    second = await change(first, content="Bastion listens on 49222")
    before = first.created_at + (second.created_at - first.created_at) / 2

    assert contents(await recall("bastion", as_of=before)) == ["Bastion listens on 22"]
    assert contents(await recall("bastion", as_of=second.created_at)) == [
        "Bastion listens on 49222"
    ]
    assert contents(await recall("bastion", as_of=first.created_at - timedelta(days=1))) == []


async def test_as_of_goes_by_the_stated_time_and_the_later_version_wins(remember, change, recall):
    first = await remember("Bastion listens on 22", valid_from=MARCH)
    june, may = MARCH + timedelta(days=92), MARCH + timedelta(days=61)
    await change(first, content="Bastion listens on 49222", valid_from=june)

    async def on(day: datetime) -> list[str]:
        return contents(await recall("bastion", as_of=day))

    assert await on(MARCH - timedelta(days=1)) == []
    assert await on(june - timedelta(days=1)) == ["Bastion listens on 22"]
    assert await on(june) == ["Bastion listens on 49222"]

    # It was so since May already, as turns out: what was said of June gives way.
    await change(first, content="Bastion listens on 2222", valid_from=may)
    assert await on(may - timedelta(days=1)) == ["Bastion listens on 22"]
    assert await on(june) == ["Bastion listens on 2222"]

    # A correction holds for the same time.
    await change(first, content="Bastion listens on 2223")
    assert await on(june) == ["Bastion listens on 2223"]
    assert await on(may - timedelta(days=1)) == ["Bastion listens on 22"]


async def test_what_was_known_at_a_time_is_told_by_when_versions_stood(remember, change, as_agent):
    first = await remember("Bastion listens on 22", valid_from=MARCH)
    second = await change(first, content="Bastion listens on 49222")

    async with as_agent("ada") as connection:
        known = "select content from memory_versions where created_at <= $1 and (superseded_at > $1"
        known += " or superseded_at is null)"
        then = await connection.fetch(known, first.created_at)
        now = await connection.fetch(known, second.created_at)
    assert [row["content"] for row in then] == ["Bastion listens on 22"]
    assert [row["content"] for row in now] == ["Bastion listens on 49222"]


async def test_a_clock_that_jumps_back_ends_no_version_before_it_began(remember, change, pool):
    first = await remember("x")
    ahead = datetime.now(UTC) + timedelta(days=30)
    await pool.execute("update pgrecall.memories set created_at = $1", ahead)

    second = await change(first, content="y")

    row = await pool.fetchrow("select created_at, superseded_at from pgrecall.memories limit 1")
    assert row["created_at"] <= row["superseded_at"] == second.created_at
