"""Spaces, and who belongs to them."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel

from sql.acting import acting, changing, read
from sql.agents import Agent
from sql.errors import NotFound
from sql.loader import queries
from sql.pool import Pool
from sql.records import Input, Name

_QUERIES: Final = queries("spaces")

Role = Literal["reader", "writer", "admin"]


class NewSpace(Input):
    """A space to make."""

    space: Name
    """Its name: the project or tenant that it keeps apart."""


class Space(BaseModel):
    """A space; `role` is the agent's own in it, None where it only runs the deployment."""

    space: str
    role: Role | None
    members: int
    created_by: str
    created_at: datetime


class Spaces(BaseModel):
    """The spaces that the agent belongs to, by name."""

    spaces: list[Space]


class NewMember(Input):
    """Whom to let into a space, and as what."""

    agent: Name
    """The agent."""
    role: Role = "writer"
    """reader: reads what is shared there; writer: also writes; admin: also chooses the members."""


class Member(BaseModel):
    """One agent in one space."""

    space: str
    agent: str
    role: Role


class Members(BaseModel):
    """The members of a space, by name."""

    members: list[Member]


async def create_space(pool: Pool, agent: Agent, space: str) -> Space:
    """Make a space, and the agent its admin; raises Conflict where there is one of that name."""
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["create_space"], space)
        row = await connection.fetchrow(_QUERIES["spaces"], space)
    assert row is not None
    return Space(**row)


async def spaces(pool: Pool, agent: Agent) -> Spaces:
    """Return the spaces that the agent may know of."""
    rows = await read(pool, agent, _QUERIES["spaces"], None)
    return Spaces(spaces=[Space(**row) for row in rows])


async def add_member(pool: Pool, agent: Agent, space: str, new: NewMember) -> Member:
    """Make another agent a member of a space, or give a member another role.

    Raises NotFound for a space that the agent can't see and for an unknown agent, Forbidden where
    it does not administer the space.
    """
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["add_member"], space, new.agent, new.role)
    return Member(space=space, agent=new.agent, role=new.role)


async def remove_member(pool: Pool, agent: Agent, space: str, member: str) -> None:
    """End a membership, another's or one's own; raises NotFound where there is none.

    An agent that only reads may leave too.
    """
    async with (acting if member == agent.name else changing)(pool, agent) as connection:
        await connection.execute(_QUERIES["remove_member"], space, member)


async def members(pool: Pool, agent: Agent, space: str) -> Members:
    """Return the members of a space; raises NotFound for one that the agent can't see."""
    rows = await read(pool, agent, _QUERIES["members"], space)
    if not rows and not await read(pool, agent, _QUERIES["spaces"], space):
        raise NotFound(f'no space "{space}"', sqlstate="P0002")
    return Members(members=[Member(**row) for row in rows])
