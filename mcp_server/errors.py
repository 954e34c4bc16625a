"""What the store refuses, and arguments that are wrong, in words for the model that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from pydantic import ValidationError

from sql.errors import Forbidden, NotFound, StoreError, Unavailable

log = structlog.get_logger(__name__)


def explained(error: StoreError) -> str:
    """Return what went wrong and what to do; of our own faults, only that it was one."""
    if isinstance(error, Unavailable):
        log.warning("database not available", reason=error.message, sqlstate=error.sqlstate)
        return f"{error.message}; nothing is lost, try again in a few seconds"
    if isinstance(error, Forbidden | NotFound):  # who asked stands in the log's context
        log.info("refused", reason="forbidden" if isinstance(error, Forbidden) else "not-found")
    if type(error) is StoreError:
        log.error("unexpected error of the database", sqlstate=error.sqlstate, exc_info=error)
        return "something went wrong on the memory's side; its log says what"
    return f"{error.message} ({error.hint})" if error.hint else error.message


@contextmanager
def as_tool_error() -> Iterator[None]:
    """Raise the store's refusals as a tool's."""
    try:
        yield
    except StoreError as error:
        raise ToolError(explained(error)) from error


@contextmanager
def as_resource_error() -> Iterator[None]:
    """Raise the store's refusals as a resource's."""
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(explained(error)) from error
    except StoreError as error:
        raise ResourceError(explained(error)) from error


def wrong_arguments(error: ValidationError, known: Iterable[str]) -> str:
    """Say for each wrong argument what is wrong; what was given is not repeated."""
    lines = []
    for entry in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(step) for step in entry["loc"])
        said = entry["msg"].removeprefix("Value error, ")
        if entry["type"] == "extra_forbidden":
            said = f"no such argument; there are {', '.join(known)}"
        lines.append(f"{where}: {said}")
    return "\n".join(lines)
