"""/v1/recall: the memories that answer a text."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from rest.dependencies import CurrentAgent, UsedServices
from sql.records import RecallAnswer, RecallQuery

router: Final = APIRouter(prefix="/v1/recall", tags=["recall"])


@router.post("")
async def recall(query: RecallQuery, agent: CurrentAgent, services: UsedServices) -> RecallAnswer:
    """Return the memories that answer a text, best first; `degraded` says what did not serve."""
    answer = await services.store.recall(agent, query)
    services.metrics.recalled(answer)
    return answer
