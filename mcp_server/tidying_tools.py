"""The tools that keep memories in order; their docstrings are for models."""

from __future__ import annotations

from typing import Final

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.model_tool import model_tool
from sql import tidying
from sql.records import Input, Memory, Name
from sql.tidying import (
    ClusterQuery,
    Clusters,
    Consolidation,
    HealthReport,
    Resolution,
    Settlement,
)

_WRITES: Final = {"read_only_hint": False, "destructive_hint": False, "open_world_hint": False}
_READS: Final = {"read_only_hint": True, "open_world_hint": False}


class HealthQuery(Input):
    """Which memories to look at."""

    space: Name | None = None
    """Only this space; left out, every space that the agent may see."""


async def resolve(caller: Caller, wanted: Settlement) -> Resolution:
    """Settle memories that repeat or contradict each other, as remember told in `contradicts`.

    `newest` keeps what began to hold last, `evidence` what has the better source, confidence and
    use, `merge` puts your `content` in the place of all. `both` says that you looked and that both
    are right, so that it is not told again. What is not kept is archived and can be restored.
    """
    return await tidying.resolve(caller.pool, caller.agent, wanted)


async def clusters(caller: Caller, query: ClusterQuery) -> Clusters:
    """Find groups of minor memories of a space that could become one, for consolidate.

    Read their `contents`: what has words in common need not belong together.
    """
    return await tidying.clusters(caller.pool, caller.agent, query)


async def consolidate(caller: Caller, wanted: Consolidation) -> Memory:
    """Put one memory, in your words, in the place of several that belong together.

    Keep every fact, name, number and date that still matters: the old ones are archived and no
    longer recalled, but can be restored.
    """
    return await tidying.consolidate(caller.pool, caller.agent, wanted)


async def health(caller: Caller, query: HealthQuery) -> HealthReport:
    """Report what could be tidied: stale, expired, repeated, contradictory or doubtful memories.

    Each concern comes with some ids and with what to do about it.
    """
    return await tidying.health(caller.pool, caller.agent, query.space)


def tidying_tools(caller: CurrentCaller) -> list[Tool]:
    """Return the tools."""
    return [
        model_tool(
            *(caller, resolve, Settlement, Resolution),
            ToolAnnotations(title="Resolve", idempotent_hint=False, **_WRITES),
        ),
        model_tool(
            *(caller, clusters, ClusterQuery, Clusters), ToolAnnotations(title="Clusters", **_READS)
        ),
        model_tool(
            *(caller, consolidate, Consolidation, Memory),
            ToolAnnotations(title="Consolidate", idempotent_hint=False, **_WRITES),
        ),
        model_tool(
            *(caller, health, HealthQuery, HealthReport),
            ToolAnnotations(title="Health", **_READS),
        ),
    ]
