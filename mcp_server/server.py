"""Puts the MCP server together from what it is handed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from mcp.server.mcpserver import MCPServer

from mcp_server.callers import CurrentCaller, ResolveCaller
from mcp_server.prompts import add_prompts
from mcp_server.resources import add_resources
from mcp_server.tools import GROUPS, tools_of

_INSTRUCTIONS: Final = """\
A lasting memory, shared with the other agents of this deployment. Recall before you ask the user or
begin a task: the answer may be known. Remember decisions, preferences, facts and how things were
done, one fact per memory, so that another agent understands it without this conversation. Memories
stand in spaces, one per project; what you store without a space is private to you."""
_NO_TOOLS: Final = """\
This memory offers no tools: none of the groups {asked} exists here. There are: {known}."""


def create_server(
    caller: ResolveCaller, *, version: str, groups: Collection[str] = ("core",)
) -> MCPServer[Any]:
    """Return the server with the tools of the groups; names of unknown groups are passed over.

    `caller` finds the agent of each request: `request_caller(store, pool)` over HTTP. Over stdio
    `run_stdio` makes the server itself.
    """
    current = CurrentCaller(caller)
    tools = tools_of(current, groups)
    instructions = (
        _INSTRUCTIONS
        if tools
        else _NO_TOOLS.format(asked=", ".join(groups), known=", ".join(GROUPS))
    )
    server: MCPServer[Any] = MCPServer(
        "pgrecall",
        title="pgrecall memory",
        instructions=instructions,
        version=version,
        tools=tools,
        log_level="WARNING",
        # Nothing changes while the server runs, so that there is nothing to listen for.
        subscriptions=False,
        middleware=[current.middleware],
    )
    add_resources(server, current)
    add_prompts(server, current)
    return server
