"""`kill -9` at any moment of a write: what was acknowledged is there, nothing is by halves."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import asyncpg
import httpx
import psutil
import pytest

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from sql.acting import acting
from sql.agents import Agent, add_agent, find_agent
from sql.errors import StoreError
from sql.events import Head, chain_heads, verify_everything
from sql.migrate import migrate
from sql.pool import Connection, Pool, create_pool
from tests.conftest import short_lived_folder
from tests.ops.processes import Up, pgrecall, running_up

WRITERS = 4
RECOVERY_SECONDS = 60.0
_numbers = count(1)


@dataclass
class Acknowledged:
    """What writers were told had been done; `groups` are contents that stand or fall together."""

    contents: set[str] = field(default_factory=set)
    groups: list[frozenset[str]] = field(default_factory=list)
    versions: set[tuple[str, int]] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    restored: set[str] = field(default_factory=set)
    revised: dict[str, str] = field(default_factory=dict)
    shared: set[tuple[str, str]] = field(default_factory=set)
    linked: set[tuple[str, str]] = field(default_factory=set)
    unlinked: set[tuple[str, str]] = field(default_factory=set)
    delegations: set[str] = field(default_factory=set)


@pytest.fixture
async def postgres() -> AsyncIterator[EmbeddedPostgres]:
    """With the settings of real use: what is committed must be on the disk."""
    with short_lived_folder() as folder:
        state = StateFolder(folder / "state")
        with state.claim():
            server = EmbeddedPostgres(state)
            await server.start()
            await migrate(server.app_dsn)
            try:
                yield server
            finally:
                await server.stop()


async def test_no_kill_loses_what_was_acknowledged_or_leaves_half_a_write(postgres):
    await _survive(postgres, kills=10, seed=7)


@pytest.mark.soak
async def test_two_hundred_kills_lose_nothing_and_leave_no_half_write(postgres):
    await _survive(postgres, kills=200, seed=random.randrange(2**32))


async def _survive(postgres: EmbeddedPostgres, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    done, noted = Acknowledged(), list[Head]()
    pool = await create_pool(postgres.app_dsn, min_size=1, max_size=2)
    for number in range(WRITERS):
        await add_agent(pool, f"writer-{number}", spaces=["shared"])
    agents = [await find_agent(pool, f"writer-{number}") for number in range(WRITERS)]
    await pool.close()
    for round_number in range(kills):
        await _one_crash(postgres, agents, done, chance)
        pool = await _recovered(postgres)
        try:
            await _check(pool, done, noted)
            noted = await chain_heads(pool)
        except AssertionError as error:
            raise AssertionError(f"after kill {round_number + 1}, seed {seed}") from error
        finally:
            await pool.close()
    assert len(done.contents) > kills


async def _one_crash(
    postgres: EmbeddedPostgres, agents: list[Agent], done: Acknowledged, chance: random.Random
) -> None:
    """Let the writers write, and kill something of Postgres at a moment that chance picks."""
    pool = await create_pool(postgres.app_dsn, min_size=WRITERS, max_size=WRITERS)
    writers = [
        asyncio.create_task(_write(pool, agent, done, random.Random(chance.random())))
        for agent in agents
    ]
    if chance.random() < 0.4:  # between two statements of one transaction
        with suppress(StoreError):
            await _transaction(pool, agents[0], done, killed_after=chance.randrange(4))
    else:
        await asyncio.sleep(chance.uniform(0.0, 0.25))  # the kill's own moment, not a wait
        _kill(postgres, chance)
    await asyncio.gather(*writers)
    pool.terminate()


def _kill(postgres: EmbeddedPostgres, chance: random.Random) -> None:
    assert postgres.pid is not None
    postmaster = psutil.Process(postgres.pid)
    children = [child.pid for child in postmaster.children()]
    target = postmaster.pid if chance.random() < 0.4 else chance.choice(children)
    with suppress(ProcessLookupError):
        os.kill(target, signal.SIGKILL)


async def _write(pool: Pool, agent: Agent, done: Acknowledged, chance: random.Random) -> None:
    """Write until the database goes away."""
    with suppress(StoreError):
        while True:
            await _transaction(pool, agent, done)
            await chance.choice(CHANGES)(pool, agent, done, chance)


async def _transaction(
    pool: Pool, agent: Agent, done: Acknowledged, *, killed_after: int | None = None
) -> None:
    """Remember four facts in one transaction, the backend killed after one of its statements."""
    facts = [f"fact {next(_numbers)}" for _ in range(4)]
    done.groups.append(frozenset(facts))
    async with acting(pool, agent) as connection:
        for number, fact in enumerate(facts):
            await _remember(connection, fact)
            if number == killed_after:
                os.kill(connection.get_server_pid(), signal.SIGKILL)
    done.contents.update(facts)


async def _refine(pool: Pool, agent: Agent, done: Acknowledged, chance: random.Random) -> None:
    fact, key = f"fact {next(_numbers)}", f"key {chance.randrange(3)}"
    async with acting(pool, agent) as connection:
        identity = await _remember(connection, fact, key)
        version = await connection.fetchval(
            "select version from memory.memories where id = $1", identity
        )
    done.contents.add(fact)
    done.versions.add((str(identity), version))


async def _batch(pool: Pool, agent: Agent, done: Acknowledged, _: random.Random) -> None:
    facts = [f"fact {next(_numbers)}" for _ in range(20)]
    done.groups.append(frozenset(facts))
    drafts = [{"content": fact, "space": "shared"} for fact in facts]
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.remember_many($1)", drafts)
    done.contents.update(facts)


async def _forget(pool: Pool, agent: Agent, done: Acknowledged, chance: random.Random) -> None:
    how = chance.choice(["archive", "delete", "erase"])
    async with acting(pool, agent) as connection:
        identity = await _remember(connection, f"to forget {next(_numbers)}")
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.forget($1, $2)", identity, how)
    forgotten = {"archive": done.archived, "delete": done.deleted, "erase": done.erased}
    forgotten[how].add(str(identity))


async def _revise(pool: Pool, agent: Agent, done: Acknowledged, _: random.Random) -> None:
    content = f"as it is now {next(_numbers)}"
    async with acting(pool, agent) as connection:
        identity = await _remember(connection, f"to revise {next(_numbers)}")
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.revise($1, content => $2)", identity, content)
    done.revised[str(identity)] = content


async def _restore(pool: Pool, agent: Agent, done: Acknowledged, _: random.Random) -> None:
    async with acting(pool, agent) as connection:
        identity = await _remember(connection, f"to restore {next(_numbers)}")
        await connection.execute("select memory.forget($1)", identity)
    async with acting(pool, agent) as connection:
        await connection.execute("select memory.restore($1)", identity)
    done.restored.add(str(identity))


async def _grant(pool: Pool, agent: Agent, done: Acknowledged, _: random.Random) -> None:
    other = "writer-0" if agent.name != "writer-0" else "writer-1"
    async with acting(pool, agent) as connection:
        identity = await _remember(connection, f"to share {next(_numbers)}")
        await connection.execute("select memory.share($1, $2)", identity, other)
        delegation = await connection.fetchval(
            "select memory.delegate($1, 'read', tags => array[$2])", other, f"tag {next(_numbers)}"
        )
    done.shared.add((str(identity), other))
    done.delegations.add(str(delegation))


async def _link(pool: Pool, agent: Agent, done: Acknowledged, chance: random.Random) -> None:
    async with acting(pool, agent) as connection:
        ends = [await _remember(connection, f"to link {next(_numbers)}") for _ in range(2)]
        await connection.execute("select memory.link($1, $2, 'about')", *ends)
    pair = (str(ends[0]), str(ends[1]))
    if chance.random() < 0.5:
        async with acting(pool, agent) as connection:
            await connection.execute("select memory.unlink($1, $2, 'about')", *ends)
        done.unlinked.add(pair)
    else:
        done.linked.add(pair)


CHANGES = (_refine, _forget, _batch, _revise, _restore, _grant, _link)


async def _remember(connection: Connection, content: str, key: str | None = None) -> object:
    return await connection.fetchval(
        "select memory.remember($1, space => 'shared', key => $2)", content, key
    )


async def _recovered(postgres: EmbeddedPostgres) -> Pool:
    """Return connections once the database answers again; a dead server is started anew."""
    deadline = asyncio.get_running_loop().time() + RECOVERY_SECONDS
    while True:
        if postgres.pid is None:
            await postgres.start()
        try:
            pool = await create_pool(postgres.app_dsn, min_size=1, max_size=2)
            await pool.fetchval("select 1")
        except (asyncpg.PostgresError, OSError, asyncpg.InterfaceError):
            assert asyncio.get_running_loop().time() < deadline, "no recovery in time"
            await asyncio.sleep(0.02)
        else:
            return pool


async def _check(pool: Pool, done: Acknowledged, noted: list[Head]) -> None:
    rows = await pool.fetch(
        "select id::text, version, content, archived_at, deleted_at, superseded_at"
        " from pgrecall.memories"
    )
    there = {row["content"] for row in rows}
    assert done.contents - there == set()
    assert [group for group in done.groups if there & group not in (set(), group)] == []
    assert done.versions - {(row["id"], row["version"]) for row in rows} == set()
    assert done.erased & {row["id"] for row in rows} == set()
    archived = {row["id"] for row in rows if row["archived_at"] is not None}
    assert done.archived - archived == set()
    assert done.deleted - {row["id"] for row in rows if row["deleted_at"] is not None} == set()
    assert done.restored & archived == set()
    standing = {row["id"]: row["content"] for row in rows if row["superseded_at"] is None}
    assert done.revised.items() - standing.items() == set()
    await _check_ties(pool, done)
    halves = await pool.fetchval(
        "select count(*) from (select from pgrecall.memories group by space, id"
        " having count(*) <> max(version) or count(*) filter (where superseded_at is null) <> 1) h"
    )
    assert halves == 0
    found = await verify_everything(pool, noted=noted)
    assert [chain for chain in found.chains if not chain.valid] == []


async def _check_ties(pool: Pool, done: Acknowledged) -> None:
    links = await pool.fetch("select source::text, target::text from pgrecall.links")
    linked = {(row["source"], row["target"]) for row in links}
    assert done.linked - linked == set()
    assert done.unlinked & linked == set()
    shares = await pool.fetch("select id::text, agent from pgrecall.memory_shares")
    assert done.shared - {(row["id"], row["agent"]) for row in shares} == set()
    delegations = await pool.fetch("select delegation::text from pgrecall.delegations")
    assert done.delegations - {row["delegation"] for row in delegations} == set()


@contextmanager
def _writing(up: Up, acknowledged: list[str]) -> Iterator[None]:
    """Remember facts over REST from two threads until the server goes away."""
    endpoints, token = up.ready(), up.credentials.token

    def write() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        with suppress(httpx.HTTPError), httpx.Client(headers=headers, timeout=5) as client:
            while True:
                fact = f"fact {next(_numbers)}"
                answer = client.post(f"{endpoints.http}/v1/memories", json={"content": fact})
                if answer.status_code == 201:
                    acknowledged.append(fact)
                elif answer.status_code != 429:
                    return

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def test_a_killed_up_has_kept_every_write_that_it_acknowledged(temporary_folder: Path) -> None:
    acknowledged: list[str] = []
    chance = random.Random(11)
    for _ in range(2):
        before = len(acknowledged)
        with running_up(temporary_folder / "state") as up:
            up.ready()
            with _writing(up, acknowledged):
                deadline = threading.Event()
                while len(acknowledged) < before + 5 and up.process.poll() is None:
                    deadline.wait(0.01)
                deadline.wait(chance.uniform(0, 0.1))
                up.process.kill()
                up.process.wait()
    exported = temporary_folder / "log.jsonl"
    with running_up(temporary_folder / "state") as up:
        up.ready()
        with_token = {"Authorization": f"Bearer {up.credentials.token}"}
        contents, url = set(), f"{up.ready().http}/v1/memories?limit=200"
        cursor = ""
        while cursor is not None:
            page = httpx.get(
                url + (f"&cursor={cursor}" if cursor else ""), headers=with_token
            ).json()
            contents |= {memory["content"] for memory in page["memories"]}
            cursor = page["next_cursor"]
        assert set(acknowledged) - contents == set()
        assert '"valid": true' in pgrecall(up.state.path, "verify", "--json").stdout
        pgrecall(up.state.path, "log", "export", str(exported))
    pgrecall(up.state.path, "verify", "--file", str(exported))
