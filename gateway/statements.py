"""Which prepared statements carry hidden parameters, as the server knows them.

A statement's state changes when the server answers, not when the client asks: a Parse that fails
leaves a named statement as it was, and after an error everything up to the next Sync is skipped.
So each request that matters waits in a queue until its answer comes. Where the answer can't be told
(a failed Parse of the unnamed statement drops it) the old state is kept: it can only be asked for
by a Bind that the server refuses anyway. A simple query inside a round that no Sync has ended would
leave open which of the two an error belongs to; no driver sends one.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from gateway.splice import Function, Insertion

_DEALLOCATE = re.compile(
    rb'\bdeallocate\s+(?:prepare\s+)?(?:"((?:[^"]|"")+)"|([\w$\x80-\xff]+))', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Source:
    """The parameter whose text is embedded, and for which function."""

    function: Function
    parameter: int


@dataclass(frozen=True, slots=True)
class Hidden:
    """A statement's hidden parameters: those after the `visible` ones that the client knows."""

    visible: int
    sources: tuple[Source, ...]


class Undecided(Enum):
    """A statement of which the server hasn't said yet what it is."""

    UNDECIDED = "undecided"


@dataclass(slots=True)
class SentText:
    """A Query or Parse on its way; `insertions` are set once they are made."""

    insertions: Sequence[Insertion] = ()


@dataclass(slots=True)
class _Parse(SentText):
    name: bytes = b""
    hidden: Hidden | None = None


@dataclass(slots=True)
class _Query(SentText):
    pass


@dataclass(frozen=True, slots=True)
class _Close:
    name: bytes | None  # None for a portal


@dataclass(frozen=True, slots=True)
class _Describe:
    hidden: int


class _Mark(Enum):
    SYNC = "sync"
    COPY_END = "copy end"


Kind = TypeVar("Kind")
SYNC: Final = _Mark.SYNC
UNTOUCHED: Final = _Query()  # shared: a Query with nothing put in has no state of its own
_Request = _Parse | _Query | _Close | _Describe | _Mark


