"""SCRAM-SHA-256 for a proxy: check the client's proof, log in upstream with the key it reveals.

RFC 5802 and 7677, PostgreSQL source `auth-scram.c`. The proof XOR HMAC(StoredKey, AuthMessage) is
ClientKey; with it, and without the password, a second exchange can be had with any server that
holds the same verifier. Messages are ASCII; every failure after the first message looks the same
to the client.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import stringprep
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MECHANISM: Final = b"SCRAM-SHA-256"
MECHANISM_PLUS: Final = b"SCRAM-SHA-256-PLUS"
DEFAULT_ITERATIONS: Final = 4096  # scram_iterations, and the count of the mock verifier
SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 18

_VERIFIER = re.compile(
    r"SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)"
)
_CLIENT_FIRST = re.compile(
    rb"(?P<gs2>(?P<flag>[ny]|p=(?P<binding>[^,]+)),(?P<authzid>[^,]*),)"
    rb"(?P<bare>(?:m=[^,]*,)?n=[^,]*,r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+)(?:,.*)?)",
    re.DOTALL,
)
_CLIENT_FINAL = re.compile(
    rb"(?P<unproven>c=(?P<binding>[^,]*),r=(?P<nonce>[^,]+)(?:,[^,]*)*?),p=(?P<proof>[^,]+)"
)
_SERVER_FIRST = re.compile(rb"r=([^,]+),s=([^,]+),i=(\d{1,9})(?:,.*)?", re.DOTALL)


class ScramError(Exception):
    """A message that breaks SCRAM's rules: 08P01 unless `sqlstate` says otherwise."""

    def __init__(self, message: str, sqlstate: str = "08P01") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class ProofRefused(ScramError):
    """The password is wrong, or there is no such role; the client can't tell which."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """What a server keeps instead of a password."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @classmethod
    def parse(cls, secret: str) -> Verifier | None:
        """Read the form of pg_authid.rolpassword; None for any other kind of secret."""
        match = _VERIFIER.fullmatch(secret)
        if match is None:
            return None
        try:
            salt, stored_key, server_key = (
                base64.b64decode(field, validate=True) for field in match.groups()[1:]
            )
        except binascii.Error:
            return None
        if len(stored_key) != 32 or len(server_key) != 32:
            return None
        return cls(int(match[1]), salt, stored_key, server_key)

    @classmethod
    def of_password(
        cls, password: str, salt: bytes, iterations: int = DEFAULT_ITERATIONS
    ) -> Verifier:
        """Derive the verifier of a password, as Postgres would."""
        salted = hashlib.pbkdf2_hmac("sha256", saslprep(password).encode(), salt, iterations)
        client_key = _hmac(salted, b"Client Key")
        return cls(iterations, salt, _sha256(client_key), _hmac(salted, b"Server Key"))

    @classmethod
    def mock(cls, key: bytes, user: bytes, iterations: int = DEFAULT_ITERATIONS) -> Verifier:
        """Make a verifier that no proof fits, with a salt that stays the same for a user."""
        salt = _hmac(key, b"salt" + user)[:SALT_BYTES]
        return cls(iterations, salt, _hmac(key, b"stored" + user), _hmac(key, b"server" + user))

    def __str__(self) -> str:
        """Write it as pg_authid.rolpassword holds it."""
        salt, stored, server = map(_encoded, (self.salt, self.stored_key, self.server_key))
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored}:{server}"

    def __repr__(self) -> str:
        return "Verifier(…)"


@dataclass(frozen=True, slots=True, repr=False)
class Accepted:
    """A client that proved its password: its key, and the last message it waits for."""

    client_key: bytes
    server_final: bytes


def new_nonce() -> bytes:
    """Return printable bytes that nobody can guess."""
    return base64.b64encode(secrets.token_bytes(_NONCE_BYTES))


