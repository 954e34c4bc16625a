"""/v1/spaces: the spaces that an agent belongs to, and their members."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from rest.dependencies import CurrentAgent, UsedServices
from sql import spaces as store
from sql.records import Name
from sql.spaces import Member, Members, NewMember, NewSpace, Space, Spaces

router: Final = APIRouter(prefix="/v1/spaces", tags=["spaces"])
# A space's name may hold a slash.
_MEMBERS: Final = "/{space:path}/members"


@router.get("")
async def list_spaces(agent: CurrentAgent, services: UsedServices) -> Spaces:
    """List the spaces that this agent belongs to; all, for who runs the deployment."""
    return await store.spaces(services.pool, agent)


@router.post("", status_code=201)
async def create_space(new: NewSpace, agent: CurrentAgent, services: UsedServices) -> Space:
    """Make a space, which this agent then administers."""
    return await store.create_space(services.pool, agent, new.space)


@router.get(_MEMBERS)
async def list_members(space: Name, agent: CurrentAgent, services: UsedServices) -> Members:
    """List the members of a space."""
    return await store.members(services.pool, agent, space)


@router.post(_MEMBERS, status_code=201)
async def add_member(
    space: Name, new: NewMember, agent: CurrentAgent, services: UsedServices
) -> Member:
    """Make an agent a member of a space, or give a member another role."""
    return await store.add_member(services.pool, agent, space, new)


@router.delete(_MEMBERS + "/{member}", status_code=204)
async def remove_member(
    space: Name, member: Name, agent: CurrentAgent, services: UsedServices
) -> None:
    """End a membership, another's or this agent's own; what the member wrote stays its own."""
    await store.remove_member(services.pool, agent, space, member)
