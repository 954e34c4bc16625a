"""Other names of entities: a query that uses one finds what is remembered under any."""

from __future__ import annotations

from typing import Final

from sql.acting import acting, read
from sql.agents import Agent
from sql.loader import queries
from sql.pool import Pool
from sql.records import Alias

_QUERIES: Final = queries("entities")


async def add_alias(
    pool: Pool, agent: Agent, entity: str, alias: str, space: str | None = None
) -> Alias:
    """Give an entity another name in a space, the agent's own by default.

    Raises InvalidInput for a blank or overlong name, Forbidden where the agent may not write.
    """
    async with acting(pool, agent) as connection:
        await connection.execute(_QUERIES["alias"], entity, alias, space)
        row = await connection.fetchrow(_QUERIES["alias_named"], space or f"~{agent.name}", alias)
    assert row is not None
    return Alias(**row)


async def remove_alias(pool: Pool, agent: Agent, alias: str, space: str | None = None) -> None:
    """Take an alias away; raises NotFound when the space has none of that name."""
    async with acting(pool, agent) as connection:
        await connection.execute(_QUERIES["unalias"], alias, space)


async def aliases(pool: Pool, agent: Agent) -> list[Alias]:
    """Return the aliases of every space that the agent belongs to."""
    return [Alias(**row) for row in await read(pool, agent, _QUERIES["aliases"])]
