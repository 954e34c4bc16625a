"""Both directions of one session: what goes on untouched, what carries an embedding, no IO.

The client's messages are searched for calls that can take an embedding; the server's are watched
for what it says of prepared statements, settings and errors. Hidden parameters are numbered after
every parameter that the client knows, and are of the type memory.query_embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gateway.encodings import codec_for, decoded
from gateway.protocol import backend, frontend
from gateway.protocol.errors import Malformed
from gateway.protocol.wire import (
    HEADER_BYTES,
    MAX_SMALL_MESSAGE_BYTES,
    FrameWalker,
    Hold,
    Visitor,
    header_at,
)
from gateway.splice import (
    MAX_PARAMETERS,
    Call,
    Calls,
    Function,
    Insertion,
    find_calls,
    mentions_memory,
    original_position,
)
from gateway.spliced import Spliced, SplicedBind, SplicedText, Wanted
from gateway.statements import SYNC, UNTOUCHED, Hidden, SentText, Source, Statements, Undecided

MAX_HELD_BYTES: Final = 16 * 1024 * 1024
BUSY: Final = 0
_QUERY: Final = ord("Q")
_SYNC: Final = ord("S")
_READY_HEADER: Final = b"Z\x00\x00\x00\x05"


class Rewriter:
    """The state of one logged-in session.

    `status` is the last ReadyForQuery's, or BUSY while the server has something to answer; whoever
    passes the client's bytes sets it to that. `blocked` says that the client's bytes wait for an
    answer of the server: set it to False after each server_bytes(), and pass nothing again.
    """

    __slots__ = (
        "_backslash_escapes",
        "_client",
        "_codec",
        "_embedding_oid",
        "_server",
        "_statements",
        "blocked",
        "client_bytes",
        "said_goodbye",
        "server_bytes",
        "server_gave_up",
        "splices",
        "status",
    )

    def __init__(self, embedding_oid: int | None) -> None:
        self._embedding_oid = embedding_oid
        self._statements = Statements()
        self._codec: str | None = "utf-8"
        self._backslash_escapes = False
        self.status = BUSY
        self.blocked = False
        self.said_goodbye = False
        self.server_gave_up = False
        self.splices = 0
        client_visitors: dict[int, Visitor[Spliced]] = {
            ord("Q"): self._query,
            ord("P"): self._parse,
            ord("C"): self._close,
            ord("S"): self._sync,
            ord("F"): self._function_call,
            ord("c"): self._copy_end,
            ord("f"): self._copy_end,
            ord("X"): self._terminate,
        }
        server_visitors: dict[int, Visitor[bytes]] = {
            ord("1"): self._parse_complete,
            ord("3"): self._close_complete,
            ord("E"): self._error,
            ord("G"): self._copy_in,
            ord("W"): self._copy_in,
            ord("N"): self._notice,
            ord("S"): self._parameter_status,
            ord("Z"): self._ready,
        }
        self._client: FrameWalker[Spliced] = FrameWalker(
            client_visitors,
            max_held_bytes=MAX_HELD_BYTES,
            oversized=self._oversized,
            limits=frontend.LENGTH_LIMITS,
        )
        self._server: FrameWalker[bytes] = FrameWalker(
            server_visitors, max_held_bytes=MAX_HELD_BYTES
        )
        # Take bytes of the client or the server and return what the other side gets; each raises
        # ProtocolViolation. Methods in between would be a call for each message.
        self.client_bytes = self._client.feed
        self.server_bytes = self._server.feed

    @property
    def server_at_boundary(self) -> bool:
        """Whether the client has been given whole messages only."""
        return self._server.at_boundary

    # --- what most chunks are: a round without anything of ours
    # Written out, since a call in these two costs as much as all the rest of them.

    def client_passes(self, chunk: bytes) -> bool:
        """Tell whether a chunk of the client's goes on as it is, and note the round it asks for.

        If not, nothing was noted and client_bytes() takes it.
        """
        stop = len(chunk)
        statements = self._statements
        if not statements.plain or self._client.midway or stop > MAX_SMALL_MESSAGE_BYTES:
            return False
        visitors = self._client.visitors
        last_header = stop - HEADER_BYTES
        after = tag = length = 0
        while after <= last_header:
            tag, length = header_at(chunk, after)
            after += 1 + length
            if visitors[tag] is not None or length < 4:
                break
        if after != stop or length < 4:
            return False
        if tag == _SYNC or (tag == _QUERY and not mentions_memory(chunk)):
            statements.asked.append(SYNC if tag == _SYNC else UNTOUCHED)
            return True
        return visitors[tag] is None

    def server_passes(self, chunk: bytes) -> bool:
        """Tell whether a chunk of the server's goes on as it is, and note the round it ends.

        If not, nothing was noted and server_bytes() takes it.
        """
        last = len(chunk) - HEADER_BYTES - 1  # a ReadyForQuery's status is one byte
        statements = self._statements
        server = self._server
        if last < 0 or not statements.plain or server.midway:
            return False
        if not chunk.startswith(_READY_HEADER, last):
            return False
        visitors = server.visitors
        position = 0
        while position < last:
            tag, length = header_at(chunk, position)
            if visitors[tag] is not None or length < 4:
                return False
            position += 1 + length
        if position != last:
            return False
        asked = statements.asked
        if len(asked) > 1:
            statements.ready()
        else:
            asked.clear()
        if not asked and not self._client.held:
            self.status = chunk[-1]
        return True

    # --- the client's messages

    def _query(self, chunk: bytes, start: int, stop: int) -> Spliced | None:
        statements = self._statements
        sql = chunk[start + HEADER_BYTES : stop - 1]
        if statements.active:
            statements.deallocate(sql)
        if not mentions_memory(sql) or b"\x00" in sql:
            statements.query()
            return None
        sent = statements.spliced_query()
        text = self._readable(sql)
        if text is None:
            return None
        # In a simple query $1 can only belong to a PREPARE inside it.
        plan = _plan(self._calls(text).calls, first_hidden=None)
        return self._spliced(frontend.Query(sql), text, plan, sent)

    def _parse(self, chunk: bytes, start: int, stop: int) -> Spliced | None:
        body = chunk[start + HEADER_BYTES : stop]
        if self._statements.active:
            self._statements.deallocate(body)
        if mentions_memory(body):
            try:
                message = frontend.Parse.decode(body)
            except Malformed:
                return None  # Postgres says so itself, and closes
            text = self._readable(message.sql)
            if text is not None:
                return self._parse_with_embeddings(message, text)
        self._statements.parse(body[: body.find(b"\x00")], None)
        return None

    def _parse_with_embeddings(self, message: frontend.Parse, text: str) -> Spliced | None:
        found = self._calls(text)
        first_hidden = max(found.highest_parameter, len(message.oids)) + 1
        oid = self._embedding_oid
        plan = _plan(found.calls, first_hidden if oid else None)
        hidden = None
        if plan.sources and oid:
            hidden = Hidden(first_hidden - 1, plan.sources)
            padding = (0,) * (hidden.visible - len(message.oids))
            oids = (*message.oids, *padding, *(oid for _ in plan.sources))
            message = replace(message, oids=oids)
            self._watch_hidden()
        sent = self._statements.parse(message.statement, hidden)
        return self._spliced(message, text, plan, sent)

    def _readable(self, sql: bytes) -> str | None:
        return None if self._codec is None else decoded(sql, self._codec)

    def _calls(self, text: str) -> Calls:
        return find_calls(text, backslash_escapes=self._backslash_escapes)

    def _spliced(
        self,
        message: frontend.Query | frontend.Parse,
        text: str,
        plan: _Plan,
        sent: SentText,
    ) -> SplicedText | None:
        if not plan.slots or self._codec is None:
            return None
        self.splices += len(plan.slots)
        return SplicedText(plan.wanted, message, text, self._codec, plan.slots, sent)

    def _bind(self, chunk: bytes, start: int, stop: int) -> Spliced | Hold | None:
        portal_end = chunk.find(b"\x00", start + HEADER_BYTES, stop)
        name = chunk[portal_end + 1 : chunk.find(b"\x00", portal_end + 1, stop)]
        hidden = self._statements.hidden_of(name)
        if hidden is Undecided.UNDECIDED:
            return self._block()
        if hidden is None:
            return None
        try:
            message = frontend.Bind.decode(chunk[start + HEADER_BYTES : stop])
        except Malformed:
            return None
        # With a wrong count of values the hidden ones are appended all the same, or one value too
        # many would pass for a hidden one.
        values: tuple[Wanted | None, ...] = (None,) * len(hidden.sources)
        codec = self._codec
        if codec is not None and len(message.values) == hidden.visible:
            values = tuple(
                _wanted(source.function, message.values[source.parameter - 1], codec)
                for source in hidden.sources
            )
        wanted = tuple(value for value in values if value is not None)
        return SplicedBind(wanted, message, values, codec or "ascii")

    def _oversized(self, beginning: bytes) -> None:
        """Keep count of a text that is too large to look into: it recalls without an embedding."""
        if beginning[0] == ord("Q"):
            self._statements.query()
        elif beginning[0] == ord("P"):
            name = beginning[HEADER_BYTES:].partition(b"\x00")[0]
            self._statements.parse(name, None)

    def _describe(self, chunk: bytes, start: int, stop: int) -> Hold | None:
        if chunk[start + HEADER_BYTES : start + HEADER_BYTES + 1] == b"S":
            hidden = self._statements.hidden_of(chunk[start + HEADER_BYTES + 1 : stop - 1])
            if hidden is Undecided.UNDECIDED:
                return self._block()
            self._statements.describe(0 if hidden is None else len(hidden.sources))
        return None

    def _block(self) -> Hold:
        self.blocked = True
        return Hold.HOLD

    def _close(self, chunk: bytes, start: int, stop: int) -> None:
        is_statement = chunk[start + HEADER_BYTES : start + HEADER_BYTES + 1] == b"S"
        name = chunk[start + HEADER_BYTES + 1 : stop - 1]
        self._statements.close(name if is_statement else None)

    def _sync(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.sync()

    def _function_call(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.query()

    def _copy_end(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.copy_end()

    def _terminate(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self.said_goodbye = True

    def _watch_hidden(self) -> None:
        """From the first hidden parameter on, watch also what only matters with one."""
        self._client.watch(ord("B"), self._bind)
        self._client.watch(ord("D"), self._describe)
        self._server.watch(ord("t"), self._parameter_description)
        self._server.watch(ord("C"), self._command_complete)

    # --- the server's messages

    def _ready(self, chunk: bytes, _start: int, stop: int) -> None:
        if self._statements.ready() and not self._client.held:
            self.status = chunk[stop - 1]

    def _parse_complete(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.parse_complete()

    def _close_complete(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.close_complete()

    def _copy_in(self, _chunk: bytes, _start: int, _stop: int) -> None:
        self._statements.copy_in()

    def _command_complete(self, chunk: bytes, start: int, stop: int) -> None:
        self._statements.command_complete(chunk[start + HEADER_BYTES : stop - 1])

    def _parameter_status(self, chunk: bytes, start: int, stop: int) -> None:
        status = backend.ParameterStatus.decode(chunk[start + HEADER_BYTES : stop])
        if status.name == b"client_encoding":
            self._codec = codec_for(status.value)
        elif status.name == b"standard_conforming_strings":
            self._backslash_escapes = status.value == b"off"

    def _parameter_description(self, chunk: bytes, start: int, stop: int) -> bytes | None:
        hidden = self._statements.parameter_description()
        if not hidden:
            return None
        description = backend.ParameterDescription.decode(chunk[start + HEADER_BYTES : stop])
        oids = list(description.oids)
        while hidden and oids and oids[-1] == self._embedding_oid:
            oids.pop()
            hidden -= 1
        return backend.ParameterDescription(oids).encode()

    def _error(self, chunk: bytes, start: int, stop: int) -> bytes | None:
        insertions = self._statements.text_in_error()
        self._statements.error()
        body = chunk[start + HEADER_BYTES : stop]
        if b"VFATAL\x00" in body or b"VPANIC\x00" in body:
            self.server_gave_up = True
        if not insertions:
            return None
        fields = backend.ErrorResponse.decode(body).fields
        return backend.ErrorResponse(_with_position(fields, insertions)).encode()

    def _notice(self, chunk: bytes, start: int, stop: int) -> bytes | None:
        insertions = self._statements.text_in_error()
        if not insertions:
            return None
        fields = backend.NoticeResponse.decode(chunk[start + HEADER_BYTES : stop]).fields
        return backend.NoticeResponse(_with_position(fields, insertions)).encode()


class _Plan(NamedTuple):
    """What is to be embedded, what goes where, and which parameters become hidden ones."""

    wanted: tuple[Wanted, ...]
    slots: tuple[tuple[int, int | None], ...]  # as in SplicedText
    sources: tuple[Source, ...]


def _plan(calls: Sequence[Call], first_hidden: int | None) -> _Plan:
    wanted: list[Wanted] = []
    slots: list[tuple[int, int | None]] = []
    hidden: dict[Source, int] = {}
    for call in sorted(calls, key=lambda call: call.close):
        if isinstance(call.argument, str):
            wanted.append(Wanted(call.function, call.argument))
            slots.append((call.close, None))
        elif first_hidden is not None and first_hidden + len(hidden) <= MAX_PARAMETERS:
            source = Source(call.function, call.argument)
            slots.append((call.close, hidden.setdefault(source, first_hidden + len(hidden))))
    return _Plan(tuple(wanted), tuple(slots), tuple(hidden))


def _wanted(function: Function, value: bytes | None, codec: str) -> Wanted | None:
    text = None if value is None else decoded(value, codec)
    return None if text is None else Wanted(function, text)


def _with_position(
    fields: Sequence[tuple[bytes, bytes]], insertions: Sequence[Insertion]
) -> list[tuple[bytes, bytes]]:
    return [
        (code, b"%d" % original_position(int(value), insertions))
        if code == b"P" and value.isdigit()
        else (code, value)
        for code, value in fields
    ]
