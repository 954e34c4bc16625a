"""SCRAM-SHA-256 secrets as Postgres stores them (RFC 5802, RFC 7677): no password is kept."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import Final

ITERATIONS: Final = 4096


def scram_secret(password: str, *, salt: bytes | None = None, iterations: int = ITERATIONS) -> str:
    """Return `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`, which CREATE ROLE takes as it is.

    The password must be ASCII: ours are generated, and other text would need SASLprep first.
    """
    salt = secrets.token_bytes(16) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    written = [base64.b64encode(part).decode() for part in (salt, stored_key, server_key)]
    return f"SCRAM-SHA-256${iterations}:{written[0]}${written[1]}:{written[2]}"