class Statements:
    """What is prepared on one session, from both directions of its messages.

    The first half of the methods is told of the client's messages in the order they're sent, the
    second of the server's as they come.
    """

    __slots__ = ("_copying", "_doomed", "_known", "_skipping", "active", "asked", "plain")

    def __init__(self) -> None:
        self._known: dict[bytes, Hidden] = {}
        self.asked: deque[_Request] = deque()
        self._doomed: set[bytes] = set()
        self._skipping = False
        self._copying = False
        self.active = False  # set with the first hidden parameter, and for good
        self.plain = True  # whether neither that nor an error nor a COPY is to be minded now

    @property
    def unanswered(self) -> bool:
        """Whether a request still waits for its answer."""
        return len(self.asked) > 0

    # --- the client's messages

    def parse(self, name: bytes, hidden: Hidden | None) -> SentText:
        """Note a Parse; the caller fills in what it inserts."""
        sent = _Parse(name=name, hidden=hidden)
        if hidden is not None:
            self.active = True
            self.plain = False
        self._note(sent)
        return sent

    def query(self) -> None:
        """Note a Query or a FunctionCall, which the server answers with one ReadyForQuery."""
        if not self._skipping:
            self.asked.append(UNTOUCHED)

    def spliced_query(self) -> SentText:
        """Note a Query whose insertions the caller fills in."""
        sent = _Query()
        self._note(sent)
        return sent

    def close(self, name: bytes | None) -> None:
        """Note a Close of a statement, or of a portal (None)."""
        self._note(_Close(name))

    def describe(self, hidden: int) -> None:
        """Note a Describe of a statement with so many hidden parameters."""
        self._note(_Describe(hidden))

    def sync(self) -> None:
        """Note a Sync, which the server ignores while it takes in a COPY."""
        if not self._copying:
            self.asked.append(SYNC)
            if self._skipping:
                self._skipping = False
                self._look_around()

    def copy_end(self) -> None:
        """Note a CopyDone or CopyFail."""
        if self._copying:
            self._copying = False
            self._look_around()
        else:
            self._note(_Mark.COPY_END)

    def deallocate(self, sql: bytes) -> None:
        """Note the names that a text deallocates; they go when the command's tag comes."""
        for quoted, plain in _DEALLOCATE.findall(sql):
            self._doomed.add(quoted.replace(b'""', b'"') or plain.lower())

    def _look_around(self) -> None:
        self.plain = not (self.active or self._skipping or self._copying)

    def _note(self, request: _Request) -> None:
        if not self._skipping:
            self.asked.append(request)

    def hidden_of(self, name: bytes) -> Hidden | Undecided | None:
        """Return the hidden parameters of the statement that a message sent now would meet."""
        possible: list[Hidden | None] = []
        synced = behind_sync = False
        for request in reversed(self.asked):
            if request is SYNC or isinstance(request, _Query):
                synced = True
            elif isinstance(request, _Parse | _Close) and request.name == name:
                behind_sync |= synced and not possible
                possible.append(request.hidden if isinstance(request, _Parse) else None)
        possible.append(self._known.get(name))
        # Only behind a Sync does the server go on although one of them failed or was skipped.
        if behind_sync and any(one != possible[0] for one in possible):
            return Undecided.UNDECIDED
        return possible[0]

    # --- the server's messages

    def parse_complete(self) -> None:
        """Apply the Parse that is answered."""
        sent = self._pop(_Parse)
        if sent is None:
            return
        if sent.hidden is None:
            self._known.pop(sent.name, None)
        else:
            self._known[sent.name] = sent.hidden

    def close_complete(self) -> None:
        """Apply the Close that is answered."""
        sent = self._pop(_Close)
        if sent is not None and sent.name is not None:
            self._known.pop(sent.name, None)

    def parameter_description(self) -> int:
        """Return how many hidden parameters the described statement has."""
        strays = self._strays()
        first = self.asked[strays] if strays < len(self.asked) else None
        if not isinstance(first, _Describe):
            return 0  # asked before there was anything to hide
        for _ in range(strays + 1):
            self.asked.popleft()
        return first.hidden

    def command_complete(self, tag: bytes) -> None:
        """Forget what DEALLOCATE and DISCARD ALL drop."""
        if tag in (b"DEALLOCATE ALL", b"DISCARD ALL"):
            self._known.clear()
        elif tag == b"DEALLOCATE":
            for name in self._doomed:
                self._known.pop(name, None)
            self._doomed.clear()

    def text_in_error(self) -> Sequence[Insertion]:
        """Return the insertions of the text that an error's position refers to."""
        first = self.asked[0] if self.asked else None
        return first.insertions if isinstance(first, SentText) else ()

    def error(self) -> None:
        """Drop what the server skips: in the extended protocol, everything up to the Sync."""
        strays = self._strays()
        if strays < len(self.asked) and isinstance(self.asked[strays], _Query):
            return
        self._copying = False
        while self.asked and self.asked[0] is not SYNC:
            self.asked.popleft()
        self._skipping = not self.asked
        self._look_around()

    def ready(self) -> bool:
        """Close the round that a Sync or Query asked for; return whether it was the last."""
        if not self.plain:
            self._skipping = self._copying = False
            self._look_around()
        sent = self.asked
        while sent:
            request = sent.popleft()
            if request is UNTOUCHED or request is SYNC or isinstance(request, _Query):
                break
        return not sent

    def copy_in(self) -> None:
        """Drop the Syncs that the server ignores, up to the COPY's end."""
        head = self._popped_query()
        self._copying = True
        while self._copying and self.asked and isinstance(self.asked[0], _Mark):
            self._copying = self.asked.popleft() is SYNC
        if head is not None:
            self.asked.appendleft(head)
        self._look_around()

    def _popped_query(self) -> _Query | None:
        """Take the Query in front, and the strays before it."""
        strays = self._strays()
        query = self.asked[strays] if strays < len(self.asked) else None
        if not isinstance(query, _Query):
            return None
        for _ in range(strays + 1):
            self.asked.popleft()
        return query

    def _strays(self) -> int:
        """Count the ends of no COPY in front, which the server ignores."""
        ends = itertools.takewhile(lambda request: request is _Mark.COPY_END, self.asked)
        return sum(1 for _ in ends)

    def _pop(self, kind: type[Kind]) -> Kind | None:
        while self.asked:
            request = self.asked.popleft()
            if isinstance(request, kind):
                return request
        return None
