"""The verifier without a database: a file that was changed by hand, or that is none."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pgrecall.log_file import NotALog, event_hash, verify_lines
from tests.store.history import ADA, export, offline, write_history

LAST = len(ADA)
Lines = list[str]


@pytest.fixture
async def lines(pool) -> Lines:
    await write_history(pool)
    return await export(pool)


def at(lines: Lines, sequence: int, kind: str = "event") -> int:
    """The index of ada's event, or head, in the space."""
    for index, line in enumerate(lines):
        fields = json.loads(line)
        if (fields["type"], fields.get("space"), fields.get("agent")) == (
            kind,
            "infra",
            "ada",
        ) and (kind == "head" or fields["sequence"] == sequence):
            return index
    raise AssertionError(sequence)


def edited(lines: Lines, place: int, kind: str = "event", /, **fields: object) -> Lines:
    index = at(lines, place, kind)
    line = json.dumps(json.loads(lines[index]) | fields)
    return [*lines[:index], line, *lines[index + 1 :]]


def without(lines: Lines, sequence: int) -> Lines:
    index = at(lines, sequence)
    return lines[:index] + lines[index + 1 :]


def swapped(lines: Lines, first: int, second: int) -> Lines:
    changed, one, other = list(lines), at(lines, first), at(lines, second)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def forged(lines: Lines, sequence: int, **fields: object) -> Lines:
    event = json.loads(lines[at(lines, sequence)]) | fields
    return edited(lines, sequence, **fields, hash=event_hash(event))


CASES: dict[str, tuple[Callable[[Lines], Lines], int, str]] = {
    "edited payload": (lambda x: edited(x, 5, payload='{"a": 1}'), 5, "was changed"),
    "edited time": (lambda x: edited(x, 5, at_microseconds="0"), 5, "was changed"),
    "edited hash": (lambda x: edited(x, 5, hash="00"), 5, "was changed"),
    "edited previous hash": (lambda x: edited(x, 5, previous_hash="00"), 5, "was changed"),
    "edited number": (lambda x: edited(x, 5, sequence=500), 5, "events 5 to 499 are missing"),
    "a number of many digits": (lambda x: edited(x, 5, sequence=10**30), 5, "are missing"),
    "another chain's": (lambda x: edited(x, 5, agent="bob"), 5, "event 5 is missing"),
    "a line removed": (lambda x: without(x, 5), 5, "event 5 is missing"),
    "lines swapped": (lambda x: swapped(x, 5, 7), 5, "out of its order"),
    "neighbours swapped": (lambda x: swapped(x, 5, 6), 5, "event 5"),
    "a line twice": (
        lambda x: [*x[: at(x, 5)], x[at(x, 5)], *x[at(x, 5) :]],
        5,
        "event 5 stands out of its order",
    ),
    "forged": (lambda x: forged(x, 5, payload='{"a": 1}'), 5, "was replaced"),
    "forged at the end": (lambda x: forged(x, LAST, action="x"), LAST, "head is not event"),
    "cut off": (
        lambda x: [
            line for line in x if x.index(line) < at(x, LAST - 2) or x.index(line) > at(x, LAST)
        ],
        LAST - 2,
        f"events {LAST - 2} to {LAST} are missing",
    ),
    "a head moved back": (
        lambda x: edited(x, 0, "head", sequence=LAST - 1),
        LAST,
        "more follow it",
    ),
    "a head's hash": (lambda x: edited(x, 0, "head", hash="00"), LAST, "head is not event"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_changed_file_is_found_with_the_place(name, lines):
    change, first_bad, reason = CASES[name]

    found = {(one.space, one.agent): one for one in offline(change(lines))}

    assert found["infra", "ada"].first_bad == first_bad
    assert reason in found["infra", "ada"].reason


def test_a_file_that_ends_early_is_found_wherever_it_ends(lines):
    for length in range(len(lines)):
        try:
            found = verify_lines(lines[:length])
        except NotALog:
            continue
        assert not all(one.valid for one in found), length


HEAD = '{"type":"log","format":1,"exported_at":"","heads":0}'
EVENT = {
    "type": "event",
    "space": "s",
    "agent": "a",
    "sequence": 1,
    "at_microseconds": "0",
    "action": "x",
    "id": None,
    "version": None,
    "payload": "{}",
    "commitment": None,
    "previous_hash": "",
    "hash": "",
}


@pytest.mark.parametrize(
    "wrong",
    [
        *([""], ["\x00"], ["{}"], ["[]"], ["null"], ["1"], ["\ufeff{}"], ["[" * 100_000], ["{"]),
        [HEAD.replace("1", "2", 1)],
        [HEAD.replace('"heads":0', '"heads":1')],
        [HEAD.replace('"heads":0', '"heads":true')],
        [HEAD, HEAD],
        [HEAD, ""],
        [json.dumps(EVENT)],
        [HEAD, json.dumps(EVENT)[:-1] + ',"payload":"{}"}'],
        *([HEAD, json.dumps(EVENT | {"more": 1})],),
        *([HEAD, json.dumps({k: v for k, v in EVENT.items() if k != name})] for name in EVENT),
        *([HEAD, json.dumps(EVENT | {name: 1.5})] for name in EVENT),
        *([HEAD, json.dumps(EVENT | {"space": text})] for text in ("\x00", "\ud800", None)),
        [HEAD, json.dumps(EVENT | {"sequence": True})],
        [HEAD, json.dumps(EVENT).replace('"sequence": 1', '"sequence": ' + "1" * 5000)],
        [HEAD, json.dumps(EVENT).replace('"sequence": 1', '"sequence": NaN')],
        [b"\xff\xfe"],
        [HEAD.encode("utf-16")],
    ],
)
def test_what_is_no_export_is_refused_with_the_line(wrong):
    with pytest.raises(NotALog):
        verify_lines(wrong)


def test_an_empty_log_is_valid_and_an_empty_file_is_none():
    assert verify_lines([HEAD]) == []
    with pytest.raises(NotALog, match="0 heads"):
        verify_lines([])
