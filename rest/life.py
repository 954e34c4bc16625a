"""/v1/memories/{id}: what becomes of a memory: revised, forgotten, linked, and its history."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_args
from uuid import UUID

from fastapi import APIRouter, Header, HTTPException, Query, Response
from pydantic import model_validator

from rest.dependencies import CurrentAgent, UsedServices
from rest.preconditions import etag, expected_versions
from sql.forgetting import Forget, Forgotten, forget
from sql.links import Link, NewLink, link, unlink
from sql.records import ForgetHow
from sql.revisions import Clearable, Revised, Revision, Versions, history, revise

router: Final = APIRouter(prefix="/v1/memories/{id}", tags=["memories"])

_CLEARABLE: Final = frozenset(get_args(Clearable))
_STALE: Final[dict[int | str, dict[str, Any]]] = {
    412: {"description": "The memory is at another version than If-Match names"}
}


class MemoryPatch(Revision):
    """What changes: JSON merge-patch (RFC 7396), in which null empties a field."""

    archived: bool | None = None
    """false brings an archived memory back, true puts it away."""

    @model_validator(mode="after")
    def _take_nulls(self) -> MemoryPatch:
        empty = {name for name in self.model_fields_set if getattr(self, name) is None}
        if kept := sorted(empty - _CLEARABLE):
            raise ValueError(f"{kept[0]} can't be null")
        clear = {*self.clear, *empty}
        self.clear = [name for name in get_args(Clearable) if name in clear]
        return self


@router.patch(
    "",
    responses=_STALE | {428: {"description": "If-Match must say which version is changed"}},
)
async def revise_memory(
    id: UUID,  # the contract's own name for it
    patch: MemoryPatch,
    agent: CurrentAgent,
    services: UsedServices,
    response: Response,
    if_match: Annotated[
        str | None, Header(description="The ETag of the version that is changed; * for any.")
    ] = None,
) -> Revised:
    """Write a new version of a memory; what the body does not name stays as it was."""
    if if_match is None:
        raise HTTPException(428)
    memory = await revise(
        *(services.pool, agent, id, patch),
        expected=expected_versions(if_match),
        archived=patch.archived,
    )
    response.headers["ETag"] = etag(memory)
    return memory


@router.delete("", responses=_STALE)
async def forget_memory(
    id: UUID,
    agent: CurrentAgent,
    services: UsedServices,
    how: Annotated[
        ForgetHow, Query(description="archive can be undone; delete keeps a trace; erase does not.")
    ] = "archive",
    if_match: Annotated[str | None, Header(description="Only this version.")] = None,
) -> Forgotten:
    """Forget a memory."""
    expected = None if if_match is None else expected_versions(if_match)
    return await forget(services.pool, agent, Forget(id=id, how=how), expected=expected)


@router.get("/history")
async def list_versions(id: UUID, agent: CurrentAgent, services: UsedServices) -> Versions:
    """List every version of a memory that the agent may see, oldest first."""
    return await history(services.pool, agent, id)


@router.post("/links", status_code=201)
async def link_memory(id: UUID, new: NewLink, agent: CurrentAgent, services: UsedServices) -> Link:
    """Link a memory to another of its space; said again, it does no harm."""
    return await link(services.pool, agent, id, new)


@router.delete("/links", status_code=204)
async def unlink_memory(
    id: UUID, ended: Annotated[NewLink, Query()], agent: CurrentAgent, services: UsedServices
) -> None:
    """Take a link away; both memories stay."""
    await unlink(services.pool, agent, id, ended)
