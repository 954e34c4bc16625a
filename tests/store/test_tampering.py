"""Whoever changes the log, or a memory past it, is found with the place: in SQL and offline."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import pytest

from pgrecall.log_file import verify_lines
from sql.acting import acting
from sql.agents import find_agent
from sql.events import chain_heads, verify_everything
from tests.conftest import Database
from tests.store.history import ADA, SPACE, export, offline, online, superuser, write_history

LAST = len(ADA)
CHAIN = "space = 'infra' and agent = 'ada'"
HASHED = (
    "pgrecall.event_hash(previous_hash, space, agent, sequence, at, action, id, version, payload,"
    " commitment)"
)


@dataclass(frozen=True)
class Tampering:
    """What somebody does as a superuser, and what is then said of ada's chain in the space."""

    statements: tuple[str, ...]
    first_bad: int | None
    reason: str
    # A file of the log holds no memory, so that only the database can tell.
    in_memories: bool = False


def events(change: str, first_bad: int, reason: str) -> Tampering:
    return Tampering((change,), first_bad, reason)


def memory(change: str, first_bad: int | None, reason: str) -> Tampering:
    return Tampering((change,), first_bad, reason, in_memories=True)


CHANGED = "event 5 was changed"
IN_LOG = {
    **{
        f"an event's {column} is edited": events(
            f"update pgrecall.events set {column} = {value} where {CHAIN} and sequence = 5",
            5,
            CHANGED,
        )
        for column, value in {
            "payload": """'{"role": "admin"}'""",
            "at": "at - interval '1 microsecond'",
            "action": "'revise'",
            "id": "gen_random_uuid()",
            "version": "version + 1",
            "commitment": "sha256('')",
            "hash": "sha256('')",
            "previous_hash": "sha256('')",
        }.items()
    },
    "an event's time is forever": events(
        f"update pgrecall.events set at = 'infinity' where {CHAIN} and sequence = 5", 5, CHANGED
    ),
    "an event's id and version are taken away": events(
        f"update pgrecall.events set id = null, version = null, commitment = null"
        f" where {CHAIN} and sequence = 5",
        5,
        CHANGED,
    ),
    "an event is deleted": events(
        f"delete from pgrecall.events where {CHAIN} and sequence = 5", 5, "event 5 is missing"
    ),
    "the beginning is deleted": events(
        f"delete from pgrecall.events where {CHAIN} and sequence <= 3",
        1,
        "events 1 to 3 are missing",
    ),
    "a deleted event's place is closed up": Tampering(
        (
            f"delete from pgrecall.events where {CHAIN} and sequence = 5",
            f"update pgrecall.events set sequence = sequence - 1000 where {CHAIN} and sequence > 5",
            f"update pgrecall.events set sequence = sequence + 999 where {CHAIN} and sequence < 0",
            f"update pgrecall.chain_heads set sequence = sequence - 1 where {CHAIN}",
        ),
        5,
        CHANGED,
    ),
    "two events change places": Tampering(
        (
            f"update pgrecall.events set sequence = -1 where {CHAIN} and sequence = 5",
            f"update pgrecall.events set sequence = 5 where {CHAIN} and sequence = 7",
            f"update pgrecall.events set sequence = 7 where {CHAIN} and sequence = -1",
        ),
        5,
        CHANGED,
    ),
    "an event is put between": Tampering(
        (
            f"update pgrecall.events set sequence = 1000 + sequence where {CHAIN} and sequence > 4",
            f"update pgrecall.events set sequence = sequence - 999 where {CHAIN} and sequence > 99",
            "insert into pgrecall.events select space, agent, 5, at, 'alias', null, null, '{}',"
            f" null, hash, '' from pgrecall.events where {CHAIN} and sequence = 4",
            f"update pgrecall.events set hash = {HASHED} where {CHAIN} and sequence = 5",
            f"update pgrecall.chain_heads set sequence = sequence + 1 where {CHAIN}",
        ),
        6,
        "event 6 was changed",
    ),
    "an event is put before the first": events(
        "insert into pgrecall.events select space, agent, 0, at, 'alias', null, null, '{}', null,"
        f" '', sha256('') from pgrecall.events where {CHAIN} and sequence = 1",
        0,
        "before the beginning",
    ),
    "an event is put at the end": Tampering(
        (
            f"insert into pgrecall.events select space, agent, {LAST + 1}, at, 'alias', null, null,"
            f" '{{}}', null, hash, '' from pgrecall.events where {CHAIN} and sequence = {LAST}",
            f"update pgrecall.events set hash = {HASHED} where {CHAIN} and sequence = {LAST + 1}",
        ),
        LAST + 1,
        f"head is event {LAST}, and more follow it",
    ),
    "an event is forged with a hash of its own": Tampering(
        (
            f"update pgrecall.events set at = at - interval '1 day' where {CHAIN} and sequence = 5",
            f"update pgrecall.events set hash = {HASHED} where {CHAIN} and sequence = 5",
        ),
        5,
        "event 5 was replaced",
    ),
    "the first event is forged with a beginning of its own": Tampering(
        (
            f"update pgrecall.events set previous_hash = '' where {CHAIN} and sequence = 1",
            f"update pgrecall.events set hash = {HASHED} where {CHAIN} and sequence = 1",
        ),
        1,
        "event 1 was replaced",
    ),
    "the last event is forged": Tampering(
        (
            f"update pgrecall.events set payload = '[]' where {CHAIN} and sequence = {LAST}",
            f"update pgrecall.events set hash = {HASHED} where {CHAIN} and sequence = {LAST}",
        ),
        LAST,
        f"head is not event {LAST} as it stands",
    ),
    "the end is cut off": events(
        f"delete from pgrecall.events where {CHAIN} and sequence > {LAST - 3}",
        LAST - 2,
        f"events {LAST - 2} to {LAST} are missing",
    ),
    "every event is deleted": events(
        f"delete from pgrecall.events where {CHAIN}", 1, f"events 1 to {LAST} are missing"
    ),
    "two chains swap an event": Tampering(
        (
            "update pgrecall.events set agent = 'x' where space = 'infra' and agent = 'bob'"
            " and sequence = 5",
            f"update pgrecall.events set agent = 'bob' where {CHAIN} and sequence = 5",
            "update pgrecall.events set agent = 'ada' where space = 'infra' and agent = 'x'",
        ),
        5,
        CHANGED,
    ),
    "the head is moved on": events(
        f"update pgrecall.chain_heads set sequence = sequence + 1 where {CHAIN}",
        LAST + 1,
        f"event {LAST + 1} is missing",
    ),
    "the head is moved back": events(
        f"update pgrecall.chain_heads set sequence = sequence - 1 where {CHAIN}",
        LAST,
        f"head is event {LAST - 1}, and more follow it",
    ),
    "the head's hash is edited": events(
        f"update pgrecall.chain_heads set hash = sha256('') where {CHAIN}",
        LAST,
        "head is not event",
    ),
    "the head is deleted": events(
        f"delete from pgrecall.chain_heads where {CHAIN}", LAST + 1, "the chain has no head"
    ),
}
BASTION = "key = 'bastion' and version = 1"
IN_MEMORIES = {
    **{
        f"a memory's {column} is edited": memory(
            f"update pgrecall.memories set {column} = {value} where {BASTION}",
            3,
            "version 1 of memory .* was changed: event 3 committed to another",
        )
        for column, value in {
            "content": "'Bastion listens on 23'",
            "title": "null",
            "entity": "'bastion'",
            "tags": "'{prod}'",
            "kind": "'episodic'",
            "visibility": "'public'",
            "key": "'port'",
            "thread": "'t'",
            "source": "'https://example.org'",
            "metadata": """'{"a": 1}'""",
            "agent": "'bob'",
            "importance": "0.6",
            "confidence": "0.9",
            "pinned": "true",
            "event_at": "'2020-01-01'",
            "valid_from": "'infinity'",
            "created_at": "created_at - interval '1 year'",
            "session": "gen_random_uuid()",
            "valid_until": "now()",
            "expires_at": "now()",
            "written_by": "'bob'",
            "derived_from": "array[gen_random_uuid()]",
            "salt": "''",
        }.items()
    },
    "the newest version is edited": memory(
        "update pgrecall.memories set content = 'Bastion listens on 23'"
        " where key = 'bastion' and version = 2",
        6,
        "version 2 of memory .* was changed",
    ),
    "a version is taken away": memory(
        f"delete from pgrecall.memories where {BASTION}", 3, "is gone, and no event erased it"
    ),
    "a memory is written past the log": memory(
        "insert into pgrecall.memories (space, id, version, agent, kind, visibility, readers,"
        " content, tags, importance, confidence, pinned, metadata, created_at, identity_hash, salt)"
        " select space, gen_random_uuid(), version, agent, kind, visibility, readers, 'forged',"
        " tags, importance, confidence, pinned, metadata, created_at, sha256('x'), salt"
        f" from pgrecall.memories where {BASTION}",
        None,
        "version 1 of memory .* stands in no event",
    ),
}


