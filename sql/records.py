"""What goes into the store and comes out: one definition for REST, MCP and the CLI."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, NewType, Protocol
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

AgentName = NewType("AgentName", str)
QueryEmbedding = NewType("QueryEmbedding", str)

Kind = Literal["episodic", "semantic", "procedural", "resource", "strategic", "identity"]
Visibility = Literal["private", "shared", "public"]
Mode = Literal["hybrid", "lexical", "vector", "exact"]
Include = Literal["superseded", "archived", "quarantined"]
ForgetHow = Literal["archive", "delete", "erase"]

MAX_CONTENT_CHARACTERS = 100_000


# Far below the depth at which Python's own JSON gives up.
MAX_JSON_DEPTH = 50
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text if Postgres can hold it: no NUL, no lone surrogate.

    Raises ValueError with the offset of the first character that can't be stored.
    """
    if found := _UNSTORABLE.search(text):
        what = "NUL character" if found[0] == "\x00" else "lone surrogate"
        raise ValueError(f"a {what} can't be stored (at character {found.start()})")
    return text


def not_blank(text: str) -> str:
    """Return the text if it holds anything but white space; raises ValueError otherwise."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def storable_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object if Postgres can hold it: storable strings, finite numbers, no deep nesting.

    Raises ValueError otherwise.
    """
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [inner for node in level for inner in _storable_children(node)]
        if not level:
            return value
    raise ValueError(f"must not be nested deeper than {MAX_JSON_DEPTH} levels")


def _storable_children(node: Any) -> Iterable[Any]:
    match node:
        case str():
            storable(node)
        case float() if not math.isfinite(node):
            raise ValueError("must hold finite numbers only")
        case dict():
            for name in node:
                storable(name)
            return node.values()
        case list():
            return node
    return ()


def _storable_if_text(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


# Before pydantic's own look at the text, which has other words for a surrogate; and lengths stand
# right after `str`, so that pydantic knows them for a string's.
Storable: Final = BeforeValidator(_storable_if_text)
NotBlank: Final = AfterValidator(not_blank)
Name = Annotated[str, Field(min_length=1, max_length=200), Storable, NotBlank]
Tags = Annotated[list[Name], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT_CHARACTERS), Storable, NotBlank]
Title = Annotated[str, Field(max_length=500), Storable]
Source = Annotated[str, Field(max_length=2000), Storable]
Origins = Annotated[list[UUID], Field(max_length=100)]


def _as_written(value: float) -> float:
    return float(f"{value:.6g}")


# Postgres' four-byte real, shown with the digits it holds: 0.8, not 0.800000011920929.
Real = Annotated[float, AfterValidator(_as_written)]


def _in_utc(time: datetime) -> datetime:
    """Return the time in UTC, which is meant where no zone was named."""
    try:
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("must be in the years 1 to 9999") from error


def _no_number(value: Any) -> Any:
    if isinstance(value, int | float):  # pydantic would guess whether seconds or milliseconds
        raise ValueError("must be written as ISO 8601, not as a number")
    return value


Time = Annotated[datetime, BeforeValidator(_no_number), AfterValidator(_in_utc)]
# Long enough for anybody, and what expires is a time that Python can tell.
LONGEST_TTL: Final = timedelta(days=365_000)
Ttl = Annotated[timedelta, Field(gt=timedelta(0), le=LONGEST_TTL), BeforeValidator(_no_number)]
Metadata = Annotated[dict[str, Any], AfterValidator(storable_json)]


class Input(BaseModel):
    """What a caller sends: unknown fields are refused, descriptions stand below the fields."""

    model_config = ConfigDict(
        extra="forbid", str_strip_whitespace=False, use_attribute_docstrings=True
    )


