"""Reads the SQL files that travel with the package: migrations, functions, views, named queries."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Final, Literal

Folder = Literal["migrations", "functions", "views"]

_ROOT: Final[Traversable] = files("sql")
_NAME = re.compile(r"^-- name: ([a-z_]+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Script:
    """One SQL file; `sha256` is over its bytes, in hex."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """The file's hash as it is recorded in the database."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def scripts(folder: Folder) -> list[Script]:
    """Return the folder's files in the order of their names."""
    entries = sorted((_ROOT / folder).iterdir(), key=lambda entry: entry.name)
    return [
        Script(entry.name, entry.read_text(encoding="utf-8"))
        for entry in entries
        if entry.name.endswith(".sql")
    ]


def script(name: str) -> Script:
    """Return one file of the package's top folder."""
    return Script(name, (_ROOT / name).read_text(encoding="utf-8"))


@cache
def queries(subject: str) -> MappingProxyType[str, str]:
    """Return a subject's queries by name; each stands behind a line `-- name: …` in its file."""
    text = (_ROOT / "queries" / f"{subject}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)
    return MappingProxyType(dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True)))
