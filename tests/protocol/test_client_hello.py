"""What a client offers before TLS begins: read from real hellos, and from anything else."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.protocol.client_hello import offered_protocols, record_bytes


def hello(*offered: str) -> bytes:
    """The first bytes that Python's own ssl sends."""
    context = ssl.create_default_context()
    if offered:
        context.set_alpn_protocols(offered)
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="memory.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("offered", [(), ("postgresql",), ("http/1.1", "h2", "x" * 255)])
def test_the_protocols_of_a_real_hello_are_found_in_their_order(offered: tuple[str, ...]) -> None:
    record = hello(*offered)
    assert record_bytes(record[:5]) == len(record)
    assert offered_protocols(record) == tuple(name.encode() for name in offered)


def test_a_hello_that_is_cut_off_offers_nothing() -> None:
    record = hello("http/1.1")
    found = {offered_protocols(record[:size]) for size in range(len(record))}
    assert found <= {(), (b"http/1.1",)}
    assert offered_protocols(record[:40]) == ()


@given(st.binary(max_size=200), st.booleans())
def test_garbage_offers_nothing_and_raises_nothing(garbage: bytes, like_a_hello: bool) -> None:
    record = b"\x16\x03\x01\x00\xc0\x01\x00\x00\xbc" + garbage if like_a_hello else garbage
    assert isinstance(offered_protocols(record), tuple)
