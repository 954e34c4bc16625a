"""The versions of a memory: a new one, all of them, and one brought back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from sql.acting import acting, read
from sql.agents import Agent
from sql.errors import Conflict, NotFound, Stale
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.quarantine import held_writes
from sql.records import (
    Content,
    Input,
    Kind,
    Memory,
    Metadata,
    Name,
    Origins,
    Quarantined,
    Share,
    Source,
    Tags,
    Time,
    Title,
    Ttl,
    Visibility,
)
from sql.writing import refuse_reader

_QUERIES: Final = queries("life")

Clearable = Literal[
    "title",
    "entity",
    "tags",
    "key",
    "thread",
    "source",
    "event_at",
    "valid_from",
    "valid_until",
    "ttl",
    "metadata",
    "derived_from",
]


class Revision(Input):
    """What revise() takes: whatever is left out stays as it was."""

    content: Content | None = None
    """The fact as it is now, in words that stand alone."""
    kind: Kind | None = None
    """episodic, semantic, procedural, resource, strategic or identity."""
    title: Title | None = None
    """A short heading."""
    entity: Name | None = None
    """The one person, system or thing that it is about."""
    tags: Tags | None = None
    """All of its tags from now on."""
    importance: Share | None = None
    """0: trivial, 1: vital."""
    confidence: Share | None = None
    """0: a guess, 1: certain."""
    visibility: Visibility | None = None
    """private, shared or public; its owner's to change."""
    key: Name | None = None
    """The stable name by which remember() refines it."""
    pinned: bool | None = None
    """Exempt from fading and tidying."""
    thread: Name | None = None
    """The conversation or task that it is a turn of."""
    source: Source | None = None
    """Where it comes from: a URL, a file, a person."""
    event_at: Time | None = None
    """When it happened."""
    valid_from: Time | None = None
    """Since when the fact is as this version has it. Left out, the version holds for the same time
    as the one before: a correction."""
    valid_until: Time | None = None
    """When it stops being true."""
    ttl: Ttl | None = None
    """How long to keep it from now on, as an ISO 8601 duration such as P30D."""
    metadata: Metadata | None = None
    """What to merge into its metadata; a name with null goes."""
    derived_from: Origins | None = None
    """The ids of the memories that it was made of."""
    clear: Annotated[list[Clearable], Field(default_factory=list)]
    """Fields to empty; `ttl` makes it last."""


class Version(Memory):
    """One version of a memory, and what became of it."""

    superseded_at: datetime | None
    """When the next version was written; null for the newest."""
    replaced_from: datetime | None
    """From when on a later version holds, where that is another time than `superseded_at`."""
    archived_at: datetime | None
    deleted_at: datetime | None


class Versions(BaseModel):
    """The versions of a memory, oldest first."""

    versions: list[Version]


class Revised(Memory):
    """The memory as it stands after a revision.

    `quarantined` stands where the new version is held for review: the one before it still stands.
    """

    quarantined: Quarantined | None = None


async def revise(
    pool: Pool,
    agent: Agent,
    memory_id: UUID,
    revision: Revision,
    *,
    expected: Collection[int] | None = None,
    archived: bool | None = None,
) -> Revised:
    """Write a new version of a memory and return it; without a change, the one that stands.

    `expected` are the versions that the caller would build on, None for any; `archived` brings the
    memory back before (False) or puts it away afterwards (True). Raises NotFound, Forbidden,
    InvalidInput, and Stale when another version stands, or came while this one was written.
    """
    refuse_reader(agent)
    try:
        async with acting(pool, agent) as connection:
            version = await _standing(connection, memory_id)
            if expected is not None and version not in expected:
                raise Stale(f"memory {memory_id} is at version {version}", sqlstate="40001")
            if archived is False:
                version = await connection.fetchval(_QUERIES["restore"], memory_id)
            arguments = _arguments(revision)
            if revision.clear or any(value is not None for value in arguments):
                condition = None if expected is None else version
                version = await connection.fetchval(
                    *(_QUERIES["revise"], memory_id, *arguments, revision.clear, condition)
                )
            if archived:
                await connection.execute(_QUERIES["forget"], memory_id, "archive")
            row = await connection.fetchrow(_QUERIES["newest_version"], memory_id)
            written = (memory_id, version)
            held = {} if row is None else await held_writes(connection, agent, [written])
    except Conflict as error:
        if error.sqlstate != "40001" or isinstance(error, Stale):
            raise
        raise Stale(error.message, sqlstate="40001", hint=error.hint) from error
    if row is None:  # made invisible by its own revision
        raise NotFound(f"no memory {memory_id}", sqlstate="P0002")
    waiting = held.get(written)
    return Revised(**row, quarantined=waiting.quarantined if waiting else None)


async def history(pool: Pool, agent: Agent, memory_id: UUID) -> Versions:
    """Return every version of a memory that the agent may see, oldest first; raises NotFound."""
    rows = await read(pool, agent, _QUERIES["history"], memory_id)
    if not rows:
        raise NotFound(f"no memory {memory_id}", sqlstate="P0002")
    return Versions(versions=[Version(**row) for row in rows])


async def _standing(connection: Connection, memory_id: UUID) -> int:
    row = await connection.fetchrow(_QUERIES["standing"], memory_id)
    if row is None:
        raise NotFound(f"no memory {memory_id}", sqlstate="P0002")
    version: int = row["version"]
    return version


def _arguments(revision: Revision) -> list[Any]:
    return [
        getattr(revision, name)
        for name in (
            *("content", "kind", "title", "entity", "tags", "importance", "confidence"),
            *("visibility", "key", "pinned", "thread", "source", "event_at", "valid_from"),
            *("valid_until", "ttl", "metadata", "derived_from"),
        )
    ]
