"""What the store raises, and how a SQLSTATE becomes it.

StoreError
├── InvalidInput       22xxx, 23514: the caller's value can't be accepted
├── NotFound           P0002: no such thing, or none that the caller may see
├── Forbidden          42501: seen, but not allowed
├── Conflict           40001, 23505: somebody else was first
│   └── Stale          40001: the version that the caller built on is no longer the newest
├── TooLarge           54000: over a stated limit
└── Unavailable        08xxx, 53xxx, 57xxx, 55000: the database is away; trying again may help
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg


class StoreError(Exception):
    """A refusal with Postgres's own words.

    `detail` and `hint` are apart from the message, as in Postgres; `sqlstate` is five characters.
    """

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str = "XX000",
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.detail = detail
        self.hint = hint


class InvalidInput(StoreError):
    """A value that can't be accepted."""


class NotFound(StoreError):
    """No such thing, or none that the caller may see."""


class Forbidden(StoreError):
    """The caller may see it, but not do this."""


class Conflict(StoreError):
    """Another writer was first."""


class Stale(Conflict):
    """The version that the caller built on is no longer the newest."""


class TooLarge(StoreError):
    """Over a stated limit."""


class Unavailable(StoreError):
    """The database can't be reached or refuses work for now."""


_BY_SQLSTATE: tuple[tuple[str, type[StoreError]], ...] = (
    ("P0002", NotFound),
    ("42501", Forbidden),
    ("40001", Conflict),
    ("40P01", Conflict),
    ("23505", Conflict),
    ("54", TooLarge),
    ("22", InvalidInput),
    ("23", InvalidInput),
    ("08", Unavailable),
    ("53", Unavailable),
    ("57", Unavailable),
    ("55000", Unavailable),  # the database does not accept connections now
)


def from_postgres(error: asyncpg.PostgresError) -> StoreError:
    """Return the store's error for one of Postgres's, by SQLSTATE."""
    sqlstate = error.sqlstate or "XX000"
    kind = next((kind for prefix, kind in _BY_SQLSTATE if sqlstate.startswith(prefix)), StoreError)
    return kind(str(error.args[0]), sqlstate=sqlstate, detail=error.detail, hint=error.hint)


@contextmanager
def translated() -> Iterator[None]:
    """Raise StoreErrors in place of the driver's, once, at the store's edge."""
    try:
        yield
    except asyncpg.PostgresError as error:
        raise from_postgres(error) from error
    except (
        OSError,
        TimeoutError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,  # the server ended the session between two of our messages
    ) as error:
        raise Unavailable(
            "the database can't be reached", sqlstate="08006", detail=str(error)
        ) from error
