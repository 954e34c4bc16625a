"""What goes into the store and comes out: one definition for REST, MCP and the CLI."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NewType, Protocol
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

AgentName = NewType("AgentName", str)
QueryEmbedding = NewType("QueryEmbedding", str)

Kind = Literal["episodic", "semantic", "procedural", "resource", "strategic", "identity"]
Visibility = Literal["private", "shared", "public"]
Mode = Literal["hybrid", "lexical", "vector", "exact"]
Include = Literal["superseded", "archived", "quarantined"]
ForgetHow = Literal["archive", "delete", "erase"]

MAX_CONTENT_CHARACTERS = 100_000


def storable(text: str) -> str:
    """Return the text if Postgres can hold it: no NUL, no lone surrogate.

    Raises ValueError with the offset of the first character that can't be stored.
    """
    for offset, character in enumerate(text):
        if character == "\x00":
            raise ValueError(f"a NUL character can't be stored (at character {offset})")
        if "\ud800" <= character <= "\udfff":
            raise ValueError(f"a lone surrogate can't be stored (at character {offset})")
    return text


def not_blank(text: str) -> str:
    """Return the text if it holds anything but white space; raises ValueError otherwise."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def storable_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object if Postgres can hold its strings and keys; raises ValueError otherwise."""
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            storable(node)
        elif isinstance(node, dict):
            pending.extend(node.keys())
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return value


Text = Annotated[str, AfterValidator(storable)]
Name = Annotated[Text, AfterValidator(not_blank), Field(min_length=1, max_length=200)]
Tags = Annotated[list[Name], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]


def _as_written(value: float) -> float:
    return float(f"{value:.6g}")


# Postgres' four-byte real, shown with the digits it holds: 0.8, not 0.800000011920929.
Real = Annotated[float, AfterValidator(_as_written)]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class NewMemory(_Input):
    """What remember() takes. `space` left out is the agent's own space."""

    content: Annotated[
        Text, AfterValidator(not_blank), Field(min_length=1, max_length=MAX_CONTENT_CHARACTERS)
    ]
    space: Name | None = None
    kind: Kind = "semantic"
    title: Annotated[Text, Field(max_length=500)] | None = None
    entity: Name | None = None
    tags: Tags = []
    importance: Share = 0.5
    confidence: Share = 0.8
    visibility: Visibility | None = None
    key: Name | None = None
    pinned: bool | None = None
    thread: Name | None = None
    source: Annotated[Text, Field(max_length=2000)] | None = None
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    ttl: timedelta | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(storable_json)] = {}


class RecallQuery(_Input):
    """What recall() takes. `space` left out asks every space that the agent may see."""

    query: Annotated[Text, Field(max_length=MAX_CONTENT_CHARACTERS)]
    k: Annotated[int, Field(ge=1, le=100)] = 10
    space: Name | None = None
    kinds: list[Kind] | None = None
    entity: Name | None = None
    tags: Tags | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    min_importance: Share = 0
    min_confidence: Share = 0
    mode: Mode = "hybrid"
    rrf_k: Annotated[int, Field(ge=1, le=10_000)] | None = None
    weights: (
        Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1, max_length=4)] | None
    ) = None
    include: list[Include] = []
    skip: Annotated[int, Field(ge=0, le=10_000)] = 0


class Memory(BaseModel):
    """One version of a memory as its reader sees it."""

    id: UUID
    version: int
    space: str
    agent: str
    kind: Kind
    visibility: Visibility
    title: str | None
    content: str
    entity: str | None
    tags: list[str]
    importance: Real
    confidence: Real
    pinned: bool
    key: str | None
    thread: str | None
    source: str | None
    event_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    expires_at: datetime | None
    metadata: dict[str, Any]
    created_at: datetime


class Remembered(Memory):
    """The memory that a write left, and what it resembles."""

    duplicate_of: UUID | None = None
    similar: list[dict[str, Any]] = []
    contradicts: list[dict[str, Any]] = []


class Recalled(BaseModel):
    """One row of recall(): the memory, and why it came.

    `score` is larger for better, `distance` smaller for nearer; ranks begin at 1.
    """

    rank: int
    score: Real
    id: UUID
    version: int
    space: str
    agent: str
    kind: Kind
    title: str | None
    content: str
    entity: str | None
    tags: list[str]
    importance: Real
    confidence: Real
    pinned: bool
    event_at: datetime | None
    created_at: datetime
    lexical_rank: int | None
    vector_rank: int | None
    graph_hops: int | None
    distance: Real | None


class LegHits(BaseModel):
    """How many of the results each leg found."""

    lexical: int
    vector: int


class RecallAnswer(BaseModel):
    """The ranked memories, and what served them.

    `degraded` names what kept a leg from serving; None when all served.
    """

    results: list[Recalled]
    degraded: str | None = None
    took_ms: float
    legs: LegHits


class EmbedQuery(Protocol):
    """Makes the query embedding of a text; answers a failure marker rather than raising."""

    async def __call__(self, text: str) -> QueryEmbedding:
        """Return what recall() takes as `query_embedding` for this text."""
        ...


def vector_text(vector: Iterable[float]) -> str:
    """Write a vector as pgvector reads it; halfvec keeps fewer digits than this gives."""
    return f"[{','.join(f'{component:.5g}' for component in vector)}]"


def query_embedding(model: str, vector: Iterable[float]) -> QueryEmbedding:
    """Write a vector as recall() and remember() take it: the model's name, a blank, `[…]`."""
    return QueryEmbedding(f"{model} {vector_text(vector)}")


def failed_embedding(model: str, reason: str) -> QueryEmbedding:
    """Write why there is no vector; recall() answers by its lexical leg and says the reason."""
    return QueryEmbedding(f"{model} ! {reason}")
