"""The tools that change a memory, or tell how it came to be; their docstrings are for models."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.model_tool import model_tool
from sql import forgetting, revisions
from sql.forgetting import Forget, Forgotten
from sql.records import Input
from sql.revisions import Revision, Versions


class Revise(Revision):
    """What the tool takes; null means not named, for models send it for whatever they leave out."""

    id: UUID
    """The `id` that remember, recall or list_memories gave."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The `version` that you read: refuse if somebody has changed the memory since."""


class Past(Input):
    """Whose history is asked for."""

    id: UUID
    """The `id` that remember, recall or list_memories gave."""


async def revise(caller: Caller, wanted: Revise) -> revisions.Revised:
    """Correct or update a memory by its `id`: name what changes, all else stays as it was.

    Use it when a fact has changed or was stored wrongly, instead of storing a second memory beside
    the first. The old version stays in the history. When the fact itself changed at a known time,
    give that as `valid_from`; without it the new version is a correction. To empty a field, name it
    in `clear`. Returns the memory as it is now, with its new `version`; with `quarantined` where
    the new version waits for somebody's review and the old one still stands.
    """
    expected = None if wanted.expected_version is None else (wanted.expected_version,)
    return await revisions.revise(caller.pool, caller.agent, wanted.id, wanted, expected=expected)


async def forget(caller: Caller, wanted: Forget) -> Forgotten:
    """Forget a memory by its `id`: one that is wrong, outdated, or that the user wants gone.

    `archive`, the default, takes it out of recall and can be undone. `delete` hides it from
    everybody; only the space's admins see its history, for a while. `erase` destroys it with all of
    its versions and can't be undone: do so only when the user asks for it, in such words.
    When a fact has merely changed, call revise instead.
    """
    return await forgetting.forget(caller.pool, caller.agent, wanted)


async def history(caller: Caller, wanted: Past) -> Versions:
    """Read every version of a memory, oldest first: what it said before, who changed it and when.

    Call it when an answer seems to contradict what was known, or when the user asks since when
    something is so.
    """
    return await revisions.history(caller.pool, caller.agent, wanted.id)


def life_tools(caller: CurrentCaller) -> list[Tool]:
    """Return the tools."""
    writes = {"read_only_hint": False, "open_world_hint": False}
    return [
        model_tool(
            *(caller, revise, Revise, revisions.Revised),
            ToolAnnotations(
                title="Revise", destructive_hint=False, idempotent_hint=False, **writes
            ),
        ),
        model_tool(
            *(caller, forget, Forget, Forgotten),
            ToolAnnotations(title="Forget", destructive_hint=True, idempotent_hint=True, **writes),
        ),
        model_tool(
            *(caller, history, Past, Versions),
            ToolAnnotations(title="History", read_only_hint=True, open_world_hint=False),
        ),
    ]
