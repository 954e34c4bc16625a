"""What every exchange carries: a request id, safe headers, a measurement, no leaked error.

Refusals go into the audit here, outside of all that may refuse.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import Final
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rest.metrics import Metrics
from rest.problems import UNEXPECTED, problem
from rest.refusals import Refusals

log = structlog.get_logger(__name__)

_REQUEST_ID: Final = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_SAFE_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Envelope:
    """The outermost layer of the app; a response's own headers win over the safe defaults."""

    def __init__(self, app: ASGIApp, metrics: Metrics, mounted: Collection[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._mounted = frozenset(mounted)
        self._refusals = Refusals(metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one exchange."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0
        started = time.perf_counter()

        async def sealed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])  # an HTTPStatus of some
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in _SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, sealed)
            except Exception:
                log.exception("unexpected error in a request", method=scope["method"])
                if status:
                    raise  # half an answer is out: the server can only cut the connection
                await problem(UNEXPECTED, request_id=request_id)(scope, receive, sealed)
            seconds = time.perf_counter() - started
            route = self._route(scope)
            self._metrics.observe(scope["method"], route, status, seconds)
            self._refusals.note(scope, route, status)
            structlog.contextvars.unbind_contextvars("agent")  # what authentication bound
            log.debug("served", method=scope["method"], route=route, status=status)
        return None

    def _route(self, scope: Scope) -> str:
        """Return the route's template: a label that clients can't multiply."""
        if scope["path"] in self._mounted:
            return str(scope["path"])
        return str(getattr(scope.get("route"), "path", "none"))


def _request_id(scope: Scope) -> str:
    """Return the client's own id where it is a plain one, else a new one."""
    given = Headers(scope=scope).get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex
