"""Verifies an exported log without a database, by the description in docs/log.md alone.

Nothing here comes from the SQL that writes and verifies the log: where the two agree, each
vouches for the other.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Chain: TypeAlias = tuple[str, str]  # space, agent

_GENESIS: Final = hashlib.sha256(b"").hexdigest()
_FORMAT: Final = 1
_TEXT, _NUMBER, _NONE = str, int, type(None)
_HEAD: Final[Mapping[str, tuple[type, ...]]] = {
    "space": (_TEXT,),
    "agent": (_TEXT,),
    "sequence": (_NUMBER,),
    "hash": (_TEXT,),
}
_EVENT: Final[Mapping[str, tuple[type, ...]]] = {
    **_HEAD,
    "at_microseconds": (_TEXT,),
    "action": (_TEXT,),
    "id": (_TEXT, _NONE),
    "version": (_NUMBER, _NONE),
    "payload": (_TEXT,),
    "commitment": (_TEXT, _NONE),
    "previous_hash": (_TEXT,),
}
_LOG: Final[Mapping[str, tuple[type, ...]]] = {
    "format": (_NUMBER,),
    "exported_at": (_TEXT,),
    "heads": (_NUMBER,),
}
_LINES: Final = {"log": _LOG, "head": _HEAD, "event": _EVENT}


class NotALog(ValueError):
    """The lines are no export of a log; says at which line."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One chain as it was found; `first_bad` is the first event that is wrong or missing."""

    space: str
    agent: str
    events: int
    valid: bool
    first_bad: int | None
    reason: str | None


@dataclass(slots=True)
class _State:
    """A chain as far as it was read."""

    events: int = 0
    sequence: int = 0
    hash: str = _GENESIS
    sound: bool = True
    faults: list[tuple[int, str]] = field(default_factory=list)


def verify_lines(
    lines: Iterable[str | bytes], noted: Mapping[Chain, tuple[int, str]] | None = None
) -> list[Verdict]:
    """Verify an exported log; return a verdict for each chain, by space and agent.

    `noted` are heads kept elsewhere, a sequence number and a hash in hex for each chain: what the
    export does not hold of them was cut off or replaced. Raises NotALog.
    """
    noted = noted or {}
    states: dict[Chain, _State] = defaultdict(_State)
    held: dict[Chain, str] = {}
    read = _Reader()
    for event in read.events(lines):
        chain = (event["space"], event["agent"])
        _follow(states[chain], event)
        if chain in noted and event["sequence"] == noted[chain][0]:
            held[chain] = event["hash"]
    for chain in states.keys() | read.heads.keys() | noted.keys():
        _compare_head(states[chain], read.heads.get(chain))
        if chain in noted:
            _compare_noted(states[chain], *noted[chain], held.get(chain))
    return [_verdict(chain, states[chain]) for chain in sorted(states)]


def event_hash(event: Mapping[str, Any]) -> str:
    """Return the hash that an event must have, in hex: SHA-256 over its framed fields."""
    return hashlib.sha256(
        _framed(
            event["previous_hash"],
            event["space"],
            event["agent"],
            str(event["sequence"]),
            event["at_microseconds"],
            event["action"],
            event["id"],
            None if event["version"] is None else str(event["version"]),
            event["payload"],
            event["commitment"],
        )
    ).hexdigest()


def _framed(*fields: str | None) -> bytes:
    framed = bytearray()
    for text in fields:
        if text is None:
            framed += b"\xff\xff\xff\xff"
        else:
            encoded = text.encode()
            framed += len(encoded).to_bytes(4, "big") + encoded
    return bytes(framed)


def _follow(state: _State, event: Mapping[str, Any]) -> None:
    """Take the chain's next event, and note what is wrong with it or with the one before."""
    sequence, last = event["sequence"], state.sequence
    sound = event_hash(event) == event["hash"]
    if sequence < 1:
        state.faults.append(
            (sequence, f"event {sequence} stands before the beginning of the chain")
        )
    elif state.events and sequence <= last:
        state.faults.append((sequence, f"event {sequence} stands out of its order, after {last}"))
    elif last >= 0 and sequence > last + 1:
        state.faults.append((last + 1, _missing(last + 1, sequence - 1)))
    if not sound:
        reason = f"event {sequence} was changed: its hash is not that of its fields"
        state.faults.append((sequence, reason))
    elif state.sound and sequence == last + 1 and event["previous_hash"] != state.hash:
        if last == 0:
            reason = "event 1 was replaced: it does not begin the chain"
            state.faults.append((1, reason))
        else:
            reason = f"event {last} was replaced: event {sequence} was chained to another"
            state.faults.append((last, reason))
    state.events += 1
    state.sequence, state.hash, state.sound = sequence, event["hash"], sound


