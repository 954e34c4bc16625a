"""Bodies that only HTTP has; the rest are the store's own records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sql.records import Alias, Input, NewMemory, Remembered

MAX_BATCH = 1_000


class NewMemories(Input):
    """Memories to store in one transaction."""

    memories: Annotated[list[NewMemory], Field(min_length=1, max_length=MAX_BATCH)]
    """All or none are stored."""


class RememberedMemories(BaseModel):
    """The memories that a batch left, in the order in which they were sent."""

    memories: list[Remembered]


class Aliases(BaseModel):
    """Other names of entities, by space, entity and alias."""

    aliases: list[Alias]


class Health(BaseModel):
    """The process answers; this says nothing of the database."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """Whether the server can serve: `embedder` is the model's name, null without one."""

    database: Literal["ok", "unreachable"]
    migrations: Literal["ok", "pending", "unknown"]
    embedder: str | None
    embedding_backlog: int | None
