"""Forgetting: out of recall, out of sight, or out of existence."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from pydantic import BaseModel

from sql.acting import acting
from sql.agents import Agent
from sql.errors import NotFound, Stale
from sql.loader import queries
from sql.pool import Pool
from sql.records import ForgetHow, Input
from sql.writing import refuse_reader

_QUERIES: Final = queries("life")


class Forget(Input):
    """What forget() takes."""

    id: UUID
    """The `id` that remember, recall or list_memories gave."""
    how: ForgetHow = "archive"
    """archive: no longer recalled, can be restored; delete: gone for everyone but the space's
    admins, who keep its history for a while; erase: gone for good, with all its versions."""


class Forgotten(BaseModel):
    """What forgetting a memory did."""

    id: UUID
    outcome: str


async def forget(
    pool: Pool, agent: Agent, wanted: Forget, *, expected: frozenset[int] | None = None
) -> Forgotten:
    """Forget a memory; raises NotFound, Forbidden, and Stale where none of `expected` stands."""
    refuse_reader(agent)
    async with acting(pool, agent) as connection:
        if expected is not None:
            row = await connection.fetchrow(_QUERIES["standing"], wanted.id)
            if row is None:
                raise NotFound(f"no memory {wanted.id}", sqlstate="P0002")
            if row["version"] not in expected:
                raise Stale(f"memory {wanted.id} is at version {row['version']}", sqlstate="40001")
        outcome = await connection.fetchval(_QUERIES["forget"], wanted.id, wanted.how)
    return Forgotten(id=wanted.id, outcome=outcome)
