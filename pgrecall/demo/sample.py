"""The bundled sample: what four agents of a small company remember, told from today backwards."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Any

from sql.records import NewMemory

SPACES = ("billing", "infra", "support", "product")

_TURN_GAP = timedelta(minutes=3)
_TURN_IMPORTANCE = 0.4


@dataclass(frozen=True, slots=True)
class SampleMemory:
    """A memory, and the agent that remembers it."""

    agent: str
    memory: NewMemory


def load_sample(now: datetime) -> list[SampleMemory]:
    """Return the sample with its relative times counted back from `now`, oldest event first.

    Two records refine an earlier one under the same key, so that the store ends up with two
    memories fewer than there are records. Raises pydantic.ValidationError for a record that
    the store would refuse.
    """
    records = [record for space in SPACES for record in _read_space(space, now)]
    return sorted(records, key=lambda record: record.memory.event_at or now)


def _read_space(space: str, now: datetime) -> Iterator[SampleMemory]:
    text = resources.files("pgrecall").joinpath("sample", f"{space}.toml").read_text("utf-8")
    document = tomllib.loads(text)
    for entry in document["memories"]:
        yield _memory(space, entry, now)
    for thread in document["threads"]:
        yield from _turns(space, thread, now)


def _memory(space: str, entry: dict[str, Any], now: datetime) -> SampleMemory:
    fields = dict(entry)
    agent = fields.pop("agent")
    if "event_on" in fields:
        fields["event_at"] = _latest(fields.pop("event_on"), now)
    else:
        fields["event_at"] = now - timedelta(days=fields.pop("days_ago"))
    if "valid_days_ago" in fields:
        fields["valid_from"] = now - timedelta(days=fields.pop("valid_days_ago"))
    fields["content"] = fields["content"].strip()
    return SampleMemory(agent, NewMemory(space=space, **fields))


def _turns(space: str, thread: dict[str, Any], now: datetime) -> Iterator[SampleMemory]:
    started_at = now - timedelta(days=thread["days_ago"])
    turns = thread["turns"]
    for index, turn in enumerate(turns):
        yield SampleMemory(
            turn["agent"],
            NewMemory(
                space=space,
                content=turn["content"],
                kind="episodic",
                title=f"{thread['title']} ({index + 1}/{len(turns)})",
                entity=thread["entity"],
                tags=thread["tags"],
                importance=_TURN_IMPORTANCE,
                thread=thread["name"],
                event_at=started_at + index * _TURN_GAP,
            ),
        )


def _latest(month_day: str, now: datetime) -> datetime:
    """Return noon UTC of the last such day ("05-03") that has passed."""
    month, day = (int(part) for part in month_day.split("-"))
    noon = datetime(now.year, month, day, 12, tzinfo=UTC)
    return noon if noon <= now else noon.replace(year=now.year - 1)
