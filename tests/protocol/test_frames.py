"""The walker: whatever the cuts, the same bytes go on and the same messages are seen."""

from __future__ import annotations

import pytest

from gateway.protocol import frontend
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.wire import FrameWalker, Hold

STREAM = b"".join(
    message.encode()
    for message in (
        frontend.Query(b"select 1"),
        frontend.CopyData(bytes(range(256))),
        frontend.Sync(),
        frontend.Query(b""),
        frontend.Parse(b"a", b"select 2"),
        frontend.Flush(),
    )
)


def walker(seen: list[bytes], **about: int) -> FrameWalker[bytes]:
    def visit(chunk: bytes, start: int, stop: int) -> bytes | None:
        seen.append(chunk[start:stop])
        return chunk[start:stop].replace(b"select", b"SELECT") if chunk[start] == 80 else None

    return FrameWalker({ord("Q"): visit, ord("P"): visit}, **{"max_held_bytes": 1000, **about})


def test_the_same_comes_out_however_the_stream_is_cut() -> None:
    expected = STREAM.replace(b"select 2", b"SELECT 2")
    for size in range(1, len(STREAM) + 1):
        seen: list[bytes] = []
        walk = walker(seen)
        out = b"".join(
            piece
            for start in range(0, len(STREAM), size)
            for piece in walk.feed(STREAM[start : start + size])
        )
        assert out == expected
        assert [message[:1] for message in seen] == [b"Q", b"Q", b"P"]
        assert walk.at_boundary
        assert walk.held == b""


def test_a_chunk_that_needs_no_change_is_passed_on_itself() -> None:
    chunk = frontend.Query(b"select 1").encode() * 3
    (piece,) = walker([]).feed(chunk)
    assert piece is chunk


def test_bytes_of_an_unwatched_message_pass_before_the_rest_has_come() -> None:
    message = frontend.CopyData(bytes(100)).encode()
    walk = walker([])
    assert walk.feed(message[:50]) == [message[:50]]
    assert not walk.at_boundary
    assert walk.feed(message[50:]) == [message[50:]]
    assert walk.at_boundary


def test_a_watched_message_above_the_cap_passes_and_is_told_of() -> None:
    told: list[bytes] = []
    seen: list[bytes] = []

    def visit(chunk: bytes, start: int, stop: int) -> None:
        seen.append(chunk[start:stop])

    walk: FrameWalker[bytes] = FrameWalker(
        {ord("Q"): visit}, max_held_bytes=100, oversized=told.append
    )
    message = frontend.Query(bytes(200).replace(b"\x00", b"x")).encode()
    assert walk.feed(message[:10]) == [message[:10]]
    assert walk.feed(message[10:]) == [message[10:]]
    assert told == [message[:10]]
    assert seen == []


def test_a_length_on_the_wire_reserves_nothing() -> None:
    walk = walker([], max_held_bytes=1 << 30)
    assert walk.feed(b"Q\x3f\xff\xff\xff") == []
    assert len(walk.held) == 5


@pytest.mark.parametrize("length", [0, 3, 0x7FFF_FFFF, 0xFFFF_FFFF])
def test_an_impossible_length_is_a_violation(length: int) -> None:
    walk: FrameWalker[bytes] = FrameWalker({}, max_held_bytes=100, limits=frontend.LENGTH_LIMITS)
    with pytest.raises(ProtocolViolation, match="invalid message length"):
        walk.feed(b"Q" + length.to_bytes(4))


@pytest.mark.parametrize("tag", list(b"SHXEDCcfp"))
def test_small_messages_have_a_small_limit(tag: int) -> None:
    walk: FrameWalker[bytes] = FrameWalker({}, max_held_bytes=100, limits=frontend.LENGTH_LIMITS)
    with pytest.raises(ProtocolViolation):
        walk.feed(bytes([tag]) + (10_001).to_bytes(4))


def test_a_held_message_and_all_behind_it_wait_for_the_next_call() -> None:
    ready = False

    def visit(_chunk: bytes, _start: int, _stop: int) -> Hold | None:
        return None if ready else Hold.HOLD

    walk: FrameWalker[bytes] = FrameWalker({ord("B"): visit}, max_held_bytes=1000)
    first, held = frontend.Sync().encode(), frontend.Bind(b"", b"").encode()
    assert walk.feed(first + held) == [first]
    assert walk.feed(first) == []
    ready = True
    assert b"".join(walk.feed(b"")) == held + first
