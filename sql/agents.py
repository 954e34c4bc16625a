"""Agents: who they are, the tokens that prove it, and their SQL logins."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import BaseModel

from sql import logins
from sql.errors import Conflict, InvalidInput, NotFound, translated
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.records import AgentName

_QUERIES: Final = queries("agents")
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,61}")
TOKEN_OVERLAP: Final = timedelta(minutes=10)
# Over the views, so that it answers whoever runs it with what it may know: the app role with all.
LIST_AGENTS: Final = _QUERIES["list_agents"]


@dataclass(frozen=True, slots=True)
class Agent:
    """Somebody who has proved who they are; `reader` may only read, `admin` runs the deployment."""

    name: AgentName
    admin: bool = False
    reader: bool = False

    @property
    def role(self) -> str:
        """The Postgres role that a transaction for this agent takes on."""
        return "pgrecall_reader" if self.reader else "pgrecall_agent"


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is told once and stored nowhere; `password` is None without an SQL login."""

    agent: AgentName
    token: str
    password: str | None


@dataclass(frozen=True, slots=True)
class Login:
    """A new SQL login, told once; Postgres and the gateway keep a SCRAM secret of the password."""

    agent: AgentName
    password: str
    expires_at: datetime | None


class TokenEntry(BaseModel):
    """What may be told of a token: how it begins, and when it was made, used and ends."""

    prefix: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class AgentEntry(BaseModel):
    """One agent in a listing; times are None where nothing happened yet."""

    name: AgentName
    admin: bool
    reader: bool
    sql_login: bool
    spaces: list[str]
    created_at: datetime
    last_used_at: datetime | None
    tokens: list[TokenEntry]


async def add_agent(
    pool: Pool,
    name: str,
    *,
    admin: bool = False,
    sql_login: bool = False,
    reader: bool = False,
    spaces: Sequence[str] = (),
    token_expires_at: datetime | None = None,
) -> Secrets:
    """Make an agent with a token, a space of its own and, if asked, a Postgres login role.

    The token ends at `token_expires_at`, or never; the login does not end with it.
    Raises InvalidInput for a name that can't be an agent's, Conflict when the name is taken by an
    agent or by a role that is not ours, or when a removed agent of that name left memories.
    """
    agent = _checked(name)
    with translated():
        async with pool.acquire() as connection, connection.transaction():
            if await connection.fetchrow(_QUERIES["find_agent"], agent):
                raise Conflict(f'agent "{agent}" exists already', sqlstate="42710")
            if await connection.fetchval(_QUERIES["has_memories"], agent):
                raise Conflict(
                    f'an agent "{agent}" was removed, and a new one would read its memories',
                    sqlstate="42710",
                    hint="Choose another name, or erase those memories first.",
                )
            await connection.execute(_QUERIES["add_agent"], agent, admin, reader)
            await _log(connection, agent, "add_agent", admin=admin, reader=reader)
            await connection.execute(_QUERIES["add_member"], f"~{agent}", agent, "admin")
            for space in spaces:
                role = "reader" if reader else "writer"
                await connection.execute(_QUERIES["add_member"], space, agent, role)
            token = await _issue_token(connection, agent, token_expires_at)
            password = await logins.create(connection, agent, reader=reader) if sql_login else None
    return Secrets(agent, token, password)


async def rotate(pool: Pool, name: str, *, token_expires_at: datetime | None = None) -> Secrets:
    """Issue a new token, and a new password where the agent has an SQL login.

    The old token goes on for TOKEN_OVERLAP, so that running agents can be handed the new one;
    the old password ends at once, and the new one when the old would have. Raises NotFound.
    """
    with translated():
        async with pool.acquire() as connection, connection.transaction():
            agent = await _found(connection, name)
            await connection.execute(
                _QUERIES["expire_tokens"], agent.name, datetime.now(UTC) + TOKEN_OVERLAP
            )
            await _log(connection, agent.name, "expire_tokens")
            token = await _issue_token(connection, agent.name, token_expires_at)
            login = await connection.fetchrow(_QUERIES["login_secret"], agent.name)
            password = (
                await logins.set_password(connection, agent.name, login["valid_until"])
                if login
                else None
            )
    return Secrets(agent.name, token, password)


