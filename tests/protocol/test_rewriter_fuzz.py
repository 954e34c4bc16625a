"""Whatever the client sends, however it's cut and whenever the server answers: the same answers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.protocol import frontend
from gateway.protocol.errors import ProtocolViolation
from gateway.protocol.wire import Message
from gateway.rewriter import Rewriter
from tests.protocol.model_server import EMBEDDING_OID, ModelServer, decoded

names = st.sampled_from([b"", b"a", b"b"])
texts = st.sampled_from(
    [
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
)
values = st.lists(st.sampled_from([None, b"", b"how", b"\xff"]), max_size=3)
messages = st.one_of(
    st.builds(frontend.Query, texts),
    st.builds(frontend.Parse, names, texts, st.sampled_from([(), (0,), (25, 25)])),
    st.builds(frontend.Bind, st.just(b""), names, st.sampled_from([(), (0,), (1,)]), values),
    st.builds(frontend.Describe, st.just(b"S"), names),
    st.builds(frontend.Close, st.just(b"S"), names),
    st.builds(frontend.Execute),
    st.builds(frontend.Sync),
    st.builds(frontend.Sync),
    st.builds(frontend.Flush),
    st.builds(frontend.CopyData, st.just(b"row")),
    st.builds(frontend.CopyDone),
    st.builds(frontend.CopyFail, st.just(b"")),
)


def straight(sent: list[Message]) -> bytes:
    server = ModelServer()
    return b"".join(map(server.answer, sent))


class Through:
    """The same by way of a rewriter, with every choice of timing drawn."""

    def __init__(self) -> None:
        self._rewriter = Rewriter(EMBEDDING_OID)
        self._server = ModelServer()
        self._waiting: list[Message] = []
        self._buffered = b""
        self.seen = b""

    def client_sends(self, chunk: bytes) -> None:
        pieces = self._rewriter.client_bytes(chunk)
        stream = b"".join(
            piece if isinstance(piece, bytes) else piece.render(["m [1]"] * len(piece.wanted))
            for piece in pieces
        )
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
            self.seen += self._rewriter.server_bytes(stream[start : start + cut])
        if self._rewriter.blocked:
            self.client_sends(b"")

    def finish(self) -> bytes:
        while self._waiting:
            self.server_answers(1, 1000)
        return self.seen


def compare(sent: list[Message], choices: st.DataObject) -> None:
    # What ends a COPY that is open, and then the round.
    sent = [*sent, frontend.CopyDone(), frontend.Sync()]
    stream = b"".join(one.encode() for one in sent)
    through = Through()
    position = 0
    while position < len(stream):
        size = choices.draw(st.integers(1, 60))
        through.client_sends(stream[position : position + size])
        position += size
        through.server_answers(choices.draw(st.integers(0, 4)), choices.draw(st.integers(1, 9)))
    assert through.finish() == straight(sent)


@settings(max_examples=250, deadline=None)
@given(st.lists(messages, max_size=14), st.data())
def test_a_client_cannot_tell_the_rewriter_from_the_server(
    sent: list[Message], choices: st.DataObject
) -> None:
    compare(sent, choices)


@pytest.mark.soak
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(messages, max_size=25), st.data())
def test_a_client_cannot_tell_the_rewriter_from_the_server_ten_thousand_times(
    sent: list[Message], choices: st.DataObject
) -> None:
    compare(sent, choices)


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
