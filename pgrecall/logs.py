"""Logging: structlog to standard error, with the standard library's routed through it."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
import structlog.tracebacks

from pgrecall.settings import LogFormat, LogLevel

# They log each request, what a user sent, or their own coming and going, at info.
_CHATTY = ("httpx", "httpcore", "mcp", "uvicorn", "asyncio", "watchfiles")


def configure_logging(level: LogLevel, form: LogFormat) -> None:
    """Send all logging to standard error; standard output belongs to answers and to MCP."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.processors.add_log_level,
        _clock(form),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    output = logging.StreamHandler(sys.stderr)
    output.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_ending(form))
    )
    root = logging.getLogger()
    root.handlers[:] = [output]
    root.setLevel(threshold)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))
    logging.captureWarnings(True)


def _clock(form: LogFormat) -> structlog.processors.TimeStamper:
    if form == "json":
        return structlog.processors.TimeStamper(fmt="iso", utc=True)
    return structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)


def _ending(form: LogFormat) -> list[Any]:
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if form == "json":
        # Without the frames' variables, among which are texts and secrets.
        transform = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        tracebacks = structlog.processors.ExceptionRenderer(transform)
        return [remove, tracebacks, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback
    colours = sys.stderr.isatty()
    return [remove, structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
