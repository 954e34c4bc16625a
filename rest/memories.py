"""/v1/memories: store, read, list."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field, StringConstraints

from rest.dependencies import CurrentAgent, UsedServices
from rest.preconditions import etag, unchanged
from rest.schemas import NewMemories, RememberedMemories
from sql.idempotency import remember_once
from sql.listing import ListQuery, MemoryPage, list_memories
from sql.records import Memory, NewMemory, Remembered

router: Final = APIRouter(prefix="/v1/memories", tags=["memories"])

IdempotencyKey: TypeAlias = Annotated[
    Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]+$"), Field(max_length=255)] | None,
    Header(description="The same key with the same body, within a day, takes effect once."),
]


@router.post("", status_code=201)
async def remember(
    memory: NewMemory,
    agent: CurrentAgent,
    services: UsedServices,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Remembered:
    """Remember one memory, or refine the one that its key names."""
    if idempotency_key is None:
        remembered = await services.store.remember(agent, memory)
    else:
        remembered = (await remember_once(services.pool, agent, idempotency_key, [memory]))[0]
    response.headers["Location"] = f"{router.prefix}/{remembered.id}"
    response.headers["ETag"] = etag(remembered)
    return remembered


@router.post("/batch", status_code=201)
async def remember_batch(
    batch: NewMemories,
    agent: CurrentAgent,
    services: UsedServices,
    idempotency_key: IdempotencyKey = None,
) -> RememberedMemories:
    """Remember up to 1,000 memories in one transaction."""
    if idempotency_key is None:
        remembered = await services.store.remember_many(agent, batch.memories)
    else:
        remembered = await remember_once(services.pool, agent, idempotency_key, batch.memories)
    return RememberedMemories(memories=remembered)


@router.get("")
async def list_newest_first(
    query: Annotated[ListQuery, Query()],
    agent: CurrentAgent,
    services: UsedServices,
    request: Request,
    response: Response,
) -> MemoryPage:
    """List the memories that the agent may see, newest first."""
    page = await list_memories(services.pool, agent, query)
    if page.next_cursor is not None:
        kept = [(name, value) for name, value in request.query_params.multi_items()]
        others = [(name, value) for name, value in kept if name != "cursor"]
        following = urlencode([*others, ("cursor", page.next_cursor)])
        response.headers["Link"] = f'<{router.prefix}?{following}>; rel="next"'
    return page


@router.get("/{id}", response_model=Memory, responses={304: {"description": "Not modified since"}})
async def get_memory(
    id: UUID,  # the contract's own name for it
    agent: CurrentAgent,
    services: UsedServices,
    response: Response,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Memory | Response:
    """Return the newest version of a memory."""
    memory = await services.store.get(agent, id)
    tag = etag(memory)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if if_none_match is not None and unchanged(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return memory
