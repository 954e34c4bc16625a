"""Framing: how messages lie in a byte stream, and a walker that cuts them out.

PostgreSQL manual, section "Message Flow" and "Message Data Types". Nothing here allocates from a
length that stands on the wire: a message is only held while its bytes arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from struct import Struct
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from gateway.protocol.errors import Malformed, ProtocolViolation

HEADER_BYTES: Final = 5
MAX_SMALL_MESSAGE_BYTES: Final = 10_000  # PQ_SMALL_MESSAGE_LIMIT
MAX_LARGE_MESSAGE_BYTES: Final = 0x3FFF_FFFE  # PQ_LARGE_MESSAGE_LIMIT, MaxAllocSize - 1

_length = Struct("!I").unpack_from
_int16 = Struct("!H")
_int32 = Struct("!i")
_header = Struct("!BI")
header_at = _header.unpack_from  # (tag, length) of the message that begins there


def frame(tag: int, body: bytes) -> bytes:
    """Return a whole message: tag, length (which counts itself), body."""
    return _header.pack(tag, len(body) + 4) + body


def uint16(value: int) -> bytes:
    """Encode a count or format code, which are unsigned on the wire."""
    return _int16.pack(value)


def int32(value: int) -> bytes:
    """Encode a signed 32-bit integer."""
    return _int32.pack(value)


def cstring(value: bytes) -> bytes:
    """Encode a NUL-terminated string."""
    return value + b"\x00"


class Reader:
    """Reads the fields of one message's body; raises Malformed where they don't fit."""

    __slots__ = ("_body", "_position")

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._position = 0

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        stop = self._position + size
        if size < 0 or stop > len(self._body):
            raise Malformed("insufficient data left in message")
        taken = self._body[self._position : stop]
        self._position = stop
        return taken

    def uint8(self) -> int:
        """Return the next byte."""
        return self.take(1)[0]

    def uint16(self) -> int:
        """Return the next unsigned 16-bit integer."""
        return int(_int16.unpack(self.take(2))[0])

    def int32(self) -> int:
        """Return the next signed 32-bit integer."""
        return int(_int32.unpack(self.take(4))[0])

    def uint32(self) -> int:
        """Return the next unsigned 32-bit integer."""
        return int(_length(self.take(4))[0])

    def cstring(self) -> bytes:
        """Return the bytes up to the next NUL, and step over it."""
        stop = self._body.find(b"\x00", self._position)
        if stop < 0:
            raise Malformed("invalid string in message")
        taken = self._body[self._position : stop]
        self._position = stop + 1
        return taken

    def array(self, count: int, element_bytes: int) -> bytes:
        """Return `count` elements as bytes, having checked that they are there."""
        return self.take(count * element_bytes)

    def nullable(self) -> bytes | None:
        """Return a value that its 32-bit length precedes; -1 is NULL."""
        size = self.int32()
        if size == -1:
            return None
        return self.take(size)

    def remaining(self) -> bytes:
        """Return everything that is left."""
        return self.take(len(self._body) - self._position)

    def finish(self) -> None:
        """Raise Malformed unless the whole body was read."""
        if self._position != len(self._body):
            raise Malformed("invalid message format")


@dataclass(frozen=True, slots=True)
class Field:
    """How one field of a message is written and read."""

    write: Callable[[Any], bytes]
    read: Callable[[Reader], Any]


def _write_nullable(value: bytes | None) -> bytes:
    return int32(-1) if value is None else int32(len(value)) + value


def _write_values(values: Sequence[bytes | None]) -> bytes:
    return uint16(len(values)) + b"".join(map(_write_nullable, values))


def _read_values(reader: Reader) -> tuple[bytes | None, ...]:
    return tuple(reader.nullable() for _ in range(reader.uint16()))


def _numbers(element_bytes: int) -> Field:
    def write(numbers: Sequence[int]) -> bytes:
        return uint16(len(numbers)) + b"".join(n.to_bytes(element_bytes) for n in numbers)

    def read(reader: Reader) -> tuple[int, ...]:
        packed = reader.array(reader.uint16(), element_bytes)
        starts = range(0, len(packed), element_bytes)
        return tuple(int.from_bytes(packed[i : i + element_bytes]) for i in starts)

    return Field(write, read)


CSTRING: Final = Field(cstring, Reader.cstring)
INT32: Final = Field(int32, Reader.int32)
BYTE: Final = Field(bytes, lambda reader: reader.take(1))
REST: Final = Field(bytes, Reader.remaining)
NULLABLE: Final = Field(_write_nullable, Reader.nullable)
VALUES: Final = Field(_write_values, _read_values)
OIDS: Final = _numbers(4)
FORMAT_CODES: Final = _numbers(2)


class Message:
    """One message of the protocol: a tag, and fields laid out as its class says.

    Subclasses are dataclasses whose fields stand in the order of `layout`.
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    tag: ClassVar[int]
    layout: ClassVar[tuple[Field, ...]] = ()

    def encode(self) -> bytes:
        """Return the whole message."""
        named = zip(self.layout, self.__match_args__, strict=True)
        return frame(self.tag, b"".join(field.write(getattr(self, name)) for field, name in named))

    @classmethod
    def decode(cls, body: bytes) -> Self:
        """Return the message that a body, which is what stands behind the length, holds.

        Raises Malformed for a body that is truncated, overlong or otherwise not such a message.
        """
        reader = Reader(body)
        message = cls(*(field.read(reader) for field in cls.layout))
        reader.finish()
        return message


