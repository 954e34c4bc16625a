"""What a TLS client offers in its first message, read before the handshake takes it.

RFC 8446, sections 4.1.2 and 5.1; RFC 7301, section 3.1. Python's ssl tells neither what was offered
nor that nothing of it fits.
"""

from __future__ import annotations

from typing import Final

from gateway.protocol.errors import Malformed
from gateway.protocol.wire import Reader

RECORD_HEADER_BYTES: Final = 5
MAX_RECORD_BYTES: Final = RECORD_HEADER_BYTES + 16_384
# An alert of the first flight: fatal, no_application_protocol.
NO_APPLICATION_PROTOCOL: Final = b"\x15\x03\x03\x00\x02\x02\x78"
_HANDSHAKE, _CLIENT_HELLO, _ALPN = 22, 1, 16


def record_bytes(header: bytes) -> int:
    """Return the size of the record that begins so, its header included."""
    return RECORD_HEADER_BYTES + int.from_bytes(header[3:5])


def offered_protocols(record: bytes) -> tuple[bytes, ...]:
    """Return the application protocols of the hello in a record; none where it isn't one.

    What can't be read is left for the handshake to refuse.
    """
    try:
        return _offered(Reader(record))
    except Malformed:
        return ()


def _offered(reader: Reader) -> tuple[bytes, ...]:
    content_type, _version_and_length = reader.uint8(), reader.take(4)
    message_type, _length = reader.uint8(), reader.take(3)
    if (content_type, message_type) != (_HANDSHAKE, _CLIENT_HELLO):
        return ()
    reader.take(2 + 32)  # version, random
    reader.take(reader.uint8())  # session id
    reader.take(reader.uint16())  # cipher suites
    reader.take(reader.uint8())  # compression
    extensions = Reader(reader.take(reader.uint16()))
    while True:  # to the end, where Malformed is raised, or to the one that matters
        kind, body = extensions.uint16(), extensions.take(extensions.uint16())
        if kind == _ALPN:
            return _names(Reader(body))


def _names(reader: Reader) -> tuple[bytes, ...]:
    size = reader.uint16()
    names: list[bytes] = []
    while size > 0:
        names.append(reader.take(reader.uint8()))
        size -= 1 + len(names[-1])
    return tuple(names)
