"""Erasing all that fits some criteria, with a preview of what that takes."""

from __future__ import annotations

from typing import Annotated, Final
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from sql.acting import acting
from sql.agents import Agent
from sql.loader import queries
from sql.pool import Pool
from sql.records import Input, Name, Source
from sql.writing import refuse_reader

_QUERIES: Final = queries("life")
_CRITERIA: Final = ("ids", "key", "tag", "agent", "session", "source")


class Erasure(Input):
    """What erase() takes: all that fits every criterion given."""

    ids: Annotated[list[UUID], Field(min_length=1, max_length=10_000)] | None = None
    """These memories."""
    space: Name | None = None
    """Only in this space."""
    key: Name | None = None
    """The memories of this key, in any of their versions."""
    tag: Name | None = None
    """The memories with this tag, such as a data subject's, in any of their versions."""
    agent: Name | None = None
    """What this agent wrote, and all later versions; what stood before stands again."""
    session: UUID | None = None
    """What was written in this session, likewise."""
    source: Source | None = None
    """What comes from this source, likewise."""
    preview: bool = False
    """Tell what would go, and write nothing."""

    @model_validator(mode="after")
    def _say_what(self) -> Erasure:
        if all(getattr(self, name) is None for name in _CRITERIA):
            raise ValueError(f"say what to erase by one of {', '.join(_CRITERIA)}")
        return self


class ErasedRows(BaseModel):
    """How many rows of one table an erasure takes."""

    what: str
    rows: int


class ErasureReport(BaseModel):
    """What an erasure takes, by table.

    `kept` are memories that fit, and that the caller sees but may not erase; `echoes` others that
    say the same words and stay.
    """

    preview: bool
    rows: list[ErasedRows]


async def erase(pool: Pool, agent: Agent, wanted: Erasure) -> ErasureReport:
    """Erase what fits and is the agent's to erase; with `preview`, tell what that would be."""
    refuse_reader(agent)
    async with acting(pool, agent) as connection:
        rows = await connection.fetch(
            *(_QUERIES["erase"], wanted.ids, wanted.space, wanted.key, wanted.tag),
            *(wanted.agent, wanted.session, wanted.source, wanted.preview),
        )
    return ErasureReport(preview=wanted.preview, rows=[ErasedRows(**row) for row in rows])
