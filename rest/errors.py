"""Turns what handlers raise into problems, once, at the edge."""

from __future__ import annotations

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rest.problems import (
    INVALID,
    RETRY_AFTER_SECONDS,
    UNAVAILABLE,
    UNEXPECTED,
    WrongField,
    kind_for_status,
    kind_of,
    problem,
)
from sql.errors import StoreError

log = structlog.get_logger(__name__)


def install(app: FastAPI) -> None:
    """Make the app answer its errors as problems."""
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _store_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    kind = kind_of(error)
    if kind is None:
        log.error("unexpected error of the database", sqlstate=error.sqlstate, exc_info=error)
        return problem(UNEXPECTED, request_id=request.state.request_id)
    if kind is UNAVAILABLE:
        log.warning("database not available", reason=error.message, sqlstate=error.sqlstate)
        return problem(kind, "try again soon", headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
    return problem(kind, error.message, hint=error.hint)


async def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if isinstance(error.body, bytes):  # not taken for JSON, whatever it holds
        return problem(INVALID, "the body must be JSON, with Content-Type: application/json")
    wrong = [_wrong_field(entry) for entry in error.errors()]
    return problem(INVALID, _said(wrong[0]), wrong=wrong)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(kind_for_status(error.status_code), headers=error.headers)


def _wrong_field(entry: dict[str, Any]) -> WrongField:
    """Say what is wrong with one field; what was sent there is not repeated."""
    where, *path = entry["loc"]
    detail = str(entry["msg"]).removeprefix("Value error, ")
    if entry["type"] == "json_invalid":
        return WrongField(detail=f"not JSON: {entry['ctx']['error']}")
    if where == "body":
        return WrongField(detail=detail, pointer="".join(f"/{_escaped(step)}" for step in path))
    return WrongField(detail=detail, parameter=".".join(str(step) for step in path))


def _said(first: WrongField) -> str:
    where = (first.pointer or first.parameter or "").lstrip("/").replace("/", ".")
    return f"{where}: {first.detail}" if where else first.detail


def _escaped(step: str | int) -> str:
    # A field that the client made up may hold what can't be written again.
    text = str(step).encode("utf-8", "replace").decode()
    return text.replace("~", "~0").replace("/", "~1")
