"""What the gateway must know of a login role to check a client's proof."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sql.errors import translated
from sql.loader import queries
from sql.pool import Pool


@dataclass(frozen=True, slots=True)
class LoginSecret:
    """A role's SCRAM secret as Postgres stores it; after `valid_until` no proof is good."""

    secret: str
    valid_until: datetime | None


async def login_secret(pool: Pool, role: str) -> LoginSecret | None:
    """Return the secret of an agent that may log in by SQL; None for every other name."""
    with translated():
        row = await pool.fetchrow(queries("agents")["login_secret"], role)
    return None if row is None else LoginSecret(row["scram_secret"], row["valid_until"])
