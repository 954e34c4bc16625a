"""Shares of single memories, and delegations of many: who lets whom see and change what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from sql.acting import changing, read
from sql.agents import Agent
from sql.errors import NotFound
from sql.loader import queries
from sql.pool import Pool
from sql.records import Input, Kind, Name, Tags, Time

_QUERIES: Final = queries("sharing")

Permission = Literal["read", "write", "share"]


class NewShare(Input):
    """Whom to share a memory with, what for, and until when."""

    agent: Name
    """The agent to share it with."""
    permission: Permission = "read"
    """read: read it; write: also change and forget it; share: also share it on."""
    expires_at: Time | None = None
    """When the share ends. Left out: when it is taken back."""


class MemoryShare(BaseModel):
    """One agent's share of one memory; `granted_by` is None when that agent has been removed."""

    space: str
    id: UUID
    agent: str
    permission: Permission
    owner: str
    granted_by: str | None
    expires_at: datetime | None
    created_at: datetime


class MemoryShares(BaseModel):
    """Shares by the agent, to it and of its memories, the oldest first."""

    shares: list[MemoryShare]


class NewDelegation(Input):
    """Whom to let act on one's memories, on which of them, what for, and until when."""

    agent: Name
    """The agent that may then act on them."""
    permission: Permission
    """read: read them; write: also change and forget them; share: also share them one by one."""
    space: Name | None = None
    """Only memories in this space; left out, in every space."""
    kinds: Annotated[list[Kind], Field(min_length=1)] | None = None
    """Only memories of these kinds."""
    tags: Tags | None = None
    """Only memories that carry all of these tags."""
    expires_at: Time | None = None
    """When it ends. Left out: when it is revoked."""
    depth: Annotated[int, Field(ge=0, le=10)] = 0
    """How often it may be passed on; 0: not at all."""


class Delegation(BaseModel):
    """What one delegation allows on one owner's memories; those with one id end together."""

    delegation: UUID
    agent: str
    permission: Permission
    owner: str
    granted_by: str
    space: str | None
    kinds: list[Kind] | None
    tags: list[str] | None
    expires_at: datetime | None
    depth: int
    created_at: datetime


class Delegations(BaseModel):
    """Delegations by the agent, to it and of its memories, the oldest first."""

    delegations: list[Delegation]


class Delegated(Delegations):
    """A new delegation: its id, and a part for each owner whose memories it takes."""

    delegation: UUID


async def share(pool: Pool, agent: Agent, memory_id: UUID, new: NewShare) -> MemoryShare:
    """Share a memory with another agent, or change the share that it has.

    Raises NotFound for a memory that the agent can't see and for an unknown agent, Forbidden where
    it may not share the memory.
    """
    async with changing(pool, agent) as connection:
        await connection.execute(
            _QUERIES["share"], memory_id, new.agent, new.permission, new.expires_at
        )
        row = await connection.fetchrow(_QUERIES["share_with"], memory_id, new.agent)
    assert row is not None
    return MemoryShare(**row)


async def unshare(pool: Pool, agent: Agent, memory_id: UUID, sharee: str) -> None:
    """End an agent's share of a memory, and what it passed on; raises NotFound without one."""
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["unshare"], memory_id, sharee)


async def shares(pool: Pool, agent: Agent, memory_id: UUID | None = None) -> MemoryShares:
    """Return the shares of one memory that the agent may know of, or those of all.

    Raises NotFound for a memory that it can't see.
    """
    rows = await read(pool, agent, _QUERIES["shares"], memory_id)
    if memory_id is not None and not rows:
        seen = await read(pool, agent, queries("memories")["get"], memory_id)
        if not seen:
            raise NotFound(f"no memory {memory_id}", sqlstate="P0002")
    return MemoryShares(shares=[MemoryShare(**row) for row in rows])


async def delegate(pool: Pool, agent: Agent, new: NewDelegation) -> Delegated:
    """Let another agent act on the agent's memories, and on what it may pass on.

    Raises NotFound for an unknown agent, Forbidden for a space in which it has nothing to give.
    """
    async with changing(pool, agent) as connection:
        made = await connection.fetchval(
            *(_QUERIES["delegate"], new.agent, new.permission, new.space, new.kinds),
            *(new.tags, new.expires_at, new.depth),
        )
        rows = await connection.fetch(_QUERIES["delegations"], made)
    return Delegated(delegation=made, delegations=[Delegation(**row) for row in rows])


async def revoke_delegation(pool: Pool, agent: Agent, delegation: UUID) -> None:
    """End a delegation and all that hangs below it; raises NotFound where it is none of its own."""
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["revoke_delegation"], delegation)


async def delegations(pool: Pool, agent: Agent) -> Delegations:
    """Return the delegations by the agent, to it and of its memories."""
    rows = await read(pool, agent, _QUERIES["delegations"], None)
    return Delegations(delegations=[Delegation(**row) for row in rows])
