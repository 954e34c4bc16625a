"""What the command line says when it can't go on.

PgrecallError
├── SettingsError        a setting that makes no sense
├── StateFolderError     the state folder can't be used
│   ├── StateFolderInUse     another process has it
│   └── NotAStateFolder      it holds somebody else's files
├── DiskFull             no room left where the data lies
├── DatabaseError        Postgres did not start, or went away
│   ├── WrongMajor           the data folder belongs to another major version
│   └── NotReady             the given database lacks something
├── PortInUse            somebody listens there already
└── ComponentDied        a part of `up` ended by itself
"""

from __future__ import annotations

from typing import ClassVar


class PgrecallError(Exception):
    """A refusal in the user's words; `hint` says what would help."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(PgrecallError):
    """A setting that makes no sense."""

    exit_code = 2


class StateFolderError(PgrecallError):
    """The state folder can't be used."""


class StateFolderInUse(StateFolderError):
    """Another process holds the state folder."""


class NotAStateFolder(StateFolderError):
    """The folder holds somebody else's files."""


class DiskFull(PgrecallError):
    """No room left where the data lies."""


class DatabaseError(PgrecallError):
    """Postgres did not start, or went away."""


class WrongMajor(DatabaseError):
    """The data folder belongs to another major version of Postgres."""


class NotReady(DatabaseError):
    """The given database lacks something that pgrecall needs."""


class PortInUse(PgrecallError):
    """Somebody listens on that port already."""


class ComponentDied(PgrecallError):
    """A part of `up` ended by itself."""
