"""Refusals as RFC 9457 problem details, and which error becomes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from starlette.responses import JSONResponse

from sql import errors
from sql.idempotency import KeyReused

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 2
_TYPE_PREFIX: Final = "urn:problem-type:pgrecall:"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of refusal: its HTTP status, the name that ends its `type` URI, and its title."""

    status: int
    name: str
    title: str


class WrongField(BaseModel):
    """One field that can't be accepted; `pointer` is a JSON pointer into the body (RFC 6901)."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None


class Problem(BaseModel):
    """What every refusal answers; `type` is stable, `title` and `detail` are for people."""

    type: str
    title: str
    status: int
    detail: str | None = None
    hint: str | None = None
    request_id: str | None = None
    errors: list[WrongField] | None = None


BAD_REQUEST: Final = Kind(400, "bad-request", "The request can't be read")
UNAUTHENTICATED: Final = Kind(401, "unauthenticated", "A valid bearer token is needed")
FORBIDDEN: Final = Kind(403, "forbidden", "This agent may not do that")
NOT_FOUND: Final = Kind(404, "not-found", "There is no such thing, or none you may see")
METHOD_NOT_ALLOWED: Final = Kind(405, "method-not-allowed", "This resource takes other methods")
REQUEST_TIMEOUT: Final = Kind(408, "request-timeout", "The request took too long to arrive")
CONFLICT: Final = Kind(409, "conflict", "Somebody else was first")
STALE: Final = Kind(412, "stale", "The memory has changed since")
TOO_LARGE: Final = Kind(413, "too-large", "The request is too large")
MISDIRECTED: Final = Kind(421, "misdirected", "This server is not known by that name")
INVALID: Final = Kind(422, "invalid-input", "A value can't be accepted")
KEY_REUSED: Final = Kind(422, "idempotency-key-reused", "The key stands for another request")
CONDITION_MISSING: Final = Kind(428, "if-match-missing", "If-Match must name the version you saw")
TOO_MANY: Final = Kind(429, "too-many-requests", "Too many requests")
UNEXPECTED: Final = Kind(500, "unexpected", "Something went wrong on our side")
UNAVAILABLE: Final = Kind(503, "unavailable", "The database is not available")

_BY_ERROR: Final[Mapping[type[Exception], Kind]] = {
    KeyReused: KEY_REUSED,
    errors.InvalidInput: INVALID,
    errors.NotFound: NOT_FOUND,
    errors.Forbidden: FORBIDDEN,
    errors.Stale: STALE,
    errors.Conflict: CONFLICT,
    errors.TooLarge: TOO_LARGE,
    errors.Unavailable: UNAVAILABLE,
}
_BY_STATUS: Final[Mapping[int, Kind]] = {
    kind.status: kind
    for kind in (
        *(BAD_REQUEST, UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, METHOD_NOT_ALLOWED),
        CONDITION_MISSING,
        *(REQUEST_TIMEOUT, TOO_LARGE, MISDIRECTED, TOO_MANY),
    )
}


def kind_of(error: errors.StoreError) -> Kind | None:
    """Return what the error is to a client; None when it is a fault of ours."""
    return next((_BY_ERROR[base] for base in type(error).__mro__ if base in _BY_ERROR), None)


def kind_for_status(status: int) -> Kind:
    """Return what a bare HTTP status of the framework is."""
    return _BY_STATUS.get(status, Kind(status, f"http-{status}", "The request was refused"))


def problem(
    kind: Kind,
    detail: str | None = None,
    *,
    hint: str | None = None,
    request_id: str | None = None,
    wrong: Sequence[WrongField] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the response for a refusal; what is None does not appear in it."""
    body = Problem(
        type=_TYPE_PREFIX + kind.name,
        title=kind.title,
        status=kind.status,
        detail=detail,
        hint=hint,
        request_id=request_id,
        errors=list(wrong) if wrong else None,
    )
    content: dict[str, Any] = body.model_dump(exclude_none=True)
    return JSONResponse(content, kind.status, headers, media_type=MEDIA_TYPE)
