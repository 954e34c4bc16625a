"""A history to tamper with: two agents in one space, refinements, an erasure; and its verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg

from pgrecall.log_file import Verdict, verify_lines
from sql.acting import acting
from sql.agents import Agent, add_agent, find_agent
from sql.events import ChainVerdict, Head, exported, verify_everything
from sql.records import NewMemory
from sql.writing import write

SPACE = "infra"
# What ada's chain in the space holds, event by event.
ADA = (
    *("create_space", "join_space", "remember", "remember", "remember", "revise", "remember"),
    *("link", "archive", "erase", "delete", "remember"),
)


async def write_history(pool: asyncpg.Pool) -> tuple[Agent, Agent]:
    """Make ada and bob, and let both write; ada's chain in the space then is as ADA says."""
    agents = []
    for name in ("ada", "bob"):
        await add_agent(pool, name, spaces=[SPACE])
        agents.append(await find_agent(pool, name))
    ada, bob = agents
    first = await remember(pool, ada, "Bastion listens on 22", key="bastion", title="Bastion")
    second = await remember(pool, ada, "The wiki has moved", tags=["wiki", 'odd "tag"'])
    third = await remember(pool, ada, "To be erased", event_at="2026-03-01T12:00:00Z")
    await remember(pool, ada, "Bastion listens on 49222", key="bastion")
    fourth = await remember(pool, ada, "To be deleted", metadata={"b": [1, 2.50], "a": "ü"})
    for number in range(4):
        await remember(pool, bob, f"Bob's note {number}")
    await remember(pool, bob, "Bob's own", space="~bob")
    async with acting(pool, ada) as connection:
        await connection.execute("select memory.link($1, $2, 'about')", first, second)
        await connection.execute("select memory.forget($1)", second)
        await connection.execute("select memory.forget($1, 'erase')", third)
        await connection.execute("select memory.forget($1, 'delete')", fourth)
    await remember(pool, ada, "The last one", importance=0.9)
    return ada, bob


async def remember(pool: asyncpg.Pool, agent: Agent, content: str, **fields: object) -> str:
    memory = NewMemory.model_validate({"content": content, "space": SPACE, **fields})
    async with acting(pool, agent) as connection:
        return str((await write(connection, agent, [memory]))[0].id)


async def online(pool: asyncpg.Pool, noted: Sequence[Head] = ()) -> list[ChainVerdict]:
    """The chains that verify() in the database finds wrong."""
    found = await verify_everything(pool, noted=noted)
    assert found.valid == all(chain.valid for chain in found.chains)
    return [chain for chain in found.chains if not chain.valid]


async def export(pool: asyncpg.Pool) -> list[str]:
    async with exported(pool) as (events, lines):
        written = [line async for line in lines]
    assert sum('"type":"event"' in line for line in written) == events
    return written


def offline(lines: Sequence[str], noted: Sequence[Head] = ()) -> list[Verdict]:
    """The chains that the verifier without a database finds wrong in an export."""
    expected = {(head.space, head.agent): (head.sequence, head.hash) for head in noted}
    return [chain for chain in verify_lines(lines, expected) if not chain.valid]


@asynccontextmanager
async def superuser(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()
