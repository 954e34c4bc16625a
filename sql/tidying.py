"""Tidying: settling repeats and contradictions, many memories into one, a report of health."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from sql.acting import changing, read
from sql.agents import Agent
from sql.loader import queries
from sql.pool import Pool
from sql.records import Content, Input, Kind, Memory, Name, Share, Title

_QUERIES: Final = queries("tidying")
_MEMORIES: Final = queries("memories")

ResolveHow = Literal["newest", "evidence", "merge", "both"]
Ids = Annotated[list[UUID], Field(min_length=2, max_length=100)]


class Settlement(Input):
    """What resolve() takes: memories that repeat or contradict each other, and how to settle it."""

    ids: Ids
    """The ids of two or more memories of one space."""
    how: ResolveHow = "newest"
    """newest: keep the one that began to hold last; evidence: the one that source, confidence,
    recency and use speak for; merge: one that says what all say; both: leave them as they are."""
    content: Content | None = None
    """The merged text; without it, a merge keeps the memory whose words hold the others'."""

    @model_validator(mode="after")
    def _only_merges_say(self) -> Settlement:
        if self.content is not None and self.how != "merge":
            raise ValueError("only a merge takes a content")
        return self


class Settled(BaseModel):
    """What became of one memory: kept, merged (into it) or archived."""

    id: UUID
    outcome: str
    why: str | None


class Resolution(BaseModel):
    """What became of each memory; the archived can be restored."""

    memories: list[Settled]


class ClusterQuery(Input):
    """Where to look for memories that could be consolidated."""

    space: Name
    """The space to tidy."""
    max_importance: Share = 0.5
    """Only memories at most this important."""
    smallest: Annotated[int, Field(ge=2, le=100)] = 3
    """Only groups of at least so many."""
    max_clusters: Annotated[int, Field(ge=1, le=100)] = 20
    """How many groups to return."""


class Cluster(BaseModel):
    """Memories that have much in common; `entity` when all are about the same."""

    cluster: int
    ids: list[UUID]
    contents: list[str]
    entity: str | None
    visibility: str
    shared_words: list[str]


class Clusters(BaseModel):
    """Groups of memories that could be consolidated, the largest first."""

    clusters: list[Cluster]


class Consolidation(Input):
    """What consolidate() takes: memories of one space, and the text that replaces them."""

    ids: Ids
    """The ids of the memories to replace."""
    content: Content
    """What they say together, in words that stand alone."""
    title: Title | None = None
    """A short heading."""
    kind: Kind = "semantic"
    """What kind of memory it becomes."""
    entity: Name | None = None
    """Left out: theirs, when all are about the same."""
    key: Name | None = None
    """A stable name, if it is a fact that may change."""


class HealthConcern(BaseModel):
    """Something that could be tidied: how many memories, some of them, and what to do.

    Of aliases it is these that are counted, and the advice that names some.
    """

    concern: str
    memories: int
    examples: list[UUID]
    advice: str


class HealthReport(BaseModel):
    """What could be tidied among the memories that the agent sees; only zeros are left out."""

    concerns: list[HealthConcern]


async def resolve(pool: Pool, agent: Agent, wanted: Settlement) -> Resolution:
    """Settle between memories; raises NotFound, Forbidden and InvalidInput."""
    async with changing(pool, agent) as connection:
        rows = await connection.fetch(_QUERIES["resolve"], wanted.ids, wanted.how, wanted.content)
    return Resolution(memories=[Settled(**row) for row in rows])


async def clusters(pool: Pool, agent: Agent, query: ClusterQuery) -> Clusters:
    """Return groups of memories that the agent could consolidate."""
    async with changing(pool, agent) as connection:
        rows = await connection.fetch(
            *(_QUERIES["clusters"], query.space, query.max_importance),
            *(query.smallest, query.max_clusters),
        )
    return Clusters(clusters=[Cluster(**row) for row in rows])


async def consolidate(pool: Pool, agent: Agent, wanted: Consolidation) -> Memory:
    """Put one memory in the place of several, and return it."""
    async with changing(pool, agent) as connection:
        made = await connection.fetchval(
            *(_QUERIES["consolidate"], wanted.ids, wanted.content, wanted.title),
            *(wanted.kind, wanted.entity, wanted.key),
        )
        (row,) = await connection.fetch(_MEMORIES["get"], made)
    return Memory(**row)


async def health(pool: Pool, agent: Agent, space: str | None = None) -> HealthReport:
    """Report what could be tidied among what the agent sees."""
    rows = await read(pool, agent, _QUERIES["health"], space)
    return HealthReport(concerns=[HealthConcern(**row) for row in rows])
