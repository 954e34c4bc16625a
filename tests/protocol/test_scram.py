"""SCRAM: the RFC's vector, pass-through, and what must be refused."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from gateway.protocol.scram import (
    MECHANISM,
    MECHANISM_PLUS,
    ClientExchange,
    ProofRefused,
    ScramError,
    ServerExchange,
    Verifier,
    saslprep,
)

# RFC 7677, section 3
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
SERVER_NONCE = b"%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
NONCE = b"rOprNGfwEbeRWgbNEkqO" + SERVER_NONCE
CLIENT_FINAL = b"c=biws,r=" + NONCE + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
VERIFIER = Verifier.of_password("pencil", SALT, 4096)


def first(exchange: ServerExchange, message: bytes = CLIENT_FIRST) -> bytes:
    return exchange.first(MECHANISM, message)


def test_the_rfcs_exchange_is_accepted() -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE)
    assert first(exchange) == b"r=" + NONCE + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    accepted = exchange.final(CLIENT_FINAL)
    assert accepted.server_final == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert hashlib.sha256(accepted.client_key).digest() == VERIFIER.stored_key


def test_the_key_of_a_proof_logs_in_at_another_server_with_the_same_verifier() -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE)
    first(exchange)
    key = exchange.final(CLIENT_FINAL).client_key
    upstream = ServerExchange(VERIFIER, b"another")
    client = ClientExchange(key, VERIFIER, b"fresh")
    proof = client.final(upstream.first(MECHANISM, client.first()))
    client.verify(upstream.final(proof).server_final)


def test_a_verifier_is_read_and_written_as_postgres_does() -> None:
    assert Verifier.parse(str(VERIFIER)) == VERIFIER
    assert "stored" not in repr(VERIFIER).lower()


@pytest.mark.parametrize(
    "secret",
    ["", "md5abc", "SCRAM-SHA-256$x:y$z:w", "SCRAM-SHA-256$4096:YQ==$YQ==:YQ==", "plain"],
)
def test_another_kind_of_secret_is_no_verifier(secret: str) -> None:
    assert Verifier.parse(secret) is None


@pytest.mark.parametrize(
    "final",
    [
        CLIENT_FINAL[:-6] + b"XXXXX=",
        CLIENT_FINAL.replace(b"dHzb", b"aHzb"),
    ],
)
def test_a_wrong_proof_is_refused(final: bytes) -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE)
    first(exchange)
    with pytest.raises(ProofRefused):
        exchange.final(final)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n",
        b"n,,",
        b"n,,n=user",
        b"n,,r=abc",
        b"x,,n=,r=abc",
        b"p=tls-server-end-point,,n=,r=abc",
        b"n,a=other,n=,r=abc",
        b"n,,m=ext,n=,r=abc",
        b"n,,n=,r=a\x00b",
        b"n,,n=,r=",
    ],
)
def test_a_bad_first_message_is_an_error(message: bytes) -> None:
    with pytest.raises(ScramError):
        first(ServerExchange(VERIFIER, SERVER_NONCE), message)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        CLIENT_FINAL.replace(b"biws", b"eSws"),
        CLIENT_FINAL.replace(NONCE, NONCE[:-1]),
        CLIENT_FINAL[:-1],
        CLIENT_FINAL.partition(b",p=")[0],
        CLIENT_FINAL + b",x=y",
        CLIENT_FINAL.partition(b",p=")[0] + b",p=YQ==",
        CLIENT_FINAL.partition(b",p=")[0] + b",p=!!!!",
    ],
)
def test_a_bad_final_message_is_an_error(message: bytes) -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE)
    first(exchange)
    with pytest.raises(ScramError):
        exchange.final(message)


def client_final(exchange: ServerExchange, gs2: bytes, mechanism: bytes, binding: bytes) -> bytes:
    """What a client that knows the password answers."""
    bare = b"n=,r=abc"
    server_first = exchange.first(mechanism, gs2 + bare)
    nonce = server_first.partition(b",")[0][2:]
    unproven = b"c=" + base64.b64encode(gs2 + binding) + b",r=" + nonce
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(
        hashlib.sha256(key).digest(), b",".join((bare, server_first, unproven)), "sha256"
    )
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    return unproven + b",p=" + base64.b64encode(proof)


BINDING = bytes(range(32))
PLUS = b"p=tls-server-end-point,,"


def test_channel_binding_is_offered_first_and_checked() -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE, BINDING)
    assert exchange.mechanisms == (MECHANISM_PLUS, MECHANISM)
    exchange.final(client_final(exchange, PLUS, MECHANISM_PLUS, BINDING))


def test_another_certificates_binding_is_refused() -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE, BINDING)
    message = client_final(exchange, PLUS, MECHANISM_PLUS, bytes(32))
    with pytest.raises(ScramError, match="channel binding check failed"):
        exchange.final(message)


@pytest.mark.parametrize("gs2", [b"n,,", b"y,,"])
def test_a_client_without_binding_is_served_in_the_clear(gs2: bytes) -> None:
    exchange = ServerExchange(VERIFIER, SERVER_NONCE)
    exchange.final(client_final(exchange, gs2, MECHANISM, b""))


def test_a_client_that_was_told_of_no_binding_where_there_is_one_finds_a_downgrade() -> None:
    with pytest.raises(ScramError, match="negotiation error") as refused:
        ServerExchange(VERIFIER, SERVER_NONCE, BINDING).first(MECHANISM, b"y,,n=,r=abc")
    assert refused.value.sqlstate == "28000"


@pytest.mark.parametrize(
    ("mechanism", "gs2"),
    [
        (MECHANISM_PLUS, b"n,,"),
        (MECHANISM, PLUS),
        (MECHANISM_PLUS, b"p=tls-unique,,"),
        (b"X", b"n,,"),
    ],
)
def test_a_flag_that_contradicts_the_mechanism_is_an_error(mechanism: bytes, gs2: bytes) -> None:
    with pytest.raises(ScramError):
        ServerExchange(VERIFIER, SERVER_NONCE, BINDING).first(mechanism, gs2 + b"n=,r=abc")


def test_a_changed_verifier_gets_no_proof() -> None:
    client = ClientExchange(bytes(32), VERIFIER, b"fresh")
    other = ServerExchange(Verifier.of_password("pencil", bytes(16)), b"nonce")
    with pytest.raises(ProofRefused):
        client.final(other.first(MECHANISM, client.first()))


def test_an_impostor_upstream_is_found_out() -> None:
    client = ClientExchange(bytes(32), VERIFIER, b"fresh")
    client.final(ServerExchange(VERIFIER, b"nonce").first(MECHANISM, client.first()))
    with pytest.raises(ScramError, match="server signature"):
        client.verify(b"v=" + base64.b64encode(bytes(32)))


def test_an_unknown_role_has_a_salt_of_its_own_that_stays() -> None:
    ada, again, bob = (Verifier.mock(b"key", user) for user in (b"ada", b"ada", b"bob"))
    assert ada == again
    assert ada.salt != bob.salt
    assert (len(ada.salt), ada.iterations) == (16, 4096)


@pytest.mark.parametrize(
    ("password", "prepared"),
    [
        ("I\u00adX", "IX"),
        ("user", "user"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("a\u00a0b", "a b"),
        ("\u0007", "\u0007"),
        ("\u0627\u0031", "\u0627\u0031"),
        ("пароль", "пароль"),
    ],
)
def test_passwords_are_prepared_as_rfc_4013_and_postgres_have_it(
    password: str, prepared: str
) -> None:
    assert saslprep(password) == prepared
