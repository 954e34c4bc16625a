"""Writes Protocol Buffers messages: just what the files of ONNX and SentencePiece need.

Source: https://protobuf.dev/programming-guides/encoding/. The `onnx` package would bring 100 MB of
dependencies for the same bytes.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

Value: TypeAlias = int | float | str | bytes | memoryview


def message(*fields: tuple[int, Value]) -> bytes:
    """Return a message of (field number, value) pairs; a nested message is passed as bytes."""
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return b"".join((_varint(number << 3 | 2), _varint(len(content)), content))


def _varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF  # a negative int64 is its two's complement
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
