"""Entity tags: a memory's is its version's number in quotes."""

from __future__ import annotations

import re
from typing import Final

from sql.records import Memory

_TAG: Final = re.compile(r'"(\d{1,9})"', re.ASCII)


def etag(memory: Memory) -> str:
    """Return the strong entity tag of a memory."""
    return f'"{memory.version}"'


def unchanged(if_none_match: str, tag: str) -> bool:
    """Tell whether If-None-Match names the tag; weak ones count as well (RFC 9110, 13.1.2)."""
    given = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return "*" in given or tag in given


def expected_versions(if_match: str) -> frozenset[int] | None:
    """Return the versions that If-Match names, None for any; a weak tag is none (13.1.1)."""
    given = [each.strip() for each in if_match.split(",")]
    if "*" in given:
        return None
    return frozenset(int(found[1]) for each in given if (found := _TAG.fullmatch(each)))
