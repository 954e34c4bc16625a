"""Tools of the log of changes."""

from __future__ import annotations

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.model_tool import model_tool
from sql import events
from sql.events import Verification, VerifyQuery


async def verify(caller: Caller, query: VerifyQuery) -> Verification:
    """Check that nobody rewrote the log of changes, or a memory behind the log's back.

    Every change of a memory is an event in a chain of hashes, one chain per space and agent. Call
    this when you are asked whether the memories can be trusted, or after something that may have
    touched the database itself. It checks your own chains, every chain of the spaces that you
    administer, and everything if you administer the deployment.

    `valid` is the verdict on all of them; a chain that is not valid says by `first_bad` where it
    breaks and by `reason` how. A log that was cut off at its end shows only against an event's
    hash that was noted before: give it as `expected_head`.
    """
    return await events.verify(caller.pool, caller.agent, query)


def log_tools(caller: CurrentCaller) -> list[Tool]:
    """Return the tools."""
    hints = ToolAnnotations(title="Verify the log", read_only_hint=True, open_world_hint=False)
    return [model_tool(caller, verify, VerifyQuery, Verification, hints)]