@pytest.fixture
async def history(pool: asyncpg.Pool) -> None:
    await write_history(pool)


@pytest.fixture
async def root(history: None, database: Database) -> AsyncIterator[asyncpg.Connection]:
    """A superuser's connection to the database with the history in it."""
    async with superuser(database.superuser_dsn) as connection:
        yield connection


async def test_an_honest_history_is_valid_in_sql_and_from_an_export(pool, history):
    actions = await pool.fetch(
        f"select action from pgrecall.events where {CHAIN} order by sequence"
    )
    assert tuple(row["action"] for row in actions) == ADA

    assert await online(pool, await chain_heads(pool)) == []
    assert offline(await export(pool), await chain_heads(pool)) == []
    verdicts = {(v.space, v.agent): v.events for v in verify_lines(await export(pool))}
    assert verdicts[SPACE, "ada"] == LAST
    assert verdicts == {
        (v.space, v.agent): v.events for v in (await verify_everything(pool)).chains
    }


@pytest.mark.parametrize("name", [*IN_LOG, *IN_MEMORIES])
async def test_tampering_is_found_with_its_place_and_a_reason(name, pool, root):
    tampering = (IN_LOG | IN_MEMORIES)[name]
    for statement in tampering.statements:
        assert not (await root.execute(statement)).endswith(" 0"), statement

    found = {(chain.space, chain.agent): chain for chain in await online(pool)}
    chain = found[SPACE, "ada"]
    assert chain.first_bad == tampering.first_bad
    assert re.search(tampering.reason, chain.reason)
    lines = await export(pool)
    if tampering.in_memories:
        assert offline(lines) == []
        return
    seen = {(one.space, one.agent): one for one in offline(lines)}
    alike = {(one.space, one.agent): (one.first_bad, one.reason) for one in found.values()}
    assert {key: (one.first_bad, one.reason) for key, one in seen.items()} == alike


