"""/v1/memories/{id}/shares and /v1/delegations: letting others see and change memories."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from fastapi import APIRouter

from rest.dependencies import CurrentAgent, UsedServices
from sql import sharing
from sql.records import Name
from sql.sharing import (
    Delegated,
    Delegations,
    MemoryShare,
    MemoryShares,
    NewDelegation,
    NewShare,
)

shares: Final = APIRouter(prefix="/v1/memories/{id}/shares", tags=["sharing"])
delegations: Final = APIRouter(prefix="/v1/delegations", tags=["sharing"])


@shares.post("", status_code=201)
async def share(
    id: UUID, new: NewShare, agent: CurrentAgent, services: UsedServices
) -> MemoryShare:
    """Share a memory with another agent; said again, it sets the permission and the time anew."""
    return await sharing.share(services.pool, agent, id, new)


@shares.get("")
async def list_shares(id: UUID, agent: CurrentAgent, services: UsedServices) -> MemoryShares:
    """List who a memory is shared with, as far as this agent may know."""
    return await sharing.shares(services.pool, agent, id)


@shares.delete("/{sharee}", status_code=204)
async def unshare(id: UUID, sharee: Name, agent: CurrentAgent, services: UsedServices) -> None:
    """End an agent's share of a memory, and the shares that it passed on."""
    await sharing.unshare(services.pool, agent, id, sharee)


@delegations.post("", status_code=201)
async def delegate(new: NewDelegation, agent: CurrentAgent, services: UsedServices) -> Delegated:
    """Let another agent act on this agent's memories, and on what it may pass on."""
    return await sharing.delegate(services.pool, agent, new)


@delegations.get("")
async def list_delegations(agent: CurrentAgent, services: UsedServices) -> Delegations:
    """List the delegations by this agent, to it, and of its memories."""
    return await sharing.delegations(services.pool, agent)


@delegations.delete("/{delegation}", status_code=204)
async def revoke_delegation(delegation: UUID, agent: CurrentAgent, services: UsedServices) -> None:
    """End a delegation, and all that was passed on by it."""
    await sharing.revoke_delegation(services.pool, agent, delegation)
