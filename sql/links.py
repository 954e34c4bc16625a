"""Links between the memories of a space."""

from __future__ import annotations

from typing import Annotated, Final
from uuid import UUID

from pydantic import BaseModel, Field

from sql.acting import changing
from sql.agents import Agent
from sql.loader import queries
from sql.pool import Pool
from sql.records import Input, Name

_QUERIES: Final = queries("life")


class NewLink(Input):
    """What leads from one memory to another of its space."""

    target: UUID
    """The memory it leads to."""
    relation: Annotated[Name, Field(examples=["caused by"])]
    """How the one is related to the other."""


class Link(BaseModel):
    """A link between two memories."""

    source: UUID
    target: UUID
    relation: str


async def link(pool: Pool, agent: Agent, memory_id: UUID, new: NewLink) -> Link:
    """Link a memory to another; said again it changes nothing.

    Raises NotFound, Forbidden, and InvalidInput for one of another space or the memory itself.
    """
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["link"], memory_id, new.target, new.relation)
    return Link(source=memory_id, target=new.target, relation=new.relation)


async def unlink(pool: Pool, agent: Agent, memory_id: UUID, ended: NewLink) -> None:
    """Take a link away; raises Forbidden, and NotFound where there is none that the agent sees."""
    async with changing(pool, agent) as connection:
        await connection.execute(_QUERIES["unlink"], memory_id, ended.target, ended.relation)
