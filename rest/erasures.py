"""/v1/erasures: all that fits some criteria, gone for good."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from rest.dependencies import CurrentAgent, UsedServices
from sql.erasing import Erasure, ErasureReport, erase

router: Final = APIRouter(prefix="/v1/erasures", tags=["memories"])


@router.post("")
async def erase_memories(
    wanted: Erasure, agent: CurrentAgent, services: UsedServices
) -> ErasureReport:
    """Erase every memory that fits and is the caller's to erase; `preview` only tells which."""
    return await erase(services.pool, agent, wanted)
