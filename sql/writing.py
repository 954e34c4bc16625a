"""Writing memories inside a transaction that acts as the agent already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import asyncpg

from sql.agents import Agent
from sql.errors import Forbidden
from sql.loader import queries
from sql.pool import Connection
from sql.quarantine import HELD, held_writes
from sql.records import NewMemory, Remembered

_QUERIES: Final = queries("memories")
# An import of a thousand would wait for seconds; `memory.similar()` tells it of each afterwards.
COMPARED_AT_ONCE: Final = 20
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


async def write(
    connection: Connection, agent: Agent, memories: Sequence[NewMemory]
) -> list[Remembered]:
    """Store the memories; the answers stand in the same order."""
    refuse_reader(agent)
    drafts = [memory.model_dump(mode="json", exclude_none=True) for memory in memories]
    written = await connection.fetch(_QUERIES["remember_many"], drafts)
    # A statement of its own: the one that writes does not see what it wrote.
    rows = await connection.fetch(_QUERIES["get_many"], [row["id"] for row in written])
    standing = {row["id"]: row for row in rows}
    waiting = [(row["id"], row["version"]) for row in written if row["outcome"] == HELD]
    held = await held_writes(connection, agent, waiting) if waiting else {}
    near = await resemblances(connection, [row["id"] for row in written])
    return [
        held.get((row["id"], row["version"]))
        or remembered(
            *(standing[row["id"]], row["outcome"] == "repeated", near.get(row["id"], NOTHING))
        )
        for row in written
    ]


async def resemblances(
    connection: Connection, ids: Sequence[UUID]
) -> Mapping[UUID, Mapping[str, Any]]:
    """Return what resembles each of the memories; of more than a few, nothing is compared."""
    if len(ids) > COMPARED_AT_ONCE:
        return {}
    rows = await connection.fetch(_QUERIES["resemblances"], ids)
    return {row["id"]: dict(row) for row in rows}


def refuse_reader(agent: Agent) -> None:
    """Raise Forbidden for an agent that only reads; Postgres would speak of a function."""
    if agent.reader:
        raise Forbidden(f'agent "{agent.name}" only reads', sqlstate="42501")


def remembered(row: asyncpg.Record, repeated: bool, near: Mapping[str, Any]) -> Remembered:
    """Return the answer to a write; a repeat is the duplicate of the memory that stood."""
    return Remembered(**{**row, **near}, duplicate_of=row["id"] if repeated else None)