class ServerExchange:
    """The server's side of one exchange with a client.

    `channel_binding` is the tls-server-end-point hash when SCRAM-SHA-256-PLUS can be offered.
    The verifier of the first message is the one that the proof is checked against.
    """

    def __init__(
        self, verifier: Verifier, nonce: bytes, channel_binding: bytes | None = None
    ) -> None:
        self._verifier = verifier
        self._channel_binding = channel_binding
        self._server_nonce = nonce
        self._gs2 = b""
        self._bound = False
        self._client_first_bare = b""
        self._server_first = b""
        self._nonce = b""

    @property
    def mechanisms(self) -> Sequence[bytes]:
        """What to offer, the preferred first."""
        return (MECHANISM,) if self._channel_binding is None else (MECHANISM_PLUS, MECHANISM)

    def first(self, mechanism: bytes, message: bytes) -> bytes:
        """Take the client's first message and return the server's; raises ScramError."""
        if mechanism not in self.mechanisms:
            raise ScramError("client selected an invalid SASL authentication mechanism")
        match = _CLIENT_FIRST.fullmatch(message)
        if match is None:
            raise ScramError("malformed SCRAM message")
        self._check_flag(mechanism, match["flag"], match["binding"])
        if match["authzid"]:
            raise ScramError("client uses authorization identity, but it is not supported", "0A000")
        if match["bare"].startswith(b"m="):
            raise ScramError("client requires an unsupported SCRAM extension", "0A000")
        self._gs2 = match["gs2"]
        self._client_first_bare = match["bare"]
        self._nonce = match["nonce"] + self._server_nonce
        salt = base64.b64encode(self._verifier.salt)
        self._server_first = b"r=%b,s=%b,i=%d" % (self._nonce, salt, self._verifier.iterations)
        return self._server_first

    def _check_flag(self, mechanism: bytes, flag: bytes, binding: bytes | None) -> None:
        self._bound = mechanism == MECHANISM_PLUS
        if self._bound != (binding is not None):
            raise ScramError("malformed SCRAM message")
        if binding is not None and binding != b"tls-server-end-point":
            raise ScramError("unsupported SCRAM channel-binding type")
        if flag == b"y" and self._channel_binding is not None:
            # The client could have bound the channel and was told that we can't: a downgrade.
            raise ScramError("SCRAM channel binding negotiation error", "28000")

    def final(self, message: bytes) -> Accepted:
        """Check the client's proof; raises ProofRefused when it is not the password's."""
        match = _CLIENT_FINAL.fullmatch(message)
        if match is None:
            raise ScramError("malformed SCRAM message")
        expected = self._gs2 + (self._channel_binding or b"" if self._bound else b"")
        if match["binding"] != base64.b64encode(expected):
            raise ScramError("SCRAM channel binding check failed", "28000")
        if not hmac.compare_digest(match["nonce"], self._nonce):
            raise ScramError("invalid SCRAM response")
        try:
            proof = base64.b64decode(match["proof"], validate=True)
        except binascii.Error as error:
            raise ScramError("malformed SCRAM message") from error
        if len(proof) != 32:
            raise ScramError("malformed SCRAM message")
        transcript = b",".join((self._client_first_bare, self._server_first, match["unproven"]))
        client_key = _xor(proof, _hmac(self._verifier.stored_key, transcript))
        signature = _hmac(self._verifier.server_key, transcript)
        if not hmac.compare_digest(_sha256(client_key), self._verifier.stored_key):
            raise ProofRefused("password authentication failed", "28P01")
        return Accepted(client_key, b"v=" + base64.b64encode(signature))


class ClientExchange:
    """The client's side towards the upstream, with a ClientKey in place of the password."""

    def __init__(self, client_key: bytes, verifier: Verifier, nonce: bytes) -> None:
        self._client_key = client_key
        self._verifier = verifier
        self._nonce = nonce
        self._transcript = b""

    def first(self) -> bytes:
        """Return the first message; without channel binding, the server knows the user."""
        return b"n,,n=,r=" + self._nonce

    def final(self, server_first: bytes) -> bytes:
        """Answer the server's first message with the proof.

        Raises ProofRefused when the server holds another verifier than the one that the client
        proved: the key would not fit, and its proof is not handed out.
        """
        match = _SERVER_FIRST.fullmatch(server_first)
        if match is None or not match[1].startswith(self._nonce):
            raise ScramError("malformed SCRAM message")
        salt, iterations = base64.b64decode(match[2]), int(match[3])
        if (salt, iterations) != (self._verifier.salt, self._verifier.iterations):
            raise ProofRefused("the server's verifier has changed", "28P01")
        unproven = b"c=biws,r=" + match[1]
        self._transcript = b",".join((b"n=,r=" + self._nonce, server_first, unproven))
        signature = _hmac(self._verifier.stored_key, self._transcript)
        return unproven + b",p=" + base64.b64encode(_xor(self._client_key, signature))

    def verify(self, server_final: bytes) -> None:
        """Check that the server holds the verifier too; raises ScramError."""
        signature = _hmac(self._verifier.server_key, self._transcript)
        if not hmac.compare_digest(server_final, b"v=" + base64.b64encode(signature)):
            raise ScramError("invalid SCRAM server signature")


def saslprep(password: str) -> str:
    """Return the password as RFC 4013 wants it, or unchanged where it forbids the text.

    So does Postgres: a password that can't be prepared is used as it is.
    """
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    prepared = unicodedata.ucd_3_2_0.normalize("NFKC", mapped)
    if not prepared or any(map(_prohibited, prepared)) or not _directions_agree(prepared):
        return password
    return prepared


def _prohibited(character: str) -> bool:
    return any(
        table(character)
        for table in (
            stringprep.in_table_a1,
            stringprep.in_table_c12,
            stringprep.in_table_c21_c22,
            stringprep.in_table_c3,
            stringprep.in_table_c4,
            stringprep.in_table_c5,
            stringprep.in_table_c6,
            stringprep.in_table_c7,
            stringprep.in_table_c8,
            stringprep.in_table_c9,
        )
    )


def _directions_agree(text: str) -> bool:
    right_to_left = [stringprep.in_table_d1(character) for character in text]
    if not any(right_to_left):
        return True
    return right_to_left[0] and right_to_left[-1] and not any(map(stringprep.in_table_d2, text))


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _sha256(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left) ^ int.from_bytes(right)).to_bytes(len(left))


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()
