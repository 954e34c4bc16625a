"""Startup packets: bounds, requests, versions and options."""

from __future__ import annotations

import pytest

from gateway.protocol.errors import Malformed, ProtocolViolation, UnsupportedVersion
from gateway.protocol.startup import (
    CancelRequest,
    GSSENCRequest,
    SSLRequest,
    StartupMessage,
    body_bytes,
    decode,
    negotiate,
)

ADA = {b"user": b"ada", b"database": b"memory"}
PACKETS = [
    SSLRequest(),
    GSSENCRequest(),
    CancelRequest(42, b"\x00\x01\x02\x03"),
    CancelRequest(42, bytes(256)),
    StartupMessage(0, ADA),
    StartupMessage(9999, {**ADA, b"_pq_.test": b"", b"options": b"-c geqo=off"}),
]


@pytest.mark.parametrize("packet", PACKETS)
def test_a_packet_survives_encoding_and_decoding(packet: SSLRequest) -> None:
    encoded = packet.encode()
    assert body_bytes(encoded[:4]) == len(encoded) - 4
    assert decode(encoded[4:]) == packet


@pytest.mark.parametrize("packet", PACKETS[4:])
def test_a_truncated_startup_is_a_violation(packet: StartupMessage) -> None:
    body = packet.encode()[4:]
    for stop in range(len(body)):
        with pytest.raises(ProtocolViolation):
            decode(body[:stop])


@pytest.mark.parametrize("length", [0, 4, 7, 10_001, -1, 0x7FFF_FFFF])
def test_a_length_out_of_bounds_is_malformed(length: int) -> None:
    with pytest.raises(Malformed):
        body_bytes(length.to_bytes(4, signed=True))


@pytest.mark.parametrize("key", [b"", bytes(257)])
def test_a_cancel_key_out_of_bounds_is_malformed(key: bytes) -> None:
    with pytest.raises(Malformed):
        decode(CancelRequest(1, key).encode()[4:])


@pytest.mark.parametrize("version", [b"\x00\x02\x00\x00", b"\x00\x04\x00\x00", b"GET "])
def test_another_major_version_is_unsupported(version: bytes) -> None:
    with pytest.raises(UnsupportedVersion, match="unsupported frontend protocol"):
        decode(version + b"\x00")


def test_bytes_behind_the_terminator_are_a_violation() -> None:
    with pytest.raises(ProtocolViolation, match="expected terminator"):
        decode(StartupMessage(0, ADA).encode()[4:] + b"x")


@pytest.mark.parametrize("minor", [0, 2])
def test_a_known_version_without_options_needs_no_negotiation(minor: int) -> None:
    startup = StartupMessage(minor, ADA)
    assert negotiate(startup) == (startup, None)


def test_a_newer_version_and_unknown_options_are_told_once() -> None:
    asked = StartupMessage(9999, {**ADA, b"_pq_.b": b"1", b"_pq_.a": b""})
    startup, answer = negotiate(asked)
    assert startup == StartupMessage(2, ADA)
    assert answer is not None
    assert answer.version == 0x30002
    assert answer.unknown_options == (b"_pq_.b", b"_pq_.a")
