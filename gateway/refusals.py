"""What the gateway itself refuses, in Postgres's own words and codes.

Refusal
├── CannotConnect     08006  the database can't be reached, or was lost
├── WrongPassword     28P01  also an unknown role, an expired or a withdrawn login
├── NotAuthorized     28000  a login that can't be carried out
├── BadProtocol       08P01  and what else a protocol violation brings
├── TooManyClients    53300  over a limit on connections
├── ShuttingDown      57P01  the gateway stops
├── IdleTooLong       57P05  over the idle timeout
└── LoginTooSlow      57014  TLS, startup and login took too long
"""

from __future__ import annotations

import re
from typing import ClassVar

from gateway.protocol.backend import ErrorResponse


class Refusal(Exception):
    """An error that ends a session; the client reads it as Postgres's FATAL."""

    sqlstate: ClassVar[str] = "XX000"
    reason: ClassVar[str] = "internal"  # for metrics and logs

    def __init__(self, message: str, *, hint: str | None = None, sqlstate: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = sqlstate or self.sqlstate

    def encode(self) -> bytes:
        """Return the ErrorResponse."""
        fields = [
            (b"S", b"FATAL"),
            (b"V", b"FATAL"),
            (b"C", self.code.encode()),
            (b"M", self.message.encode()),
        ]
        if self.hint:
            fields.append((b"H", self.hint.encode()))
        return ErrorResponse(fields).encode()


class CannotConnect(Refusal):
    """The upstream is away."""

    sqlstate = "08006"
    reason = "upstream"


class WrongPassword(Refusal):
    """No such login, or not this password; which of them is not told."""

    sqlstate = "28P01"
    reason = "password"

    def __init__(self, user: bytes) -> None:
        name = user.decode("utf-8", "replace")
        super().__init__(f'password authentication failed for user "{name}"')


class NotAuthorized(Refusal):
    """A login that can't go through for another reason than the password."""

    sqlstate = "28000"
    reason = "authorization"


class BadProtocol(Refusal):
    """The client broke the protocol."""

    sqlstate = "08P01"
    reason = "protocol"


class TooManyClients(Refusal):
    """A limit on connections is reached."""

    sqlstate = "53300"
    reason = "connections"


class ShuttingDown(Refusal):
    """The gateway stops."""

    sqlstate = "57P01"
    reason = "shutdown"

    def __init__(self) -> None:
        super().__init__("terminating connection due to administrator command")


class IdleTooLong(Refusal):
    """The session was idle for longer than allowed."""

    sqlstate = "57P05"
    reason = "idle"

    def __init__(self) -> None:
        super().__init__("terminating connection due to idle-session timeout")


class LoginTooSlow(Refusal):
    """The deadline over TLS, startup and login has passed."""

    sqlstate = "57014"
    reason = "timeout"

    def __init__(self) -> None:
        super().__init__("canceling authentication due to timeout")


class Forwarded(Exception):
    """The upstream refused the login itself; `response` is its ErrorResponse, byte for byte."""

    def __init__(self, response: bytes) -> None:
        super().__init__("refused by the upstream")
        self.response = response
        # Its first message may be an AuthenticationOk; the error is the last.
        self.sqlstate = _sqlstate(response)


def _sqlstate(response: bytes) -> str:
    found = re.search(rb"\x00C([0-9A-Z]{5})\x00", response)
    return found[1].decode() if found else "XX000"