def _compare_head(state: _State, head: Mapping[str, Any] | None) -> None:
    last = state.sequence
    if head is None:
        if state.events:
            state.faults.append((last + 1, "the chain has no head: where it ends can't be told"))
    elif head["sequence"] > last:
        state.faults.append((last + 1, _missing(last + 1, head["sequence"])))
    elif head["sequence"] < last:
        first = head["sequence"] + 1
        reason = f"the chain's head is event {head['sequence']}, and more follow it"
        state.faults.append((first, reason))
    elif head["hash"] != state.hash:
        reason = f"the chain's head is not event {last} as it stands: one of them was changed"
        state.faults.append((last, reason))


def _compare_noted(state: _State, sequence: int, noted: str, found: str | None) -> None:
    if sequence == 0 or found == noted:
        return
    if found is not None or state.sequence >= sequence:
        reason = f"event {sequence} is not the one of the noted heads: it was replaced"
        state.faults.append((sequence, reason))
    else:
        reason = (
            f"the noted heads have event {sequence}, and the chain ends at {state.sequence}: "
            "its end was cut off, or an older state was put back"
        )
        state.faults.append((state.sequence + 1, reason))


def _missing(first: int, last: int) -> str:
    if first == last:
        return f"event {first} is missing"
    return f"events {first} to {last} are missing"


def _verdict(chain: Chain, state: _State) -> Verdict:
    first_bad, reason = min(state.faults, default=(None, None))
    return Verdict(*chain, state.events, not state.faults, first_bad, reason)


class _Reader:
    """Reads the lines: one of the log, as many heads as that one announces, then events."""

    def __init__(self) -> None:
        self.heads: dict[Chain, Mapping[str, Any]] = {}

    def events(self, lines: Iterable[str | bytes]) -> Iterator[Mapping[str, Any]]:
        """Yield the events; `heads` are there from the first one on."""
        announced = -1
        for number, line in enumerate(lines, 1):
            kind, fields = _parsed(number, line)
            if (kind == "log") != (number == 1):
                raise NotALog(f"line {number}: the line of the log itself must be the first one")
            if kind == "log":
                announced = fields["heads"]
            elif kind == "head":
                self.heads[fields["space"], fields["agent"]] = fields
            elif number <= announced + 1:
                raise NotALog(
                    f"line {number}: {announced} heads are announced, and fewer are there"
                )
            else:
                yield fields
        if announced != len(self.heads):
            heads = len(self.heads)
            raise NotALog(f"{max(announced, 0)} heads are announced, and {heads} are there")


def _parsed(number: int, line: str | bytes) -> tuple[str, Mapping[str, Any]]:
    try:
        text = line.decode() if isinstance(line, bytes) else line
        fields = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise NotALog(f"line {number} is no JSON: {error}") from error
    kind = fields.pop("type", None) if isinstance(fields, dict) else None
    if not isinstance(kind, str) or kind not in _LINES:
        raise NotALog(f"line {number} is no line of a log")
    _check(number, fields, _LINES[kind])
    if kind == "log" and fields["format"] != _FORMAT:
        raise NotALog(f"this is format {fields['format']}, and only {_FORMAT} is known here")
    return kind, fields


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name stands twice")
    return fields


def _check(
    number: int, fields: Mapping[str, Any], expected: Mapping[str, tuple[type, ...]]
) -> None:
    if fields.keys() != expected.keys():
        wrong = min(fields.keys() ^ expected.keys())
        raise NotALog(f"line {number}: {wrong!r} is {'unknown' if wrong in fields else 'missing'}")
    for name, kinds in expected.items():
        if type(fields[name]) not in kinds:
            raise NotALog(f"line {number}: {name} is of the wrong type")
        if isinstance(fields[name], str) and not _storable(fields[name]):
            raise NotALog(f"line {number}: {name} holds what no database can hold")


def _storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