class NewMemory(Input):
    """What remember() takes. `space` left out is the agent's own space."""

    content: Content
    """The fact itself, in words that stand alone: names and dates in full, no "it" or "today"."""
    space: Name | None = None
    """The project it belongs to; left out, the agent's own space. A new name makes a new space."""
    kind: Kind = "semantic"
    """episodic: what happened; semantic: a fact; procedural: how to do something; resource: a
    pointer to a file or page; strategic: a plan or decision; identity: who somebody is."""
    title: Title | None = None
    """A short heading."""
    entity: Name | None = None
    """The one person, system or thing that it is about."""
    tags: Tags = []
    """Words to filter by."""
    importance: Share = 0.5
    """0: trivial, 1: vital."""
    confidence: Share = 0.8
    """0: a guess, 1: certain."""
    visibility: Visibility | None = None
    """private: its agent; shared: members of the space; public: every agent. Left out: private in
    the agent's own space, shared elsewhere."""
    key: Name | None = None
    """A stable name for a fact that may change, such as `bastion.port`: remembering the same key
    again makes a new version of that memory; what is not named stays as it was."""
    pinned: bool | None = None
    """Exempt from fading and tidying."""
    thread: Name | None = None
    """The conversation or task that it is a turn of."""
    source: Source | None = None
    """Where it comes from: a URL, a file, a person."""
    event_at: Time | None = None
    """When it happened, if not now."""
    valid_from: Time | None = None
    """When it began to be true."""
    valid_until: Time | None = None
    """When it stops being true; recall leaves it out from then on."""
    ttl: Ttl | None = None
    """How long to keep it, as an ISO 8601 duration such as P30D."""
    metadata: Metadata = {}
    """Anything else, as a JSON object. `source_type` says what kind of source it has."""
    derived_from: Origins | None = None
    """The ids of the memories that it was made of: erasing one of them erases this one too."""


class RecallQuery(Input):
    """What recall() takes. `space` left out asks every space that the agent may see."""

    query: Annotated[str, Field(max_length=MAX_CONTENT_CHARACTERS), Storable]
    """A question or a few words, in any language."""
    k: Annotated[int, Field(ge=1, le=100)] = 10
    """How many memories to return."""
    space: Name | None = None
    """Only this space; left out, every space that the agent may see."""
    kinds: list[Kind] | None = None
    """Only these kinds."""
    entity: Name | None = None
    """Only memories about this entity."""
    tags: Tags | None = None
    """Only memories that carry all of these tags."""
    since: Time | None = None
    """Only what happened at or after this time."""
    until: Time | None = None
    """Only what happened before this time."""
    as_of: Time | None = None
    """Answer as it stood at this time."""
    min_importance: Share = 0
    """Only memories at least this important."""
    min_confidence: Share = 0
    """Only memories at least this certain."""
    mode: Mode = "hybrid"
    """hybrid: words and meaning; lexical: words only; vector: meaning only; exact: the literal text
    anywhere in a memory."""
    rrf_k: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """How fast a rank's weight falls when the legs are fused; left out, the measured default."""
    weights: (
        Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1, max_length=4)] | None
    ) = None
    """Weights of the legs: lexical, vector, recency, graph."""
    include: list[Include] = []
    """What is otherwise left out."""
    skip: Annotated[int, Field(ge=0, le=10_000)] = 0
    """How many of the best to leave out, for the next page."""


class NewAlias(Input):
    """Another name of an entity, for all members of a space."""

    entity: Name
    """The name that memories have the entity under, or any of its names."""
    alias: Name
    """The other name. A query that uses either finds what is remembered under both."""
    space: Name | None = None
    """Where it holds. Left out: in the agent's own space."""


class Alias(BaseModel):
    """One other name of an entity, shared by the members of its space."""

    space: str
    entity: str
    alias: str


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
    session: UUID | None = None
    written_by: str
    """Who wrote this version: mostly `agent`, who owns the memory."""
    source_type: str | None = None
    derived_from: list[UUID] | None = None
    """Those of the memories it was made of that its reader may see."""
    echo_of: UUID | None = None
    """A memory whose words this one only repeats, so that it is no second evidence for them."""


class Quarantined(BaseModel):
    """Why a write waits for a reviewer; `score` goes from 0 to 1."""

    score: Real
    reasons: list[str]


class Contradiction(BaseModel):
    """A memory that says something else of the same thing; `why` tells of what, and in what."""

    id: UUID
    content: str
    why: str


class Likeness(Contradiction):
    """A memory that says nearly the same.

    `overlap` is the share of both's words that they have in common, 1 for all; `distance` how far
    apart they are in meaning, once both have vectors.
    """

    overlap: Real | None = None
    distance: Real | None = None


class Remembered(Memory):
    """The memory that a write left, and what it resembles: nothing is dropped because it does.

    `quarantined` stands where the write is held for review: nobody can recall it, and the version
    that stood before it, if any, still does. Of a write of more than 20 memories only
    `duplicate_of` is told.
    """

    quarantined: Quarantined | None = None

    duplicate_of: UUID | None = None
    """The memory that stood already, in the same words."""
    similar: list[Likeness] = []
    """Memories that say nearly the same, the likest first."""
    contradicts: list[Contradiction] = []
    """Memories that say something else of the same thing; one of them may be out of date."""


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
