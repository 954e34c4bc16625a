"""/v1/quarantine: what is held for review, for those who review."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from rest.dependencies import CurrentAgent, UsedServices
from sql.quarantine import HeldId, HeldPage, HeldQuery, Reviewed, list_held
from sql.quarantine import reject as reject_held
from sql.quarantine import release as release_held

router: Final = APIRouter(prefix="/v1/quarantine", tags=["quarantine"])

Version = Annotated[
    Annotated[int, Field(ge=1, le=2**31 - 1)] | None,
    Query(description="Left out: the oldest that is held of the memory."),
]


@router.get("")
async def list_quarantine(
    query: Annotated[HeldQuery, Query()],
    agent: CurrentAgent,
    services: UsedServices,
    request: Request,
    response: Response,
) -> HeldPage:
    """List what is held in the spaces that the agent administers, the oldest first."""
    page = await list_held(services.pool, agent, query)
    if page.next_cursor is not None:
        others = [
            (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
        ]
        following = urlencode([*others, ("cursor", page.next_cursor)])
        response.headers["Link"] = f'<{router.prefix}?{following}>; rel="next"'
    return page


@router.post("/{id}/release")
async def release(
    id: UUID,  # the contract's own name for it
    agent: CurrentAgent,
    services: UsedServices,
    version: Version = None,
) -> Reviewed:
    """Let a version be the memory's head, there for its readers from now on."""
    return await release_held(services.pool, agent, HeldId(id=id, version=version))


@router.post("/{id}/reject")
async def reject(
    id: UUID, agent: CurrentAgent, services: UsedServices, version: Version = None
) -> Reviewed:
    """Throw a version away; the memory that it would have changed stays as it is."""
    return await reject_held(services.pool, agent, HeldId(id=id, version=version))
