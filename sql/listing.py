"""Listing memories page by page, newest first, and counting them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from pydantic import BaseModel, Field

from sql.acting import read
from sql.agents import Agent
from sql.loader import queries
from sql.pool import Pool
from sql.records import Input, Kind, Memory, Name, Share, Tags, Time

_QUERIES: Final = queries("listing")
_PAST_EVERY_ID: Final = UUID(int=2**128 - 1)


def _cursor_at(position: UUID) -> str:
    return urlsafe_b64encode(position.bytes).rstrip(b"=").decode()


def _position(cursor: str) -> UUID:
    return UUID(bytes=urlsafe_b64decode(cursor + "=="))


class ListQuery(Input):
    """What list_memories() takes; each filter narrows the answer."""

    space: Name | None = None
    """Only this space; left out, every space that the agent may see."""
    kinds: list[Kind] | None = None
    """Only these kinds."""
    entity: Name | None = None
    """Only memories about this entity."""
    tags: Tags | None = None
    """Only memories that carry all of these tags."""
    agent: Name | None = None
    """Only what this agent wrote."""
    thread: Name | None = None
    """Only this conversation or task."""
    since: Time | None = None
    """Only what happened at or after this time."""
    until: Time | None = None
    """Only what happened before this time."""
    min_importance: Share = 0
    """Only memories at least this important."""
    min_confidence: Share = 0
    """Only memories at least this certain."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many memories a page holds."""
    cursor: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")] | None = None
    """Where to go on: the `next_cursor` of the page before."""


class MemoryPage(BaseModel):
    """Some memories, newest first, and where to go on; no cursor on the last page."""

    memories: list[Memory]
    next_cursor: str | None


class SpaceStats(BaseModel):
    """How many memories of one kind a space holds for the agent."""

    space: str
    kind: Kind
    memories: int
    newest_at: datetime


class MemoryStats(BaseModel):
    """How many memories the agent may see, and where they stand."""

    memories: int
    spaces: list[SpaceStats]


async def list_memories(pool: Pool, agent: Agent, query: ListQuery) -> MemoryPage:
    """Return a page of the memories that the agent may see, newest first.

    Pages stay whole while others write: a page begins after the last memory of the one before.
    """
    before = _position(query.cursor) if query.cursor else _PAST_EVERY_ID
    rows = await read(
        *(pool, agent, _QUERIES["newest"], before, query.space, query.kinds, query.entity),
        *(query.tags, query.agent, query.thread, query.since, query.until),
        *(query.min_importance, query.min_confidence, query.limit + 1),
    )
    memories = [Memory(**row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return MemoryPage(memories=memories, next_cursor=_cursor_at(memories[-1].id) if more else None)


async def memory_stats(pool: Pool, agent: Agent) -> MemoryStats:
    """Count the memories that the agent may see, by space and kind."""
    rows = await read(pool, agent, _QUERIES["stats"])
    spaces = [SpaceStats(**row) for row in rows]
    return MemoryStats(memories=sum(space.memories for space in spaces), spaces=spaces)
