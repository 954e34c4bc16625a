"""Whatever the client sends, however it's cut and whenever the server answers: the same answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.protocol import backend, frontend
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.wire import Message
from gateway.rewriter import BUSY, Rewriter
from gateway.spliced import Spliced
from tests.protocol.model_server import EMBEDDING_OID, ModelServer, decoded

NAMES = [b"", b"a", b"b"]
TEXTS = [
    b"select 1",
    b"select recall('x')",
    b"select recall($1)",
    b"select recall($2::text), $1",
    b"select recall($1), remember($1), recall('y', k => $3)",
    b"select $1, 'recall($2)'",
    b"fail recall($1)",
    b"fail",
    b"deallocate a",
    b"copy in",
    b"copy in select recall($1)",
]
OIDS = [(), (0,), (25, 25)]
FORMATS = [(), (0,), (1,)]
VALUES = [None, b"", b"how", b"\xff"]
Choose = Callable[[Sequence[Any]], Any]
KINDS: list[Callable[[Choose], Message]] = [
    lambda one: frontend.Query(one(TEXTS)),
    lambda one: frontend.Parse(one(NAMES), one(TEXTS), one(OIDS)),
    lambda one: frontend.Bind(
        b"", one(NAMES), one(FORMATS), [one(VALUES) for _ in range(one(range(4)))]
    ),
    lambda one: frontend.Describe(b"S", one(NAMES)),
    lambda one: frontend.Close(b"S", one(NAMES)),
    lambda _: frontend.Execute(),
    lambda _: frontend.Sync(),
    lambda _: frontend.Sync(),
    lambda _: frontend.Flush(),
    lambda _: frontend.CopyData(b"row"),
    lambda _: frontend.CopyDone(),
    lambda _: frontend.CopyFail(b""),
]
INSIDE_A_COPY = (
    frontend.CopyData,
    frontend.CopyDone,
    frontend.CopyFail,
    frontend.Sync,
    frontend.Flush,
)
EXTENDED = (frontend.Parse, frontend.Bind, frontend.Describe, frontend.Close, frontend.Execute)


def script(choose: Choose, longest: int) -> list[Message]:
    """Write messages as clients may send them.

    Nothing but a COPY's own goes into a COPY, and no simple query into a round that no Sync has
    ended: there the server's answers no longer say to what they belong, and no driver does it.
    """
    server = ModelServer()
    sent: list[Message] = []
    in_round = False
    for _ in range(choose(range(longest))):
        message = choose(KINDS)(choose)
        if server.is_copying and not isinstance(message, INSIDE_A_COPY):
            continue
        if in_round and isinstance(message, frontend.Query):
            continue
        if isinstance(message, EXTENDED):
            in_round = True
        elif isinstance(message, frontend.Sync) and not server.is_copying:
            in_round = False
        server.answer(message)
        sent.append(message)
    # What ends a COPY that is open, and then the round.
    return [*sent, frontend.CopyDone(), frontend.Sync()]


def straight(sent: list[Message]) -> bytes:
    server = ModelServer()
    return b"".join(map(server.answer, sent))


def rendered(pieces: Sequence[bytes | Spliced]) -> bytes:
    return b"".join(
        piece if isinstance(piece, bytes) else piece.render(["m [1]"] * len(piece.wanted))
        for piece in pieces
    )


class Through:
    """The same by way of a rewriter, with every choice of timing drawn.

    A twin takes no chunk by the short way, and must be of the same mind after each.
    """

    def __init__(self) -> None:
        self._rewriter = Rewriter(EMBEDDING_OID)
        self._twin = Rewriter(EMBEDDING_OID)
        self._server = ModelServer()
        self._waiting: list[Message] = []
        self._buffered = b""
        self.seen = b""

    def client_sends(self, chunk: bytes) -> None:
        self._rewriter.status = self._twin.status = BUSY
        passes = self._rewriter.client_passes(chunk)
        stream = rendered([chunk] if passes else self._rewriter.client_bytes(chunk))
        assert stream == rendered(self._twin.client_bytes(chunk))
        self._buffered += stream
        self._take_whole_messages()

    def _take_whole_messages(self) -> None:
        buffered = self._buffered
        while len(buffered) >= 5 and len(buffered) > int.from_bytes(buffered[1:5]):
            size = int.from_bytes(buffered[1:5]) + 1
            self._waiting += decoded(buffered[:size])
            buffered = buffered[size:]
        self._buffered = buffered

    def server_answers(self, at_once: int, cut: int) -> None:
        answered = self._waiting[:at_once]
        del self._waiting[:at_once]
        stream = b"".join(map(self._server.answer, answered))
        for start in range(0, len(stream), cut):
            self._hear(stream[start : start + cut])
        assert self._rewriter.blocked == self._twin.blocked
        if self._rewriter.blocked:
            self._rewriter.blocked = self._twin.blocked = False
            self.client_sends(b"")

    def _hear(self, chunk: bytes) -> None:
        passes = self._rewriter.server_passes(chunk)
        heard = chunk if passes else b"".join(self._rewriter.server_bytes(chunk))
        assert heard == b"".join(self._twin.server_bytes(chunk))
        assert self._rewriter.status == self._twin.status
        assert self._rewriter.server_at_boundary == self._twin.server_at_boundary
        self.seen += heard

    def finish(self) -> bytes:
        while self._waiting:
            self.server_answers(1, 1000)
        return self.seen


def compare(choose: Choose, longest: int) -> None:
    sent = script(choose, longest)
    stream = b"".join(one.encode() for one in sent)
    through = Through()
    cuts = [0, *accumulate(len(one.encode()) for one in sent)]
    if choose([True, False]):  # anywhere, or between messages as most clients do
        cuts = [0, *accumulate(choose(range(1, 61)) for _ in stream)]
    position = 0
    for stop in filter(lambda _: choose([True, False]), cuts):
        through.client_sends(stream[position:stop])
        position = stop
        through.server_answers(choose(range(5)), choose([1, 2, 3, 5, 9, 20, 1000]))
    through.client_sends(stream[position:])
    assert through.finish() == straight(sent), sent


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_a_client_cannot_tell_the_rewriter_from_the_server(choices: st.DataObject) -> None:
    compare(lambda among: choices.draw(st.sampled_from(among)), 15)


@pytest.mark.soak
def test_a_client_cannot_tell_the_rewriter_from_the_server_in_a_hundred_thousand_scripts() -> None:
    for seed in range(100_000):
        compare(Random(seed).choice, 25)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(1, 40))
def test_garbage_from_the_client_is_a_violation_or_passes_as_it_is(
    garbage: bytes, cut: int
) -> None:
    rewriter = Rewriter(EMBEDDING_OID)
    passed = b""
    try:
        for start in range(0, len(garbage), cut):
            for piece in rewriter.client_bytes(garbage[start : start + cut]):
                assert isinstance(piece, bytes)
                passed += piece
    except ProtocolViolation:
        pass
    assert garbage.startswith(passed)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(list(b"QPBDCESHFdcfX")),
    st.binary(max_size=60),
    st.sampled_from([b"", b"recall("]),
)
def test_a_message_of_any_body_passes_or_is_spliced(tag: int, body: bytes, word: bytes) -> None:
    rewriter = Rewriter(EMBEDDING_OID)
    message = bytes([tag]) + (len(body) + len(word) + 4).to_bytes(4) + word + body
    for piece in rewriter.client_bytes(message):
        assert piece == message or not isinstance(piece, bytes)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(1, 40))
def test_garbage_from_the_server_raises_nothing_but_a_violation(garbage: bytes, cut: int) -> None:
    rewriter = Rewriter(EMBEDDING_OID)
    rewriter.client_bytes(frontend.Parse(b"", b"select recall($1)").encode())
    try:
        for start in range(0, len(garbage), cut):
            rewriter.server_bytes(garbage[start : start + cut])
    except ProtocolViolation:
        pass


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(list(b"QPBDESHXd2TC")), st.integers(0, 9)), max_size=4),
    st.binary(max_size=3),
)
def test_nothing_passes_the_short_way_that_would_not_pass_the_long_one(
    headers: list[tuple[int, int]], rest: bytes
) -> None:
    """Lengths that lie, bodies that are cut off, and a ReadyForQuery behind them."""
    ready = backend.ReadyForQuery(b"I").encode()
    chunk = b"".join(bytes([tag, 0, 0, 0, length]) + b"\x00" * 2 for tag, length in headers) + rest
    short, long = Rewriter(EMBEDDING_OID), Rewriter(EMBEDDING_OID)
    if short.client_passes(chunk):
        assert long.client_bytes(chunk) == [chunk]
    if short.server_passes(chunk + ready):
        assert long.server_bytes(chunk + ready) == [chunk + ready]
        assert short.status == long.status