REWRITTEN = f"""
do $$
declare
    one pgrecall.events;
    before bytea := sha256('');
begin
    update pgrecall.events set at = at - interval '1 hour' where {CHAIN} and sequence = 5;
    for one in select * from pgrecall.events where {CHAIN} order by sequence loop
        one.previous_hash := before;
        before := pgrecall.event_hash(before, one.space, one.agent, one.sequence, one.at,
            one.action, one.id, one.version, one.payload, one.commitment);
        update pgrecall.events set previous_hash = one.previous_hash, hash = before
        where {CHAIN} and sequence = one.sequence;
        update pgrecall.chain_heads set previous_hash = one.previous_hash, hash = before
        where {CHAIN} and sequence = one.sequence;
    end loop;
end $$"""
# Done so well that the database alone can't tell.
PERFECT = {
    "the end is cut off, and the head with it": (
        f"delete from pgrecall.events where {CHAIN} and sequence = {LAST};"
        f"delete from pgrecall.memories where content = 'The last one';"
        f"update pgrecall.chain_heads h set sequence = e.sequence, hash = e.hash,"
        f" previous_hash = e.previous_hash from pgrecall.events e"
        f" where h.space = e.space and h.agent = e.agent and e.sequence = {LAST - 1}"
        f" and e.space = 'infra' and e.agent = 'ada'",
        LAST,
        f"noted heads have event {LAST}, and the chain ends at {LAST - 1}",
    ),
    "the chain is written anew": (REWRITTEN, LAST, "not the one of the noted heads"),
    "the chain is taken away whole": (
        f"delete from pgrecall.events where {CHAIN};"
        f"delete from pgrecall.chain_heads where {CHAIN};"
        f"delete from pgrecall.memories where {CHAIN}",
        1,
        "the chain ends at 0",
    ),
}


@pytest.mark.parametrize("name", PERFECT)
async def test_perfect_tampering_is_found_by_heads_that_were_noted_elsewhere(name, pool, root):
    statements, first_bad, reason = PERFECT[name]
    heads = await chain_heads(pool)
    noted = next(head for head in heads if (head.space, head.agent) == (SPACE, "ada"))

    await root.execute(statements)

    assert await online(pool) == []
    [chain] = await online(pool, heads)
    assert (chain.space, chain.agent, chain.first_bad) == (SPACE, "ada", first_bad)
    assert reason in chain.reason
    [seen] = offline(await export(pool), heads)
    assert (seen.first_bad, seen.reason) == (chain.first_bad, chain.reason)
    rows = await root.fetch(
        "select * from pgrecall.verify_chains('infra', 'ada', '{}', $1)", bytes.fromhex(noted.hash)
    )
    assert [row["valid"] for row in rows] == [False]
    assert "expected" in rows[0]["reason"]


async def test_a_chain_that_went_on_still_holds_the_head_noted_before(pool, history):
    heads = await chain_heads(pool)
    noted = next(head for head in heads if (head.space, head.agent) == (SPACE, "ada"))
    async with acting(pool, await find_agent(pool, "ada")) as connection:
        await connection.execute("select memory.remember('one more', space => 'infra')")
        rows = await connection.fetch(
            "select * from memory.verify('infra', $1)", bytes.fromhex(noted.hash)
        )

    assert {row["agent"]: row["valid"] for row in rows} == {"ada": True, "bob": True}
    assert await online(pool, heads) == []
