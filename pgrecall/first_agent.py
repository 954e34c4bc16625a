"""The agent that a deployment begins with: an admin with a token and an SQL login."""

from __future__ import annotations

import structlog

from pgrecall.endpoints import Credentials
from pgrecall.state_folder import StateFolder
from sql.agents import Secrets, add_agent, list_agents, rotate
from sql.pool import Pool

log = structlog.get_logger(__name__)

FIRST_AGENT = "me"


async def ensure_first_agent(pool: Pool, state: StateFolder) -> str:
    """Return the first agent's name, made when the deployment has no agent; keeps its secrets.

    Where its secrets were lost with the state folder, and the database is the embedded one, it
    gets new ones: whoever owns that folder owns the database.
    """
    kept = Credentials.read(state)
    if kept is not None:
        return kept.agent
    known = {entry.name for entry in await list_agents(pool)}
    if not known:
        secrets = await add_agent(pool, FIRST_AGENT, admin=True, sql_login=True)
    elif FIRST_AGENT in known and state.postgres_folder.exists():
        secrets = await rotate(pool, FIRST_AGENT)
    else:
        log.warning("credentials.json is missing", remedy=f"pgrecall agent rotate {FIRST_AGENT}")
        return FIRST_AGENT
    _keep(secrets, state)
    return secrets.agent


def _keep(secrets: Secrets, state: StateFolder) -> None:
    assert secrets.password is not None
    Credentials(secrets.agent, secrets.token, secrets.password).write(state)
