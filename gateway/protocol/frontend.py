"""Messages that a client sends after startup, by phase.

PostgreSQL manual, section "Message Formats". Names and SQL are bytes: they are in the client's
encoding and travel byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from gateway.protocol.wire import (
    BYTE,
    CSTRING,
    FORMAT_CODES,
    INT32,
    MAX_LARGE_MESSAGE_BYTES,
    MAX_SMALL_MESSAGE_BYTES,
    NULLABLE,
    OIDS,
    REST,
    VALUES,
    Message,
)

MAX_SASL_MESSAGE_BYTES: Final = 1024  # PG_MAX_SASL_MESSAGE_LENGTH
PASSWORD_TAG: Final = ord("p")

_LARGE_TAGS: Final = b"QPBdF"
LENGTH_LIMITS: Final = tuple(
    MAX_LARGE_MESSAGE_BYTES if tag in _LARGE_TAGS else MAX_SMALL_MESSAGE_BYTES for tag in range(256)
)


# --- authentication


@dataclass(frozen=True, slots=True)
class SASLInitialResponse(Message):
    """The mechanism that the client chose, and its first message."""

    tag: ClassVar[int] = PASSWORD_TAG
    layout = (CSTRING, NULLABLE)
    mechanism: bytes
    response: bytes | None


@dataclass(frozen=True, slots=True)
class SASLResponse(Message):
    """A later message of the mechanism."""

    tag: ClassVar[int] = PASSWORD_TAG
    layout = (REST,)
    response: bytes


# --- simple query


@dataclass(frozen=True, slots=True)
class Query(Message):
    """One or more statements as text."""

    tag: ClassVar[int] = ord("Q")
    layout = (CSTRING,)
    sql: bytes


# --- extended query


@dataclass(frozen=True, slots=True)
class Parse(Message):
    """Prepare a statement; an OID of 0 leaves the parameter's type to the server."""

    tag: ClassVar[int] = ord("P")
    layout = (CSTRING, CSTRING, OIDS)
    statement: bytes
    sql: bytes
    oids: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Bind(Message):
    """Make a portal of a statement and values; None is NULL.

    No format codes means text for all, one means that one for all.
    """

    tag: ClassVar[int] = ord("B")
    layout = (CSTRING, CSTRING, FORMAT_CODES, VALUES, FORMAT_CODES)
    portal: bytes
    statement: bytes
    formats: Sequence[int] = ()
    values: Sequence[bytes | None] = ()
    result_formats: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Describe(Message):
    """Ask what a prepared statement (target S) or portal (P) takes and returns."""

    tag: ClassVar[int] = ord("D")
    layout = (BYTE, CSTRING)
    target: bytes
    name: bytes = b""


@dataclass(frozen=True, slots=True)
class Close(Message):
    """Drop a prepared statement (target S) or portal (P)."""

    tag: ClassVar[int] = ord("C")
    layout = (BYTE, CSTRING)
    target: bytes
    name: bytes = b""


@dataclass(frozen=True, slots=True)
class Execute(Message):
    """Run a portal; `max_rows` of 0 is without a limit."""

    tag: ClassVar[int] = ord("E")
    layout = (CSTRING, INT32)
    portal: bytes = b""
    max_rows: int = 0


@dataclass(frozen=True, slots=True)
class Sync(Message):
    """End an extended query; after an error the server ignores everything up to here."""

    tag: ClassVar[int] = ord("S")


@dataclass(frozen=True, slots=True)
class Flush(Message):
    """Ask for what the server has to say so far."""

    tag: ClassVar[int] = ord("H")


# --- function call, copy, end


@dataclass(frozen=True, slots=True)
class FunctionCall(Message):
    """The old fast path, carried as it is."""

    tag: ClassVar[int] = ord("F")
    layout = (REST,)
    call: bytes


@dataclass(frozen=True, slots=True)
class CopyData(Message):
    """Some bytes of a COPY; where they are cut means nothing."""

    tag: ClassVar[int] = ord("d")
    layout = (REST,)
    chunk: bytes


@dataclass(frozen=True, slots=True)
class CopyDone(Message):
    """The COPY's end."""

    tag: ClassVar[int] = ord("c")


@dataclass(frozen=True, slots=True)
class CopyFail(Message):
    """The COPY's end by the client's failure."""

    tag: ClassVar[int] = ord("f")
    layout = (CSTRING,)
    reason: bytes


@dataclass(frozen=True, slots=True)
class Terminate(Message):
    """The session's end."""

    tag: ClassVar[int] = ord("X")
