"""What the peer may do wrong on the wire.

ProtocolViolation        the bytes break the protocol's rules
├── Malformed            a message that can't be decoded: truncated, overlong, bad counts
└── UnsupportedVersion   a protocol that we don't speak
"""

from __future__ import annotations


class ProtocolViolation(Exception):
    """The peer broke the protocol; `sqlstate` is what Postgres would answer with."""

    sqlstate = "08P01"  # protocol_violation


class Malformed(ProtocolViolation):
    """A message whose body can't be decoded."""


class UnsupportedVersion(ProtocolViolation):
    """A major version that is not 3."""

    sqlstate = "0A000"  # feature_not_supported
