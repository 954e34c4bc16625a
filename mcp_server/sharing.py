"""The tools of group `sharing`: letting other agents see and change memories."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.callers import Caller, CurrentCaller
from mcp_server.model_tool import model_tool
from sql import sharing, spaces
from sql.records import Input, Name
from sql.sharing import (
    Delegated,
    Delegations,
    MemoryShare,
    MemoryShares,
    NewDelegation,
    NewShare,
)
from sql.spaces import Member, Members, NewMember, Spaces


class NewShareOf(NewShare):
    """A share to give, and of which memory."""

    id: UUID
    """The memory: the `id` that remember, recall or list_memories gave."""


class ShareOf(Input):
    """A share that stands."""

    id: UUID
    """The memory."""
    agent: Name
    """The agent that it is shared with."""


class SharesWanted(Input):
    """Which shares to list."""

    id: UUID | None = None
    """Only those of this memory."""


class DelegationId(Input):
    """A delegation that stands."""

    delegation: UUID
    """The `delegation` that delegate or list_delegations gave."""


class NewMemberOf(NewMember):
    """A membership to give, and of which space."""

    space: Name
    """The space."""


class MemberOf(Input):
    """A membership that stands."""

    space: Name
    """The space."""
    agent: Name
    """The member."""


class Nothing(Input):
    """No arguments."""


async def share(caller: Caller, new: NewShareOf) -> MemoryShare:
    """Let another agent see one memory, such as a note of your own that it needs.

    Only do so when you were asked to, or when it clearly is what your user wants: the other agent
    and whoever talks to it will read the memory in full. Give `permission` "write" only to let it
    change or forget the memory, and "share" only to let it pass the memory on. Sharing again with
    the same agent sets permission and time anew. To let it see much, use delegate or add_member.
    """
    given = NewShare(agent=new.agent, permission=new.permission, expires_at=new.expires_at)
    return await sharing.share(caller.pool, caller.agent, new.id, given)


async def unshare(caller: Caller, ended: ShareOf) -> MemoryShares:
    """Take back what share gave, or give up what was shared with you.

    It ends at once, and so do the shares that the other agent passed on. Returns the shares of the
    memory that are left.
    """
    await sharing.unshare(caller.pool, caller.agent, ended.id, ended.agent)
    left = await sharing.shares(caller.pool, caller.agent)
    return MemoryShares(shares=[one for one in left.shares if one.id == ended.id])


async def list_shares(caller: Caller, wanted: SharesWanted) -> MemoryShares:
    """List the single memories that you share, that others share with you, or that are yours."""
    return await sharing.shares(caller.pool, caller.agent, wanted.id)


async def delegate(caller: Caller, new: NewDelegation) -> Delegated:
    """Let another agent act on your memories, those of today and those to come.

    Only do so when you were asked to. Narrow it by `space`, `kinds` and `tags` to what is needed
    (a memory must carry all of the tags), and give it an end where one is known. With `depth` above
    0 the agent may pass it on that many times. What others delegated to you and let you pass on is
    included. Keep the `delegation` that is returned: revoke_delegation takes it.
    """
    return await sharing.delegate(caller.pool, caller.agent, new)


async def revoke_delegation(caller: Caller, ended: DelegationId) -> Delegations:
    """End a delegation at once, and all that was passed on by it; also one that you hold.

    Returns those that are left.
    """
    await sharing.revoke_delegation(caller.pool, caller.agent, ended.delegation)
    return await sharing.delegations(caller.pool, caller.agent)


async def list_delegations(caller: Caller, _: Nothing) -> Delegations:
    """List what you delegate, what others delegate to you, and who may act on your memories."""
    return await sharing.delegations(caller.pool, caller.agent)


async def list_spaces(caller: Caller, _: Nothing) -> Spaces:
    """List the spaces that you belong to, and what you may do in each (`role`)."""
    return await spaces.spaces(caller.pool, caller.agent)


async def add_member(caller: Caller, new: NewMemberOf) -> Member:
    """Let another agent into a space that you administer, or change what it may do there.

    It will see everything that is shared in the space, old and new. Only do so when you were asked
    to.
    """
    given = NewMember(agent=new.agent, role=new.role)
    return await spaces.add_member(caller.pool, caller.agent, new.space, given)


async def remove_member(caller: Caller, ended: MemberOf) -> Members:
    """Take an agent out of a space that you administer, or leave a space yourself.

    What it wrote there stays, and stays its own. Returns the members that you may still see.
    """
    await spaces.remove_member(caller.pool, caller.agent, ended.space, ended.agent)
    if ended.agent == caller.agent.name and not caller.agent.admin:
        return Members(members=[])
    return await spaces.members(caller.pool, caller.agent, ended.space)


def _gives(title: str) -> ToolAnnotations:
    return ToolAnnotations(
        title=title,
        read_only_hint=False,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )


def _ends(title: str) -> ToolAnnotations:
    return ToolAnnotations(
        title=title, read_only_hint=False, destructive_hint=True, open_world_hint=False
    )


def _reads(title: str) -> ToolAnnotations:
    return ToolAnnotations(title=title, read_only_hint=True, open_world_hint=False)


_DELEGATE: Final = ToolAnnotations(
    title="Delegate", read_only_hint=False, destructive_hint=False, open_world_hint=False
)


def sharing_tools(caller: CurrentCaller) -> list[Tool]:
    """Return the group's tools."""
    return [
        model_tool(caller, share, NewShareOf, MemoryShare, _gives("Share")),
        model_tool(caller, unshare, ShareOf, MemoryShares, _ends("Unshare")),
        model_tool(caller, list_shares, SharesWanted, MemoryShares, _reads("List shares")),
        model_tool(caller, delegate, NewDelegation, Delegated, _DELEGATE),
        model_tool(
            caller, revoke_delegation, DelegationId, Delegations, _ends("Revoke delegation")
        ),
        model_tool(caller, list_delegations, Nothing, Delegations, _reads("List delegations")),
        model_tool(caller, list_spaces, Nothing, Spaces, _reads("List spaces")),
        model_tool(caller, add_member, NewMemberOf, Member, _gives("Add member")),
        model_tool(caller, remove_member, MemberOf, Members, _ends("Remove member")),
    ]
