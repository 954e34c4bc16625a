"""/v1/resolutions, /v1/clusters, /v1/consolidations, /v1/health-report: keeping things in order."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from rest.dependencies import CurrentAgent, UsedServices
from sql import tidying
from sql.records import Memory, Name
from sql.tidying import (
    ClusterQuery,
    Clusters,
    Consolidation,
    HealthReport,
    Resolution,
    Settlement,
)

router: Final = APIRouter(prefix="/v1", tags=["memories"])


@router.post("/resolutions")
async def resolve(wanted: Settlement, agent: CurrentAgent, services: UsedServices) -> Resolution:
    """Settle between memories that repeat or contradict each other."""
    return await tidying.resolve(services.pool, agent, wanted)


@router.get("/clusters")
async def list_clusters(
    query: Annotated[ClusterQuery, Query()], agent: CurrentAgent, services: UsedServices
) -> Clusters:
    """List groups of unimportant memories that could be consolidated."""
    return await tidying.clusters(services.pool, agent, query)


@router.post("/consolidations", status_code=201)
async def consolidate(wanted: Consolidation, agent: CurrentAgent, services: UsedServices) -> Memory:
    """Put one memory in the place of several, which are archived."""
    return await tidying.consolidate(services.pool, agent, wanted)


@router.get("/health-report")
async def report_health(
    agent: CurrentAgent, services: UsedServices, space: Annotated[Name | None, Query()] = None
) -> HealthReport:
    """Report what could be tidied among the memories that the agent sees."""
    return await tidying.health(services.pool, agent, space)