class Hold(Enum):
    """What a visitor answers to have a message and all behind it kept for later."""

    HOLD = "hold"


Piece = TypeVar("Piece")

# Asked for each watched message with the bytes it lies in, its start and its stop. Answers None to
# pass it on as it stands, another piece to pass on in its place, or HOLD.
Visitor = Callable[[bytes, int, int], "Piece | Hold | None"]


def _end_of_run(chunk: bytes, position: int, tag: int) -> int:
    """Step over more messages of a tag that nobody watches: the rows of a large result."""
    last_header = len(chunk) - HEADER_BYTES
    while position <= last_header and chunk[position] == tag:
        position += 1 + _length(chunk, position + 1)[0]
    return position


class FrameWalker(Generic[Piece]):
    """Walks the message headers of a stream that comes in chunks cut anywhere.

    Messages whose tag has a visitor are shown to it whole; all other bytes pass as they came, at
    once and without a copy where a chunk needs no change. A watched message above `max_held_bytes`
    passes too; `oversized` is told its bytes so far. `limits` gives the largest length field that
    each tag may have; without them the peer is trusted. Raises ProtocolViolation for a length that
    can't be.

    Every message of every session comes through here, so that the loop is written out: a call in
    it costs as much as all the rest.
    """

    __slots__ = (
        "_limits",
        "_max_held",
        "_needed",
        "_oversized",
        "_passing",
        "held",
        "midway",
        "visitors",
    )

    def __init__(
        self,
        visitors: Mapping[int, Visitor[Piece]],
        *,
        max_held_bytes: int,
        oversized: Callable[[bytes], None] = lambda _beginning: None,
        limits: tuple[int, ...] | None = None,
    ) -> None:
        self.visitors = [visitors.get(tag) for tag in range(256)]
        self._max_held = max_held_bytes
        self._oversized = oversized
        self._limits = limits
        self.held = bytearray()  # what waits for the rest of its message
        self._needed = 0
        self._passing = 0
        self.midway = False  # whether the next chunk begins inside a message

    def watch(self, tag: int, visitor: Visitor[Piece]) -> None:
        """Show the messages of one more tag, from the next on."""
        self.visitors[tag] = visitor

    @property
    def at_boundary(self) -> bool:
        """Whether what has passed so far ends with a whole message."""
        return self._passing == 0

    def feed(self, chunk: bytes) -> list[bytes | Piece]:
        """Take the next chunk and return, in order, what may go on now."""
        pieces = self._walk(chunk)
        self.midway = self._passing > 0 or len(self.held) > 0
        return pieces

    def _walk(self, chunk: bytes) -> list[bytes | Piece]:  # noqa: C901  no call in it
        position = 0
        if self.held or self._passing:
            chunk, position = self._resumed(chunk)
            if position < 0:
                return [chunk] if chunk else []
        pieces: list[bytes | Piece] = []
        passed = 0  # everything before it stands in `pieces` already
        visitors = self.visitors
        limits = self._limits
        stop = len(chunk)
        last_header = stop - HEADER_BYTES
        while position <= last_header:
            tag, length = header_at(chunk, position)
            if length < 4 or (limits is not None and length > limits[tag]):
                raise ProtocolViolation("invalid message length")
            after = position + 1 + length
            visitor = visitors[tag]
            if visitor is not None:
                if after <= stop:
                    piece = visitor(chunk, position, after)
                else:
                    piece = self._cut_off(chunk, position, length)
                if piece is not None:
                    if position > passed:
                        pieces.append(chunk[passed:position])
                    if piece is Hold.HOLD:
                        self._hold(chunk, position, length + 1)
                        return pieces
                    pieces.append(piece)
                    passed = after
            elif limits is None and after <= last_header and chunk[after] == tag:
                after = _end_of_run(chunk, after, tag)
            position = after
        if position == stop and not passed:
            return [chunk]
        return self._rest(pieces, chunk, passed, position)

    def _resumed(self, chunk: bytes) -> tuple[bytes, int]:
        """Return what to walk, and from where; -1 where all of it only passes."""
        if self.held:
            self.held += chunk
            if len(self.held) < self._needed:
                return b"", -1
            chunk = bytes(self.held)
            self.held.clear()
        passing = self._passing
        if passing > len(chunk):
            self._passing = passing - len(chunk)
            return chunk, -1
        self._passing = 0
        return chunk, passing

    def _rest(
        self, pieces: list[bytes | Piece], chunk: bytes, passed: int, position: int
    ) -> list[bytes | Piece]:
        """Pass on what's left of the chunk, and hold the beginning of a header."""
        stop = len(chunk)
        if position > stop:
            self._passing = position - stop
            position = stop
        if position > passed:
            pieces.append(chunk if position == stop and not passed else chunk[passed:position])
        if position < stop:
            self._hold(chunk, position, HEADER_BYTES)
        return pieces

    def _cut_off(self, chunk: bytes, position: int, length: int) -> Hold | None:
        """Hold a watched message that isn't whole yet, unless it's too large for that."""
        if length < self._max_held:
            return Hold.HOLD
        self._oversized(chunk[position:])
        return None

    def _hold(self, chunk: bytes, position: int, needed: int) -> None:
        self.held += chunk[position:]
        self._needed = needed
