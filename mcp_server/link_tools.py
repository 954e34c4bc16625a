"""The tools that link memories with each other; their docstrings are for models."""

from __future__ import annotations

from uuid import UUID

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.model_tool import model_tool
from sql import links
from sql.links import Link, NewLink


class LinkOf(NewLink):
    """A link, and of which memory."""

    source: UUID
    """The memory it leads from: the `id` that remember, recall or list_memories gave."""


async def link(caller: Caller, new: LinkOf) -> Link:
    """Link a memory to another of its space, such as an outage to what it was `caused by`.

    Say in `relation` how the one is related to the other, in the same words each time. Use it when
    whoever finds one of the two should know of the other, though they share no words.
    """
    return await links.link(caller.pool, caller.agent, new.source, new)


async def unlink(caller: Caller, ended: LinkOf) -> Link:
    """Take away a link that is wrong or holds no more: the same three values as link was given.

    Both memories stay as they are. Returns the link that is gone.
    """
    await links.unlink(caller.pool, caller.agent, ended.source, ended)
    return Link(source=ended.source, target=ended.target, relation=ended.relation)


def link_tools(caller: CurrentCaller) -> list[Tool]:
    """Return the tools."""
    writes = {"read_only_hint": False, "open_world_hint": False}
    return [
        model_tool(
            *(caller, link, LinkOf, Link),
            ToolAnnotations(title="Link", destructive_hint=False, idempotent_hint=True, **writes),
        ),
        model_tool(
            *(caller, unlink, LinkOf, Link),
            ToolAnnotations(title="Unlink", destructive_hint=True, idempotent_hint=False, **writes),
        ),
    ]
