"""What one client may ask for, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for requests; a rate of None is no bound.

    Requests are counted by token, or by address where there is none; failed log-ins by address.
    """

    requests_per_minute: int | None = 6_000
    failures_per_minute: int | None = 60
    max_body_bytes: int = 16 * MEBIBYTE
    body_timeout_seconds: float = 30
