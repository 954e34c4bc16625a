"""The agent that a deployment begins with: an admin with a token and an SQL login."""

from __future__ import annotations

import structlog

from pgrecall.endpoints import Credentials
from pgrecall.errors import DatabaseError
from pgrecall.state_folder import StateFolder
from sql.agents import Secrets, add_agent, list_agents, rotate
from sql.errors import Conflict
from sql.pool import Pool

log = structlog.get_logger(__name__)

# Roles belong to a whole server: another database of it may have its own first agent.
NAMES = ("me", *(f"me-{number}" for number in range(2, 10)))


async def ensure_first_agent(pool: Pool, state: StateFolder) -> str:
    """Return the first agent's name, made when the deployment has no admin; keeps its secrets.

    Where its secrets were lost, and the database is the embedded one, it gets new ones: whoever
    owns the state folder owns that database.
    """
    agents = await list_agents(pool)
    kept = Credentials.read(state)
    if kept is not None and any(entry.name == kept.agent for entry in agents):
        return kept.agent
    admins = [entry.name for entry in agents if entry.admin]
    if not admins:
        secrets = await _add(pool)
    elif state.postgres_folder.exists():
        secrets = await rotate(pool, admins[0])
    else:
        log.warning("no credentials.json", remedy=f"pgrecall agent rotate {admins[0]}")
        return admins[0]
    Credentials(secrets.agent, secrets.token, secrets.password).write(state)
    return secrets.agent


async def _add(pool: Pool) -> Secrets:
    for name in NAMES:
        try:
            return await add_agent(pool, name, admin=True, sql_login=True)
        except Conflict:
            log.info("a role of that name is not ours", role=name)
    raise DatabaseError(
        f"roles {NAMES[0]} to {NAMES[-1]} exist and are not ours", hint="drop one of them"
    )
