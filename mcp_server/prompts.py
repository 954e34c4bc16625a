"""Prompts that a user picks: what is remembered, laid before the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import Field, ValidationError

from mcp_server.callers import CurrentCaller
from mcp_server.errors import explained, wrong_arguments
from sql.errors import StoreError
from sql.listing import ListQuery, list_memories
from sql.records import Memory, Recalled, RecallQuery


def add_prompts(server: MCPServer[Any], caller: CurrentCaller) -> None:
    """Register the prompts."""

    @server.prompt(title="Recall")
    async def recall(
        query: Annotated[str, Field(description="What to look for, in plain words")],
    ) -> str:
        """Lay what is remembered about something before the model."""
        try:
            who = await caller()
            answer = await who.store.recall(who.agent, RecallQuery(query=query))
        except (StoreError, ValidationError) as error:
            raise _refusal(error) from error
        caveat = f"\n(The search was degraded: {answer.degraded}.)" if answer.degraded else ""
        return f'What is remembered about "{query}":\n\n{_listed(answer.results)}{caveat}'

    @server.prompt(title="Context")
    async def context(
        space: Annotated[
            str | None, Field(description="Only this space; left out, all that you may see")
        ] = None,
    ) -> str:
        """Lay the newest memories before the model, to go on where work stopped."""
        try:
            who = await caller()
            page = await list_memories(who.pool, who.agent, ListQuery(space=space, limit=30))
        except (StoreError, ValidationError) as error:
            raise _refusal(error) from error
        where = f" in {space}" if space else ""
        return f"The newest memories{where}, newest first:\n\n{_listed(page.memories)}"


def _refusal(error: StoreError | ValidationError) -> MCPError:
    if isinstance(error, StoreError):
        return MCPError(INTERNAL_ERROR, explained(error))
    return MCPError(INVALID_PARAMS, wrong_arguments(error, ()))


def _listed(memories: Iterable[Memory | Recalled]) -> str:
    lines = [
        f"- {memory.content} [{memory.space}, {memory.kind}, "
        f"{(memory.event_at or memory.created_at):%Y-%m-%d}, id {memory.id}]"
        for memory in memories
    ]
    return "\n".join(lines) or "(nothing)"
