"""The log of changes: reading it, verifying it, and what leaves the database of it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sql.acting import read
from sql.agents import Agent
from sql.errors import InvalidInput, translated
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.records import Input, Name

_QUERIES: Final = queries("events")
_MAX_SEQUENCE: Final = 2**63 - 1
_PREFETCHED: Final = 2_000
_VERIFY_SECONDS: Final = 3_600.0
EXPORT_FORMAT: Final = 1

Sequence_ = Annotated[int, Field(ge=0, le=_MAX_SEQUENCE)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_POSITION: Final = TypeAdapter(tuple[Name, Name, Sequence_])


class Event(BaseModel):
    """One change. Hashes are in hex; `payload` and `commitment` never hold what a memory says."""

    space: str
    agent: str
    sequence: int
    at: datetime
    action: str
    id: UUID | None
    version: int | None
    payload: dict[str, Any]
    commitment: str | None
    previous_hash: str
    hash: str


class EventQuery(Input):
    """Which events to read; each chain is one space's and one agent's."""

    space: Name | None = None
    """Only chains of this space; left out, of every space whose log the agent may read."""
    agent: Name | None = None
    """Only what this agent did."""
    since: Sequence_ = 0
    """Only events with a larger sequence number than this: the last one that was read before."""
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    """How many events a page holds."""
    cursor: Annotated[str, Field(max_length=4000, pattern=r"^[A-Za-z0-9_-]+$")] | None = None
    """Where to go on: the `next_cursor` of the page before."""


class EventPage(BaseModel):
    """Some events, chain by chain in order, and where to go on; no cursor on the last page."""

    events: list[Event]
    next_cursor: str | None


class VerifyQuery(Input):
    """What verify() takes."""

    space: Name | None = None
    """Only chains of this space; left out, every chain that the agent may verify."""
    expected_head: Hash | None = None
    """The hash, in hex, of an event that was noted before: its chain must still hold it."""


class ChainVerdict(BaseModel):
    """One chain, or with `agent` null all of them, as it was found.

    `first_bad` is the sequence number of the first event that is wrong or missing; null when
    the chain is valid, or when the fault is at a memory that no event speaks of.
    """

    space: str | None
    agent: str | None
    events: int
    valid: bool
    first_bad: int | None
    reason: str | None


class Verification(BaseModel):
    """Whether every chain is valid, and each of them."""

    valid: bool
    chains: list[ChainVerdict]


@dataclass(frozen=True, slots=True)
class Head:
    """The newest event of a chain: its sequence number and its hash in hex."""

    space: str
    agent: str
    sequence: int
    hash: str


async def list_events(pool: Pool, agent: Agent, query: EventQuery) -> EventPage:
    """Return a page of the events that the agent may read: its own, and as an admin all."""
    after = _position(query.cursor) if query.cursor else ("", "", 0)
    rows = await read(
        *(pool, agent, _QUERIES["events"], query.space, query.agent, query.since, *after),
        query.limit + 1,
    )
    events = [Event(**row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return EventPage(events=events, next_cursor=_cursor_at(events[-1]) if more else None)


async def verify(pool: Pool, agent: Agent, query: VerifyQuery) -> Verification:
    """Verify the chains that the agent may verify; raises NotFound for a space without one."""
    expected = bytes.fromhex(query.expected_head) if query.expected_head else None
    rows = await read(pool, agent, _QUERIES["verify"], query.space, expected)
    return verification([ChainVerdict(**row) for row in rows])


async def verify_everything(
    pool: Pool, space: str | None = None, noted: Sequence[Head] = ()
) -> Verification:
    """Verify every chain there is, or of one space, and that each still holds its noted head."""
    with translated():
        async with pool.acquire() as connection, _snapshot(connection):
            rows = await connection.fetch(_QUERIES["verify_all"], space, timeout=_VERIFY_SECONDS)
            lost = await connection.fetch(_QUERIES["noted_heads"], *_columns(noted))
    verdicts = {(row["space"], row["agent"]): ChainVerdict(**row) for row in rows}
    for row in lost:
        chain = (row["space"], row["agent"])
        verdicts[chain] = _without_head(verdicts.get(chain), row)
    return verification([verdicts[chain] for chain in sorted(verdicts)])


def verification(chains: list[ChainVerdict]) -> Verification:
    """Return the chains with the verdict on all of them."""
    return Verification(valid=all(chain.valid for chain in chains), chains=chains)


async def chain_heads(pool: Pool, space: str | None = None) -> list[Head]:
    """Return the head of every chain, or of those of one space."""
    with translated():
        return [Head(**row) for row in await pool.fetch(_QUERIES["heads"], space)]


@asynccontextmanager
async def exported(
    pool: Pool, space: str | None = None
) -> AsyncIterator[tuple[int, AsyncIterator[str]]]:
    """Yield how many events there are, and the log as lines of JSON, all of one moment.

    A line says what it is in `type`: the `log` itself first, then each `head`, then each `event`,
    chain by chain. docs/log.md describes them.
    """
    with translated():
        async with pool.acquire() as connection, _snapshot(connection):
            events = await connection.fetchval(_QUERIES["count_events"], space)
            yield events, _lines(connection, space)


async def _lines(connection: Connection, space: str | None) -> AsyncIterator[str]:
    heads = await connection.fetch(_QUERIES["heads"], space)
    moment = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    yield _line("log", format=EXPORT_FORMAT, exported_at=moment, heads=len(heads))
    for head in heads:
        yield _line("head", **head)
    cursor = connection.cursor(_QUERIES["export_events"], space, prefetch=_PREFETCHED)
    async for event in cursor:
        yield _line("event", **event)


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind} | fields, ensure_ascii=False, separators=(",", ":"))


@asynccontextmanager
async def _snapshot(connection: Connection) -> AsyncIterator[None]:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        yield


def _columns(heads: Sequence[Head]) -> tuple[list[Any], ...]:
    return (
        [head.space for head in heads],
        [head.agent for head in heads],
        [head.sequence for head in heads],
        [bytes.fromhex(head.hash) for head in heads],
    )


def _without_head(verdict: ChainVerdict | None, row: Any) -> ChainVerdict:
    """Return the verdict on a chain that does not hold the event that was its head."""
    if verdict is None:
        verdict = ChainVerdict(
            space=row["space"],
            agent=row["agent"],
            events=0,
            valid=True,
            first_bad=None,
            reason=None,
        )
    noted, last = row["sequence"], row["last"]
    if row["hash"] is not None or last >= noted:
        first, reason = noted, f"event {noted} is not the one of the noted heads: it was replaced"
    else:
        first, reason = (
            last + 1,
            f"the noted heads have event {noted}, and the chain ends at {last}: "
            "its end was cut off, or an older state was put back",
        )
    if verdict.first_bad is not None and verdict.first_bad <= first:
        return verdict
    return verdict.model_copy(update={"valid": False, "first_bad": first, "reason": reason})


def _cursor_at(event: Event) -> str:
    position = json.dumps([event.space, event.agent, event.sequence], separators=(",", ":"))
    return urlsafe_b64encode(position.encode()).rstrip(b"=").decode()


def _position(cursor: str) -> tuple[str, str, int]:
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return _POSITION.validate_json(text)
    except (NotBase64, ValidationError) as error:
        raise InvalidInput("cursor is none that a page gave", sqlstate="22023") from error
