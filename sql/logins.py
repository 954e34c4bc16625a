"""SQL logins: the Postgres role that an agent logs in as, and what the gateway knows of it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sql.errors import Conflict, translated
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.records import AgentName
from sql.scram import scram_secret

_QUERIES: Final = queries("agents")


@dataclass(frozen=True, slots=True)
class LoginSecret:
    """A role's SCRAM secret as Postgres stores it; after `valid_until` no proof is good."""

    secret: str
    valid_until: datetime | None


async def login_secret(pool: Pool, role: str) -> LoginSecret | None:
    """Return the secret of an agent that may log in by SQL; None for every other name."""
    with translated():
        row = await pool.fetchrow(_QUERIES["login_secret"], role)
    return None if row is None else LoginSecret(row["scram_secret"], row["valid_until"])


async def create(
    connection: Connection,
    agent: AgentName,
    *,
    reader: bool,
    expires_at: datetime | None = None,
) -> str:
    """Make the role of an agent, and return its password.

    Raises Conflict where there is a role of that name, which can't be ours.
    """
    if await connection.fetchval(_QUERIES["role_exists"], agent):
        raise Conflict(
            f'a Postgres role "{agent}" exists already and is not ours',
            sqlstate="42710",
            hint="Choose another name, or drop the role.",
        )
    group = "pgrecall_reader" if reader else "pgrecall_agent"
    # A checked name holds no quote, so it can stand in the statement, which takes no parameters.
    await connection.execute(f'create role "{agent}" login in role {group}')
    await connection.execute(f'alter role "{agent}" set search_path = memory, public')
    return await set_password(connection, agent, expires_at)


async def set_password(
    connection: Connection, agent: AgentName, expires_at: datetime | None = None
) -> str:
    """Give an agent's role a new password, good until `expires_at`, and return it."""
    password = secrets.token_urlsafe(24)
    secret = scram_secret(password)
    until = "infinity" if expires_at is None else expires_at.isoformat()
    await connection.execute(f"alter role \"{agent}\" password '{secret}' valid until '{until}'")
    await connection.execute(_QUERIES["set_sql_login"], agent, secret, expires_at)
    await connection.execute(_QUERIES["log"], agent, "set_login", {})
    return password


async def drop(connection: Connection, agent: AgentName) -> None:
    """Drop an agent's role with what it owns, and end its sessions."""
    # Whoever has a role's privileges may end its sessions and drop what would keep it alive.
    await connection.execute(f'grant "{agent}" to current_user with inherit true')
    await connection.execute(_QUERIES["end_sql_sessions"], agent)
    await connection.execute(f'drop owned by "{agent}"')
    await connection.execute(f'drop role "{agent}"')
