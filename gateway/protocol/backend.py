"""Messages that a server sends, by phase; those that the gateway reads or writes itself.

PostgreSQL manual, section "Message Formats" and "Error and Notice Message Fields".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from gateway.protocol.wire import (
    BYTE,
    CSTRING,
    INT32,
    OIDS,
    REST,
    VALUES,
    Field,
    Message,
    Reader,
    cstring,
    int32,
)

OK, SASL, SASL_CONTINUE, SASL_FINAL = 0, 10, 11, 12
IDLE: Final = ord("I")


def _write_names(names: Sequence[bytes]) -> bytes:
    return int32(len(names)) + b"".join(map(cstring, names))


def _read_names(reader: Reader) -> tuple[bytes, ...]:
    return tuple(reader.cstring() for _ in range(reader.uint32()))


def _write_error_fields(fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    return b"".join(code + cstring(value) for code, value in fields) + b"\x00"


def _read_error_fields(reader: Reader) -> tuple[tuple[bytes, bytes], ...]:
    fields: list[tuple[bytes, bytes]] = []
    while (code := reader.take(1)) != b"\x00":
        fields.append((code, reader.cstring()))
    return tuple(fields)


_NAMES: Final = Field(_write_names, _read_names)
_ERROR_FIELDS: Final = Field(_write_error_fields, _read_error_fields)


# --- startup and authentication


@dataclass(frozen=True, slots=True)
class NegotiateProtocolVersion(Message):
    """The newest version that the server speaks, and the options it doesn't know.

    The version's upper half is the major number: 0x30002 is 3.2.
    """

    tag: ClassVar[int] = ord("v")
    layout = (INT32, _NAMES)
    version: int
    unknown_options: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Authentication(Message):
    """A step of authentication: its kind, and what the kind carries."""

    tag: ClassVar[int] = ord("R")
    layout = (INT32, REST)
    kind: int
    payload: bytes = b""

    @classmethod
    def sasl(cls, mechanisms: Sequence[bytes]) -> Self:
        """Offer SASL mechanisms, the preferred first."""
        return cls(SASL, b"".join(map(cstring, mechanisms)) + b"\x00")

    def mechanisms(self) -> tuple[bytes, ...]:
        """Return what a SASL offer names."""
        reader = Reader(self.payload)
        names: list[bytes] = []
        while name := reader.cstring():
            names.append(name)
        reader.finish()
        return tuple(names)


@dataclass(frozen=True, slots=True)
class BackendKeyData(Message):
    """What a cancel request must name: process id and secret key (4 bytes, up to 256 from 3.2)."""

    tag: ClassVar[int] = ord("K")
    layout = (INT32, REST)
    process_id: int
    secret_key: bytes


# --- at any time


@dataclass(frozen=True, slots=True)
class ParameterStatus(Message):
    """The present value of a setting that clients care about."""

    tag: ClassVar[int] = ord("S")
    layout = (CSTRING, CSTRING)
    name: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class ErrorResponse(Message):
    """An error: fields by one-letter code, in the order they came."""

    tag: ClassVar[int] = ord("E")
    layout = (_ERROR_FIELDS,)
    fields: Sequence[tuple[bytes, bytes]]

    def get(self, code: bytes) -> bytes | None:
        """Return the field of this one-letter code."""
        return next((value for name, value in self.fields if name == code), None)


@dataclass(frozen=True, slots=True)
class NoticeResponse(Message):
    """A notice or warning: fields as in ErrorResponse."""

    tag: ClassVar[int] = ord("N")
    layout = (_ERROR_FIELDS,)
    fields: Sequence[tuple[bytes, bytes]]


# --- queries


@dataclass(frozen=True, slots=True)
class ReadyForQuery(Message):
    """The server waits; status I (idle), T (in a transaction) or E (in a failed one)."""

    tag: ClassVar[int] = ord("Z")
    layout = (BYTE,)
    status: bytes


@dataclass(frozen=True, slots=True)
class ParameterDescription(Message):
    """The types of a statement's parameters."""

    tag: ClassVar[int] = ord("t")
    layout = (OIDS,)
    oids: Sequence[int]


@dataclass(frozen=True, slots=True)
class DataRow(Message):
    """One row's values; None is NULL."""

    tag: ClassVar[int] = ord("D")
    layout = (VALUES,)
    values: Sequence[bytes | None]


@dataclass(frozen=True, slots=True)
class CommandComplete(Message):
    """A statement's end and its command tag."""

    tag: ClassVar[int] = ord("C")
    layout = (CSTRING,)
    command: bytes
