"""The audit of refusals: a line in the log and a count for each request that was turned away.

No row in the database: then whoever has no token could make us write as fast as he asks.
"""

from __future__ import annotations

import time
from typing import Final

import structlog
from starlette.datastructures import Headers
from starlette.types import Scope

from rest.metrics import Metrics
from rest.problems import kind_for_status

log = structlog.get_logger(__name__)

_AUDITED: Final = frozenset({401, 403, 404, 408, 413, 421, 429})
_TOKEN_PREFIX: Final = "pgr_"
# As many characters of a token as `pgrecall agent list` and memory.tokens show.
_SHOWN_CHARACTERS: Final = 12
# What comes faster is counted, and its number told by the next line.
_MOST_LINES_A_SECOND: Final = 50


class Refusals:
    """Writes down who was refused what, and why."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._second = 0
        self._lines = 0
        self._left_out = 0

    def note(self, scope: Scope, route: str, status: int) -> None:
        """Take the answer to a request; what was no refusal is none of ours."""
        if status not in _AUDITED:
            return
        agent = _agent(scope)
        if status == 404 and agent is None:
            return  # somebody without a token who asks for what is not there: no secret was near
        reason = scope["state"].get("refused_for") or kind_for_status(status).name
        self._metrics.refused(reason)
        if not self._may_write():
            self._left_out += 1
            return
        left_out, self._left_out = self._left_out, 0
        log.info(
            "refused",
            reason=reason,
            status=status,
            method=scope["method"],
            route=route,
            agent=agent,
            token=_token_prefix(scope),
            address=address_of(scope),
            **({"lines_left_out": left_out} if left_out else {}),
        )

    def _may_write(self) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._lines = second, 0
        self._lines += 1
        return self._lines <= _MOST_LINES_A_SECOND


def address_of(scope: Scope) -> str:
    """Return the client's address; a Unix socket has none."""
    return str(scope["client"][0]) if scope.get("client") else "local"


def _agent(scope: Scope) -> str | None:
    """Return whose token it was: the routes say it in the state, the MCP endpoint as the user."""
    name = scope["state"].get("agent") or getattr(scope.get("user"), "username", None)
    return str(name) if name else None


def _token_prefix(scope: Scope) -> str | None:
    """Return how the token begins; of what is none of our tokens, such as a password, nothing."""
    _, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token[:_SHOWN_CHARACTERS] if token.startswith(_TOKEN_PREFIX) else None
