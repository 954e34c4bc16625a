"""What stands before the routes: host names, rates, sizes. Plain ASGI, so that it covers mounts."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import math
import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rest.limits import Limits
from rest.problems import FORBIDDEN, MISDIRECTED, REQUEST_TIMEOUT, TOO_LARGE, TOO_MANY, problem
from rest.refusals import address_of

LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "::1")
_UNCOUNTED: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_MAX_GOOD_TOKENS: Final = 10_000


def _host_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


class HostGuard:
    """Answers only to its own names, so that no web page reaches a local server by rebinding DNS.

    A browser's Origin must be one of those names too. `*` allows every name; a page's Origin must
    then be the very host that it asks.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().strip("[]") for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        asked = _host_in(f"//{headers.get('host', '')}")
        names = {asked} if "*" in self._hosts else self._hosts
        if asked not in names:
            return await problem(MISDIRECTED)(scope, receive, send)
        if (origin := headers.get("origin")) is not None and _host_in(origin) not in names - {None}:
            scope["state"]["refused_for"] = "other-site"
            refused = problem(FORBIDDEN, "requests of other web sites are refused")
            return await refused(scope, receive, send)
        return await self._app(scope, receive, send)


class RateLimit:
    """Counts requests by token, or by address where there is none, and failed log-ins by address.

    Too many failures shut an address out for the rest of the minute, but for tokens that are known
    to be good: on one machine all clients share an address.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._requests = _per_minute(limits.requests_per_minute)
        self._failures = _per_minute(limits.failures_per_minute)
        self._good: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http" or scope["path"] in _UNCOUNTED:
            return await self._app(scope, receive, send)
        address = _network(address_of(scope))
        token = _token_digest(scope)
        if (over := await self._exceeded(address, token)) is not None:
            return await over(scope, receive, send)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._note(address, token, message["status"])
            await send(message)

        return await self._app(scope, receive, watched)

    async def _exceeded(self, address: str, token: str | None) -> JSONResponse | None:
        failures, requests = self._failures, self._requests
        if (
            failures
            and token not in self._good
            and not await self._limiter.test(failures, "failures", address)
        ):
            return await self._refusal(failures, "failures", address)
        caller = token or address
        if requests and not await self._limiter.hit(requests, "requests", caller):
            return await self._refusal(requests, "requests", caller)
        return None

    async def _refusal(self, item: RateLimitItem, *identifiers: str) -> JSONResponse:
        window = await self._limiter.get_window_stats(item, *identifiers)
        wait_seconds = max(1, math.ceil(window.reset_time - time.time()))
        return problem(TOO_MANY, str(item), headers={"Retry-After": str(wait_seconds)})

    async def _note(self, address: str, token: str | None, status: int) -> None:
        if status == HTTPStatus.UNAUTHORIZED:
            self._good.discard(token or "")
            if self._failures:
                await self._limiter.hit(self._failures, "failures", address)
        elif token and status < HTTPStatus.BAD_REQUEST:
            if len(self._good) >= _MAX_GOOD_TOKENS:
                self._good.clear()
            self._good.add(token)


class BodyLimit:
    """Reads a body whole before anything else does, and refuses one too large or too slow.

    What was read is counted, since a Content-Length may be missing or wrong.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        try:
            async with asyncio.timeout(self._limits.body_timeout_seconds):
                body = await self._read(Headers(scope=scope), receive)
        except TimeoutError:
            return await problem(REQUEST_TIMEOUT)(scope, receive, send)
        except _Disconnected:
            return None
        if body is None:
            detail = f"a body may hold {self._limits.max_body_bytes} bytes"
            return await problem(TOO_LARGE, detail)(scope, receive, send)
        first: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replayed() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        return await self._app(scope, replayed, send)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """Return the body, None when it is too large."""
        limit = self._limits.max_body_bytes
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            return None
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Disconnected
            body += message.get("body", b"")
            if len(body) > limit:
                return None
            more = message.get("more_body", False)
        return bytes(body)


class _Disconnected(Exception):
    """The client went away before its request was whole."""


def _per_minute(amount: int | None) -> RateLimitItem | None:
    return None if amount is None else RateLimitItemPerMinute(amount)


def _network(address: str) -> str:
    """Return what one client can't leave: its address, of IPv6 the /64 that providers hand out."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False))


def _token_digest(scope: Scope) -> str | None:
    authorization = Headers(scope=scope).get("authorization")
    return hashlib.sha256(authorization.encode()).hexdigest() if authorization else None
