"""Heads of the log's chains outside the database: signed, they show a cut tail or an older state.

A file of heads is JSON: `format`, `taken_at`, `heads`, and when it is signed `public_key` and
`signature` (Ed25519, in hex). docs/log.md gives the bytes that are signed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pgrecall.errors import PgrecallError
from pgrecall.faults import first_fault
from pgrecall.state_folder import StateFolder, explained, write_private
from sql.events import Head

_FORMAT: Final = "pgrecall heads 1"


class BadHeads(PgrecallError):
    """A file of heads that proves nothing: unreadable, unsigned, or signed by somebody else."""


class _HeadEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    space: str
    agent: str
    sequence: int = Field(ge=0, lt=2**63)
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")


class _HeadsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    taken_at: str
    heads: list[_HeadEntry]
    public_key: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    signature: str | None = Field(default=None, pattern=r"^[0-9a-f]{128}$")


@dataclass(frozen=True, slots=True)
class NotedHeads:
    """Heads as they stood at a moment; signed or not."""

    taken_at: str
    heads: tuple[Head, ...]
    public_key: str | None = None
    signature: str | None = None

    @classmethod
    def now(cls, heads: Sequence[Head]) -> NotedHeads:
        """Return the heads with the present time."""
        moment = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return cls(moment, tuple(heads))

    @classmethod
    def parse(cls, text: str) -> NotedHeads:
        """Return what a file of heads says; raises BadHeads when it is none."""
        try:
            told = _HeadsFile.model_validate_json(text)
        except ValidationError as error:
            place, message, _ = first_fault(error)
            raise BadHeads(f"not a file of heads: {place or 'it'}: {message}") from error
        if told.format != _FORMAT:
            raise BadHeads(f"not a file of heads: its format is {told.format!r}")
        heads = tuple(Head(**entry.model_dump()) for entry in told.heads)
        return cls(told.taken_at, heads, told.public_key, told.signature)

    def text(self) -> str:
        """Return the file's text."""
        told: dict[str, Any] = {"format": _FORMAT, "taken_at": self.taken_at}
        told["heads"] = [asdict(head) for head in self.heads]
        if self.signature is not None:
            told |= {"public_key": self.public_key, "signature": self.signature}
        return json.dumps(told, ensure_ascii=False, indent=1) + "\n"

    def signed(self, key: Ed25519PrivateKey) -> NotedHeads:
        """Return the same heads with a signature."""
        signature = key.sign(self._signed_bytes()).hex()
        return NotedHeads(self.taken_at, self.heads, public_text(key.public_key()), signature)

    def check(self, key: Ed25519PublicKey) -> None:
        """Raise BadHeads unless that key signed exactly these heads and this time."""
        if self.signature is None:
            raise BadHeads("these heads are not signed", hint="pgrecall log heads --sign")
        try:
            key.verify(bytes.fromhex(self.signature), self._signed_bytes())
        except InvalidSignature as error:
            raise BadHeads(
                f"these heads were not signed by the key {public_text(key)}, or changed since"
            ) from error

    def of_space(self, space: str | None) -> tuple[Head, ...]:
        """Return the heads of one space, or all."""
        return tuple(head for head in self.heads if space in (None, head.space))

    def _signed_bytes(self) -> bytes:
        fields = [_FORMAT, self.taken_at, str(len(self.heads))]
        for head in self.heads:
            fields += (head.space, head.agent, str(head.sequence), head.hash)
        encoded = [field.encode("utf-8", "surrogatepass") for field in fields]
        return b"".join(len(field).to_bytes(4, "big") + field for field in encoded)


def signing_key(state: StateFolder) -> Ed25519PrivateKey:
    """Return the key of the state folder, made when there is none yet."""
    file = state.signing_key_file
    if not file.exists():
        made = Ed25519PrivateKey.generate()
        pem = made.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        with explained(state.path):
            state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(file, pem.decode())
    return _private_key(file)


def known_public_key(state: StateFolder, given: str | None) -> Ed25519PublicKey | None:
    """Return the key that was given, as hex or in a file; else that of the state folder, if any."""
    if given is not None:
        return _public_key(given)
    if state.signing_key_file.exists():
        return _private_key(state.signing_key_file).public_key()
    return None


def public_text(key: Ed25519PublicKey) -> str:
    """Return a public key in hex."""
    return key.public_bytes_raw().hex()


def _private_key(file: Path) -> Ed25519PrivateKey:
    try:
        key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise BadHeads(f"{file} holds no private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadHeads(f"{file} holds no Ed25519 key")
    return key


def _public_key(given: str) -> Ed25519PublicKey:
    file = Path(given).expanduser()
    text = file.read_text() if len(given) < 1000 and file.is_file() else given
    try:
        if text.lstrip().startswith("-----"):
            key = serialization.load_pem_public_key(text.encode())
        else:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(text.strip()))
    except ValueError as error:
        raise BadHeads(
            "the public key must be 64 hex digits, or a file that holds them or a PEM"
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadHeads("the public key must be an Ed25519 key")
    return key
