"""What a client may attach without a tool call: memories by address, and counts."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity
from pydantic import ValidationError

from mcp_server.callers import CurrentCaller
from mcp_server.errors import as_resource_error
from sql.listing import ListQuery, list_memories, memory_stats

_JSON: Final = "application/json"
# Names of spaces and entities are no paths: `a/../b` may be one.
_NAMES: Final = ResourceSecurity(exempt_params={"space", "name"})


def add_resources(server: MCPServer[Any], caller: CurrentCaller) -> None:
    """Register the memory:// resources."""

    async def newest(**filters: Any) -> str:
        who = await caller()
        try:
            query = ListQuery(**filters)
        except ValidationError as error:
            raise ResourceNotFoundError("no memory can have such a name") from error
        with as_resource_error():
            page = await list_memories(who.pool, who.agent, query)
        return page.model_dump_json(include={"memories"}, exclude_none=True)

    @server.resource("memory://recent", title="Recent memories", mime_type=_JSON)
    async def recent() -> str:
        """Give the twenty newest memories that this agent may see."""
        return await newest(limit=20)

    @server.resource("memory://stats", title="What is remembered", mime_type=_JSON)
    async def stats() -> str:
        """Count the memories that this agent may see, by space and kind."""
        who = await caller()
        with as_resource_error():
            return (await memory_stats(who.pool, who.agent)).model_dump_json()

    @server.resource("memory://memory/{id}", title="A memory", mime_type=_JSON)
    async def memory(id: str) -> str:
        """Give one memory in its newest version."""
        who = await caller()
        try:
            wanted = UUID(id)
        except ValueError as error:
            raise ResourceNotFoundError(f"no memory {id!r}: ids are UUIDs") from error
        with as_resource_error():
            return (await who.store.get(who.agent, wanted)).model_dump_json(exclude_none=True)

    @server.resource(
        "memory://space/{space}", title="A space's memories", mime_type=_JSON, security=_NAMES
    )
    async def in_space(space: str) -> str:
        """Give the newest memories of a space."""
        return await newest(space=space)

    @server.resource(
        "memory://entity/{name}", title="Memories about an entity", mime_type=_JSON, security=_NAMES
    )
    async def about_entity(name: str) -> str:
        """Give the newest memories about a person, system or thing."""
        return await newest(entity=name)
