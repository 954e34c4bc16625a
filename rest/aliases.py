"""/v1/aliases: other names of entities."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from rest.dependencies import CurrentAgent, UsedServices
from rest.schemas import Aliases
from sql.entities import add_alias, aliases, remove_alias
from sql.records import Alias, Name, NewAlias

router: Final = APIRouter(prefix="/v1/aliases", tags=["aliases"])


@router.post("", status_code=201)
async def give_alias(new: NewAlias, agent: CurrentAgent, services: UsedServices) -> Alias:
    """Give an entity another name in a space; said again, it does no harm."""
    return await add_alias(services.pool, agent, new.entity, new.alias, new.space)


@router.get("")
async def list_aliases(agent: CurrentAgent, services: UsedServices) -> Aliases:
    """List the aliases of every space that the agent belongs to."""
    return Aliases(aliases=await aliases(services.pool, agent))


@router.delete("/{alias}", status_code=204)
async def take_alias(
    alias: Name,
    agent: CurrentAgent,
    services: UsedServices,
    space: Annotated[Name | None, Query(description="Left out: the agent's own space.")] = None,
) -> None:
    """Take an alias away; what was remembered under it stays."""
    await remove_alias(services.pool, agent, alias, space)