async def remove(pool: Pool, name: str) -> None:
    """Take away an agent's tokens, login and memberships; what it wrote stays. Raises NotFound.

    Its SQL sessions end, and what its role owns by the way, such as large objects, goes with it.
    """
    with translated():
        async with pool.acquire() as connection, connection.transaction():
            agent = await _found(connection, name)
            had_login = await connection.fetchrow(_QUERIES["login_secret"], agent.name)
            await connection.execute(_QUERIES["leave_spaces"], agent.name)
            await _log(connection, agent.name, "remove_agent")
            await connection.execute(_QUERIES["remove_agent"], agent.name)
            if had_login:
                await logins.drop(connection, agent.name)


async def give_login(pool: Pool, name: str, *, expires_at: datetime | None = None) -> Login:
    """Give an agent an SQL login, or a new password to the one it has; the old ends at once.

    After `expires_at` no client logs in with it. Raises NotFound; Conflict where a role that is
    not ours has the agent's name.
    """
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise InvalidInput("the login's end must be in the future", sqlstate="22023")
    with translated():
        async with pool.acquire() as connection, connection.transaction():
            agent = await _found(connection, name)
            if await connection.fetchrow(_QUERIES["login_secret"], agent.name):
                password = await logins.set_password(connection, agent.name, expires_at)
            else:
                password = await logins.create(
                    connection, agent.name, reader=agent.reader, expires_at=expires_at
                )
    return Login(agent.name, password, expires_at)


async def end_login(pool: Pool, name: str) -> None:
    """Take an agent's SQL login away and end its sessions; its tokens and memories stay.

    Raises NotFound for an unknown agent, and for one without a login.
    """
    with translated():
        async with pool.acquire() as connection, connection.transaction():
            agent = await _found(connection, name)
            if not await connection.fetchval(_QUERIES["remove_sql_login"], agent.name):
                raise NotFound(f'agent "{agent.name}" has no SQL login', sqlstate="P0002")
            await _log(connection, agent.name, "end_login")
            await logins.drop(connection, agent.name)


async def list_agents(pool: Pool) -> list[AgentEntry]:
    """Return every agent, by name."""
    with translated():
        rows = await pool.fetch(LIST_AGENTS)
    return [AgentEntry(**row) for row in rows]


async def find_agent(pool: Pool, name: str) -> Agent:
    """Return the agent of that name; raises NotFound."""
    with translated():
        async with pool.acquire() as connection:
            return await _found(connection, name)


async def agent_for_token(pool: Pool, token: str) -> Agent | None:
    """Return whose token this is, or None; only its hash is compared, in the index."""
    token_hash = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    with translated():
        row = await pool.fetchrow(_QUERIES["agent_for_token"], token_hash)
    if row is None:
        return None
    return Agent(AgentName(row["agent"]), row["admin"], row["reader"])


def _checked(name: str) -> AgentName:
    reserved = name.startswith(("pg_", "pgrecall")) or name == "postgres"
    if reserved or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} can't be an agent's name",
            sqlstate="22023",
            hint="A lower-case letter, then letters, digits, _ and - (62 at most); "
            "not postgres, pg_… or pgrecall….",
        )
    return AgentName(name)


async def _found(connection: Connection, name: str) -> Agent:
    row = await connection.fetchrow(_QUERIES["find_agent"], name)
    if row is None:
        raise NotFound(f'no agent "{name}"', sqlstate="P0002")
    return Agent(AgentName(row["agent"]), row["admin"], row["reader"])


async def _issue_token(
    connection: Connection, agent: AgentName, expires_at: datetime | None
) -> str:
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise InvalidInput("the token's end must be in the future", sqlstate="22023")
    token = f"pgr_{secrets.token_urlsafe(32)}"
    token_hash = hashlib.sha256(token.encode()).digest()
    await connection.execute(_QUERIES["add_token"], token_hash, agent, token[:12], expires_at)
    await _log(connection, agent, "add_token", token_hash=token_hash.hex()[:16])
    return token


async def _log(connection: Connection, agent: AgentName, action: str, **payload: Any) -> None:
    """Append what was done to an agent to the chain of its own space."""
    await connection.execute(_QUERIES["log"], agent, action, payload)
