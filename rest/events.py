"""/v1/events and /v1/verify: the log of changes."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from rest.dependencies import CurrentAgent, UsedServices
from sql import events
from sql.events import EventPage, EventQuery, Verification, VerifyQuery

router: Final = APIRouter(prefix="/v1", tags=["log"])


@router.get("/events")
async def list_events(
    query: Annotated[EventQuery, Query()],
    agent: CurrentAgent,
    services: UsedServices,
    request: Request,
    response: Response,
) -> EventPage:
    """List events chain by chain: the agent's own, and as an admin of a space all of the space."""
    page = await events.list_events(services.pool, agent, query)
    if page.next_cursor is not None:
        kept = [pair for pair in request.query_params.multi_items() if pair[0] != "cursor"]
        following = urlencode([*kept, ("cursor", page.next_cursor)])
        response.headers["Link"] = f'<{router.prefix}/events?{following}>; rel="next"'
    return page


@router.get("/verify")
async def verify(
    query: Annotated[VerifyQuery, Query()], agent: CurrentAgent, services: UsedServices
) -> Verification:
    """Check that nobody rewrote the log; a chain that is not valid says where and how."""
    return await events.verify(services.pool, agent, query)
