"""How a connection opens: TLS and GSS requests, cancel, startup and version negotiation.

PostgreSQL manual, "Message Flow: Start-up" and source `backend_startup.c`. These packets have no
tag: a length that counts itself, then a code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.protocol.backend import NegotiateProtocolVersion
from gateway.protocol.errors import Malformed, ProtocolViolation, UnsupportedVersion
from gateway.protocol.wire import Reader, cstring, int32

MIN_STARTUP_BYTES: Final = 8
MAX_STARTUP_BYTES: Final = 10_000
SSL_REQUEST_CODE: Final = 80877103
GSSENC_REQUEST_CODE: Final = 80877104
CANCEL_REQUEST_CODE: Final = 80877102
NEWEST_MINOR: Final = 2
MAX_CANCEL_KEY_BYTES: Final = 256
TLS_HANDSHAKE_BYTE: Final = 0x16


def _packet(code: int, body: bytes = b"") -> bytes:
    return int32(len(body) + 8) + int32(code) + body


@dataclass(frozen=True, slots=True)
class SSLRequest:
    """The client asks for TLS."""

    def encode(self) -> bytes:
        """Return the whole packet."""
        return _packet(SSL_REQUEST_CODE)


@dataclass(frozen=True, slots=True)
class GSSENCRequest:
    """The client asks for GSSAPI encryption, which we never have."""

    def encode(self) -> bytes:
        """Return the whole packet."""
        return _packet(GSSENC_REQUEST_CODE)


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """The wish to cancel what the backend with this key is running."""

    process_id: int
    secret_key: bytes

    def encode(self) -> bytes:
        """Return the whole packet."""
        return _packet(CANCEL_REQUEST_CODE, int32(self.process_id) + self.secret_key)


@dataclass(frozen=True, slots=True)
class StartupMessage:
    """Who wants in, and with which settings; `parameters` in the order they came."""

    minor: int
    parameters: Mapping[bytes, bytes]

    def encode(self) -> bytes:
        """Return the whole packet."""
        pairs = b"".join(cstring(k) + cstring(v) for k, v in self.parameters.items())
        return _packet(3 << 16 | self.minor, pairs + b"\x00")

    @property
    def user(self) -> bytes:
        """The role that the client wants to be; empty when it named none."""
        return self.parameters.get(b"user", b"")


Opening = SSLRequest | GSSENCRequest | CancelRequest | StartupMessage


def body_bytes(length: bytes) -> int:
    """Return how many bytes follow the four of the length; raises Malformed out of bounds."""
    size = int.from_bytes(length, signed=True)
    if not MIN_STARTUP_BYTES <= size <= MAX_STARTUP_BYTES:
        raise Malformed("invalid length of startup packet")
    return size - 4


def decode(body: bytes) -> Opening:
    """Return the packet that stands behind a length."""
    reader = Reader(body)
    code = reader.uint32()
    if code == SSL_REQUEST_CODE:
        reader.finish()
        return SSLRequest()
    if code == GSSENC_REQUEST_CODE:
        reader.finish()
        return GSSENCRequest()
    if code == CANCEL_REQUEST_CODE:
        return _cancel_request(reader)
    major, minor = code >> 16, code & 0xFFFF
    if major != 3:
        raise UnsupportedVersion(
            f"unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2"
        )
    return StartupMessage(minor, _parameters(reader))


def _cancel_request(reader: Reader) -> CancelRequest:
    request = CancelRequest(reader.int32(), reader.remaining())
    if not 0 < len(request.secret_key) <= MAX_CANCEL_KEY_BYTES:
        raise Malformed("invalid length of cancel request packet")
    return request


def _parameters(reader: Reader) -> dict[bytes, bytes]:
    parameters: dict[bytes, bytes] = {}
    while name := reader.cstring():
        parameters[name] = reader.cstring()
    try:
        reader.finish()
    except Malformed as error:
        raise ProtocolViolation(
            "invalid startup packet layout: expected terminator as last byte"
        ) from error
    return parameters


def negotiate(
    startup: StartupMessage, newest_minor: int = NEWEST_MINOR
) -> tuple[StartupMessage, NegotiateProtocolVersion | None]:
    """Return the startup that both sides understand, and what to tell the client if it changed.

    Protocol options (`_pq_.…`), of which none is known, are taken out and named in the answer.
    """
    unknown = tuple(name for name in startup.parameters if name.startswith(b"_pq_."))
    minor = min(startup.minor, newest_minor)
    if minor == startup.minor and not unknown:
        return startup, None
    known = {name: value for name, value in startup.parameters.items() if name not in unknown}
    return StartupMessage(minor, known), NegotiateProtocolVersion(3 << 16 | minor, unknown)
