"""Keeps the embedded Postgres running."""

from __future__ import annotations

from time import monotonic

import structlog

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.errors import ComponentDied

log = structlog.get_logger(__name__)

_RESTARTS = 5
_SOUND_SECONDS = 60.0  # a Postgres that lived so long died of something new


async def keep_running(postgres: EmbeddedPostgres) -> None:
    """Start Postgres again whenever it ends; raises when it ends again and again."""
    failures = 0
    while True:
        began = monotonic()
        await postgres.wait()
        failures = 1 if monotonic() - began > _SOUND_SECONDS else failures + 1
        if failures > _RESTARTS:
            raise ComponentDied(
                f"the embedded Postgres ended {failures} times in a row", hint="see postgres.log"
            )
        log.error("the embedded Postgres ended; starting it again")
        await postgres.start()
