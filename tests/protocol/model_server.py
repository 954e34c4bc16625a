"""A server of a few lines that keeps the extended protocol's rules, for comparing two roads."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.protocol import backend, frontend
from gateway.protocol.wire import FrameWalker, Message
from gateway.splice import find_calls

EMBEDDING_OID = 16_400
TEXT_OID = 25
_CLASSES: dict[int, type[Message]] = {
    kind.tag: kind
    for kind in (
        frontend.Query,
        frontend.Parse,
        frontend.Bind,
        frontend.Describe,
        frontend.Execute,
        frontend.Close,
        frontend.Sync,
        frontend.Flush,
        frontend.CopyData,
        frontend.CopyDone,
        frontend.CopyFail,
    )
}
_COPY_MESSAGES = (frontend.CopyData, frontend.CopyDone, frontend.CopyFail)


def decoded(stream: bytes) -> list[Message]:
    """Cut a stream of whole messages."""
    messages: list[Message] = []

    def visit(chunk: bytes, start: int, stop: int) -> None:
        messages.append(_CLASSES[chunk[start]].decode(chunk[start + 5 : stop]))

    walker: FrameWalker[bytes] = FrameWalker(dict.fromkeys(_CLASSES, visit), max_held_bytes=1 << 20)
    walker.feed(stream)
    assert walker.held == b""
    return messages


class ModelServer:
    """Prepared statements, portals of nothing, errors that skip to the Sync, COPY from the client.

    A statement that says "copy in" takes a COPY in.
    """

    def __init__(self) -> None:
        self._statements: dict[bytes, tuple[int, ...]] = {}
        self._texts: dict[bytes, bytes] = {}
        self._portal = b""
        self._skipping = False
        self._copying: type[Message] | None = None  # what began it

    @property
    def is_copying(self) -> bool:
        """Whether it takes a COPY in."""
        return self._copying is not None

    def answer(self, message: Message) -> bytes:
        """Take one message and return what the server says."""
        return b"".join(one.encode() for one in self._answer(message))

    def _answer(self, message: Message) -> Iterator[Message]:
        if self._copying is not None:
            yield from self._copy(self._copying, message)
        elif isinstance(message, frontend.Sync):
            self._skipping = False
            yield backend.ReadyForQuery(b"I")
        elif self._skipping or isinstance(message, _COPY_MESSAGES):
            return
        elif isinstance(message, frontend.Query):
            yield from self._query(message)
        else:
            try:
                yield from self._extended(message)
            except _Refused as refused:
                self._skipping = True
                yield _error(str(refused))

    def _query(self, message: frontend.Query) -> Iterator[Message]:
        self._statements.pop(b"", None)
        if b"copy in" in message.sql:
            self._copying = frontend.Query
            yield _Bare(ord("G"))
            return
        yield _error("42601") if b"fail" in message.sql else backend.CommandComplete(b"SELECT 0")
        yield backend.ReadyForQuery(b"I")

    def _copy(self, begun_by: type[Message], message: Message) -> Iterator[Message]:
        if isinstance(message, frontend.CopyData | frontend.Sync | frontend.Flush):
            return
        self._copying = None
        if isinstance(message, frontend.CopyDone):
            yield backend.CommandComplete(b"COPY 0")
        else:  # given up, or a message that has no place here
            yield _error("57014" if isinstance(message, frontend.CopyFail) else "08P01")
            self._skipping = begun_by is frontend.Execute
        if begun_by is frontend.Query:
            yield backend.ReadyForQuery(b"I")

    def _extended(self, message: Message) -> Iterator[Message]:
        match message:
            case frontend.Parse():
                self._parse(message)
                yield _Bare(ord("1"))
            case frontend.Bind():
                if len(message.values) != len(self._known(message.statement)):
                    raise _Refused("08P01")
                self._portal = self._texts[message.statement]
                yield _Bare(ord("2"))
            case frontend.Describe():
                yield backend.ParameterDescription(self._known(message.name))
                yield _Bare(ord("n"))
            case frontend.Close():
                self._statements.pop(message.name, None)
                yield _Bare(ord("3"))
            case frontend.Execute():
                if b"copy in" in self._portal:
                    self._copying = frontend.Execute
                    yield _Bare(ord("G"))
                else:
                    yield backend.CommandComplete(b"SELECT 0")

    def _known(self, name: bytes) -> tuple[int, ...]:
        if name not in self._statements:
            raise _Refused("26000")
        return self._statements[name]

    def _parse(self, message: frontend.Parse) -> None:
        if message.statement and message.statement in self._statements:
            raise _Refused("42P05")
        self._statements.pop(message.statement, None)
        if b"fail" in message.sql:
            raise _Refused("42601")
        count = max(find_calls(message.sql.decode()).highest_parameter, len(message.oids))
        given = (*message.oids, *(0,) * (count - len(message.oids)))
        self._texts[message.statement] = message.sql
        self._statements[message.statement] = tuple(oid or TEXT_OID for oid in given)


class _Refused(Exception):
    pass


class _Bare(Message):
    __slots__ = ("_tag",)

    def __init__(self, tag: int) -> None:
        self._tag = tag

    def encode(self) -> bytes:
        return bytes([self._tag]) + (4).to_bytes(4)


def _error(sqlstate: str) -> Message:
    return backend.ErrorResponse(((b"S", b"ERROR"), (b"C", sqlstate.encode())))
