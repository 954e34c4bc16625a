"""Each message: round trip, truncated at every byte, and longer than it says."""

from __future__ import annotations

import pytest

from gateway.protocol import backend, frontend
from gateway.protocol.errors import Malformed
from gateway.protocol.wire import Message

MESSAGES: list[Message] = [
    frontend.SASLInitialResponse(b"SCRAM-SHA-256", b"n,,n=,r=abc"),
    frontend.SASLInitialResponse(b"SCRAM-SHA-256", None),
    frontend.SASLResponse(b"c=biws,r=abc,p=def"),
    frontend.Query("select 'тест'".encode()),
    frontend.Query(b""),
    frontend.Parse(b"", b"select $1", ()),
    frontend.Parse(b"name", b"select $1, $2", (25, 0xFFFFFFFF)),
    frontend.Bind(b"", b"", (), (), ()),
    frontend.Bind(b"portal", b"name", (1,), (b"\x00\x01", None, b""), (0, 1)),
    frontend.Bind(b"", b"many", (0,), (b"x",) * 65_535, (1,)),
    frontend.Describe(b"S", b"name"),
    frontend.Close(b"P", b""),
    frontend.Execute(b"", 0),
    frontend.Execute(b"portal", 100),
    frontend.Sync(),
    frontend.Flush(),
    frontend.FunctionCall(b"\x00\x00\x00\x01"),
    frontend.CopyData(b"1\t2\n"),
    frontend.CopyDone(),
    frontend.CopyFail(b"no more"),
    frontend.Terminate(),
    backend.NegotiateProtocolVersion(0x30002, (b"_pq_.a", b"_pq_.b")),
    backend.NegotiateProtocolVersion(0x30000),
    backend.Authentication(backend.OK),
    backend.Authentication.sasl((b"SCRAM-SHA-256-PLUS", b"SCRAM-SHA-256")),
    backend.BackendKeyData(42, b"\x00\x01\x02\x03"),
    backend.BackendKeyData(2**31 - 1, bytes(256)),
    backend.ParameterStatus(b"client_encoding", b"UTF8"),
    backend.ErrorResponse(((b"S", b"ERROR"), (b"C", b"42601"), (b"P", b"12"))),
    backend.NoticeResponse(((b"S", b"NOTICE"), (b"M", b"hello"))),
    backend.ReadyForQuery(b"T"),
    backend.ParameterDescription((25, 16_400)),
    backend.DataRow((b"a", None)),
    backend.CommandComplete(b"SELECT 1"),
]
# Their bodies end where the message ends, so that any length is a whole one.
OPEN_ENDED = (
    frontend.SASLResponse,
    frontend.FunctionCall,
    frontend.CopyData,
    backend.Authentication,
    backend.BackendKeyData,
)
every_message = pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)


@every_message
def test_a_message_survives_encoding_and_decoding(message: Message) -> None:
    encoded = message.encode()
    assert encoded[0] == message.tag
    assert int.from_bytes(encoded[1:5]) == len(encoded) - 1
    assert type(message).decode(encoded[5:]) == message


@every_message
def test_a_truncated_message_is_malformed(message: Message) -> None:
    body = message.encode()[5:]
    if isinstance(message, OPEN_ENDED):
        body = body[:4]
    for stop in {*range(min(len(body), 200)), len(body) - 1} - {-1}:
        if isinstance(message, OPEN_ENDED) and not isinstance(
            message, backend.Authentication | backend.BackendKeyData
        ):
            continue
        with pytest.raises(Malformed):
            type(message).decode(body[:stop])


@every_message
def test_a_message_with_bytes_left_over_is_malformed(message: Message) -> None:
    if isinstance(message, OPEN_ENDED):
        assert type(message).decode(message.encode()[5:] + b"\x00") != message
    else:
        with pytest.raises(Malformed):
            type(message).decode(message.encode()[5:] + b"\x00")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (frontend.Parse, b"\x00\x00\xff\xff"),
        (frontend.Bind, b"\x00\x00\xff\xff"),
        (frontend.Bind, b"\x00\x00\x00\x00\xff\xff"),
        (frontend.Bind, b"\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff"),
        (frontend.Bind, b"\x00\x00\x00\x00\x00\x01\xff\xff\xff\xfe"),
        (backend.ParameterDescription, b"\xff\xff"),
        (backend.NegotiateProtocolVersion, b"\x00\x03\x00\x00\x7f\xff\xff\xff"),
        (frontend.SASLInitialResponse, b"SCRAM-SHA-256\x00\x7f\xff\xff\xff"),
    ],
)
def test_counts_and_sizes_beyond_the_message_are_malformed(
    kind: type[Message], body: bytes
) -> None:
    with pytest.raises(Malformed):
        kind.decode(body)
