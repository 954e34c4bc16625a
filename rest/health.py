"""Whether the process lives, whether it can serve, and what it counted."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from rest.dependencies import UsedServices
from rest.schemas import Health, Ready
from sql.readiness import readiness

router: Final = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the process answers, without asking the database."""
    return Health()


@router.get("/readyz", responses={503: {"model": Ready, "description": "Not ready"}})
async def readyz(services: UsedServices, response: Response) -> Ready:
    """Say whether the database answers and is of this version."""
    now = await readiness(services.pool)
    if not (now.database and now.migrated):
        response.status_code = 503
    return Ready(
        database="ok" if now.database else "unreachable",
        migrations="ok" if now.migrated else "pending" if now.database else "unknown",
        embedder=services.embedder,
        embedding_backlog=now.embedding_backlog,
    )


@router.get("/metrics", response_class=Response)
async def metrics(services: UsedServices) -> Response:
    """Return the counts in Prometheus's text format."""
    body = services.metrics.exposition(await readiness(services.pool))
    return Response(body, media_type=CONTENT_TYPE_LATEST)
