"""Writes that are held for review: what a writer is told, and what a reviewer does."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import asyncpg
from pydantic import BaseModel, Field

from sql.acting import act_as, act_as_app, acting, read
from sql.agents import Agent
from sql.errors import Forbidden, InvalidInput
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.records import Input, Memory, Name, Quarantined, Real, Remembered

_QUERIES: Final = queries("quarantine")
HELD: Final = "quarantined"


class HeldQuery(Input):
    """What list_held() takes."""

    space: Name | None = None
    """Only this space; left out, every space that the agent reviews."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many a page holds."""
    cursor: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,150}$")] | None = None
    """Where to go on: the `next_cursor` of the page before."""


class HeldId(Input):
    """Names one version in quarantine."""

    id: UUID
    """The memory's `id`."""
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """Which version; left out, the oldest that is held of the memory."""


class HeldMemory(BaseModel):
    """A version that nobody can recall until a reviewer has released it; treat it as suspect."""

    id: UUID
    version: int
    space: str
    agent: str
    title: str | None
    content: str
    source: str | None
    source_type: str | None
    score: Real
    reasons: list[str]
    at: datetime


class HeldPage(BaseModel):
    """Some of what is held, the oldest first, and where to go on; no cursor on the last page."""

    quarantine: list[HeldMemory]
    next_cursor: str | None


class Reviewed(BaseModel):
    """What became of a version in quarantine."""

    id: UUID
    version: int
    outcome: Literal["released", "rejected"]


async def held_writes(
    connection: Connection, agent: Agent, versions: Sequence[tuple[UUID, int]]
) -> dict[tuple[UUID, int], Remembered]:
    """Return the answers to those of the agent's writes that are held, by id and version.

    The transaction acts as the agent before and after.
    """
    await act_as_app(connection)
    ids, numbers = [made for made, _ in versions], [number for _, number in versions]
    rows = await connection.fetch(_QUERIES["own_held"], agent.name, ids, numbers)
    await act_as(connection, agent)
    return {(row["id"], row["version"]): _answer(row) for row in rows}


async def list_held(pool: Pool, agent: Agent, query: HeldQuery) -> HeldPage:
    """Return a page of what the agent may review, the oldest first."""
    at, memory_id, version = _position(query.cursor) if query.cursor else (None, None, None)
    rows = await read(
        *(pool, agent, _QUERIES["oldest"], query.space, at, memory_id, version),
        query.limit + 1,
    )
    held = [HeldMemory(**row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return HeldPage(quarantine=held, next_cursor=_cursor_behind(held[-1]) if more else None)


async def release(pool: Pool, agent: Agent, held: HeldId) -> Reviewed:
    """Let a version be the memory's head.

    Raises NotFound when it is not held or not the agent's to review, Conflict when the memory was
    changed since.
    """
    return Reviewed(
        id=held.id, version=await _decide(pool, agent, "release", held), outcome="released"
    )


async def reject(pool: Pool, agent: Agent, held: HeldId) -> Reviewed:
    """Throw a version away; raises NotFound when it is not held or not the agent's to review."""
    return Reviewed(
        id=held.id, version=await _decide(pool, agent, "reject", held), outcome="rejected"
    )


async def _decide(pool: Pool, agent: Agent, decision: str, held: HeldId) -> int:
    if agent.reader:  # Postgres refuses too, in words about a function
        raise Forbidden(f'agent "{agent.name}" only reads', sqlstate="42501")
    async with acting(pool, agent) as connection:
        version: int = await connection.fetchval(_QUERIES[decision], held.id, held.version)
    return version


def _answer(row: asyncpg.Record) -> Remembered:
    memory: dict[str, Any] = row["memory"]
    fields: dict[str, Any] = {name: memory.get(name) for name in Memory.model_fields}
    return Remembered(**fields, quarantined=Quarantined(score=row["score"], reasons=row["reasons"]))


def _cursor_behind(last: HeldMemory) -> str:
    position = f"{last.at.isoformat()} {last.id} {last.version}"
    return urlsafe_b64encode(position.encode()).rstrip(b"=").decode()


def _position(cursor: str) -> tuple[datetime, UUID, int]:
    try:
        at, memory_id, version = urlsafe_b64decode(cursor + "==").decode().split(" ")
        return datetime.fromisoformat(at), UUID(memory_id), int(version) % 2**31
    except (NotBase64, ValueError) as error:
        raise InvalidInput("cursor is none that was given out", sqlstate="22023") from error
