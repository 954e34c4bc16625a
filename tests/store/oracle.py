"""What agents do to who may see and change what: the rules of docs/sharing.md, in Python.

A method answers the SQLSTATE of its refusal, or None when it goes through, and then has changed the
state.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.store.holdings import (
    FORBIDDEN,
    FOREVER,
    RANKS,
    TAKEN,
    UNKNOWN,
    WIDTHS,
    WRONG,
    Holdings,
    Memory,
    Row,
    Share,
)


class Oracle(Holdings):
    # --- memories

    def enter(self, agent: str, space: str) -> None:
        self.members.setdefault(space, {agent: "admin"})

    def keyed(self, agent: str, space: str, key: str, private: bool) -> Memory | None:
        """The memory that the key refines; one that has expired makes room."""
        for memory in self.memories.values():
            same = (memory.space, memory.key, memory.private) == (space, key, private)
            if same and not memory.archived and (not private or memory.owner == agent):
                if self.live(memory.ends):
                    return memory
                memory.archived = True
        return None

    def write(self, agent: str, memory: Memory) -> None:
        """Work out who reads which version, and which delegations take them, after a new one."""
        # What was made private was said in the versions before; who comes later sees none of it.
        narrowest = [min(older, memory.visibility, key=WIDTHS.index) for older in memory.versions]
        memory.versions = narrowest
        fitting = self._fitting(memory)
        kept = fitting if agent == memory.owner else fitting & memory.taken
        lost, memory.taken = memory.taken - kept, kept
        self._end_shares(memory, lambda share: share.row in lost)

    def _fitting(self, memory: Memory) -> set[int]:
        return {
            row.number
            for row in self.rows.values()
            if row.owner == memory.owner
            and not row.whole
            and self.live(row.ends)
            and row.fits(memory)
        }

    def forget(self, agent: str, memory: Memory, how: str) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        able = self.erases(agent, memory) if how == "erase" else self.changes(agent, memory)
        if not self.reads(agent, memory) and not (how == "erase" and able):
            return UNKNOWN
        if not able:
            return FORBIDDEN
        memory.archived = True
        if how != "archive":
            self.links = {link for link in self.links if memory.id not in link}
            memory.shares.clear()
            memory.taken.clear()
            memory.deleted = True
        if how == "erase":
            del self.memories[memory.id]
        return None

    def revise(self, agent: str, memory: Memory, visibility: str, key: str | None) -> str | None:
        """Whether these may be the visibility and the key of a new version; the rest is free."""
        if self.agents[agent].reader:
            return FORBIDDEN
        if not self.reads(agent, memory):
            return UNKNOWN
        if not self.changes(agent, memory):
            return FORBIDDEN
        if not self.answers(memory):
            return WRONG
        seen_or_named = (visibility, key) != (memory.visibility, memory.key)
        if seen_or_named and not self.shows(agent, memory):
            return FORBIDDEN
        if visibility == "private" and not memory.private and agent != memory.owner:
            return FORBIDDEN
        return TAKEN if self._taken(memory, visibility, key) else None

    def _taken(self, memory: Memory, visibility: str, key: str | None) -> bool:
        """Whether another memory stands with the key; of private ones, the owner's."""
        private = visibility == "private"
        return key is not None and any(
            (other.space, other.key, other.private) == (memory.space, key, private)
            and (not private or other.owner == memory.owner)
            and not other.archived
            and other is not memory
            for other in self.memories.values()
        )

    def restore(self, agent: str, memory: Memory) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        if not self.reads(agent, memory):
            return UNKNOWN
        if not self.changes(agent, memory):
            return FORBIDDEN
        if memory.archived:
            if memory.private and agent != memory.owner:
                return FORBIDDEN
            if self._taken(memory, memory.visibility, memory.key):
                return TAKEN
        if memory.deleted:
            memory.deleted = False
            memory.taken = self._fitting(memory)
        memory.archived = False
        if not self.live(memory.ends):
            memory.ends = FOREVER
            memory.said |= self.shows(agent, memory)
            memory.versions.append(memory.visibility)
            self.write(agent, memory)
        return None

    def link(self, agent: str, source: Memory, target: Memory) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        if source is target:
            return WRONG
        if not self.reads(agent, source):
            return UNKNOWN
        if not self.changes(agent, source):
            return FORBIDDEN
        if not self.reads(agent, target):
            return UNKNOWN
        if source.space != target.space:
            return WRONG
        self.links.add((source.id, target.id))
        return None

    # --- shares

    def share(
        self, agent: str, memory: Memory, to: str, permission: str, ends: float
    ) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        if to == agent:
            return WRONG
        if memory.deleted or not self.reads(agent, memory):
            return UNKNOWN
        if to == memory.owner:
            return WRONG
        if to in memory.shares and not self.live(memory.shares[to].ends):
            self._end_shares(memory, lambda share: share is memory.shares[to])
        standing = memory.shares.get(to)
        rights = self._rights(agent, memory)
        if standing is not None and not self.from_above(agent, memory):
            by = (standing.through, standing.row)
            rights = [right for right in rights if right[:2] == by and standing.granted_by == agent]
        if not rights:
            return FORBIDDEN
        # From above before all else; then what lasts longest, an own share before a delegation.
        rights.sort(key=lambda right: (right[:2] != (None, None), -right[2], right[1] or 0))
        through, row, until = rights[0]
        memory.shares[to] = Share(permission, agent, through, row, min(ends, until))
        self._bound_below(memory, to)
        return None

    def _bound_below(self, memory: Memory, above: str) -> None:
        share = memory.shares[above]
        for agent, below in list(memory.shares.items()):
            if below.through == above and agent in memory.shares:
                if share.permission != "share":
                    self._end_shares(memory, lambda ended, ends=below: ended is ends)
                else:
                    below.ends = min(below.ends, share.ends)
                    self._bound_below(memory, agent)

    def unshare(self, agent: str, memory: Memory, to: str) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        share = self.share_of(to, memory)
        if share is None or not (
            agent in (to, share.granted_by, memory.owner) or self.from_above(agent, memory)
        ):
            return UNKNOWN
        self._end_shares(memory, lambda ended: ended is share)
        return None

    def _end_shares(self, memory: Memory, which: Callable[[Share], bool]) -> None:
        ended = [agent for agent, share in memory.shares.items() if which(share)]
        for agent in ended:
            memory.shares.pop(agent, None)
        for agent in ended:
            self._end_shares(memory, lambda share, above=agent: share.through == above)

    # --- delegations

    def delegate(self, agent: str, delegation: str, wanted: Row) -> str | None:
        """Make the rows of a delegation; `wanted` is what was asked for."""
        if self.agents[agent].reader:
            return FORBIDDEN
        if wanted.agent == agent:
            return WRONG
        held = [row for row in self.rows.values() if row.agent == agent]
        below = [self._below(row, wanted) for row in held]
        rows = [wanted, *(row for row in below if row is not None)]
        enough = wanted.space is None or self.role(agent, wanted.space) is not None
        if not enough and all(row.permission != wanted.permission for row in rows[1:]):
            return FORBIDDEN
        for row in rows:
            row.number, row.delegation = next(self._numbers), delegation
            self.rows[row.number] = row
            for memory in self.memories.values():
                if self._takes(row, memory):
                    memory.taken.add(row.number)
        return None

    def _takes(self, row: Row, memory: Memory) -> bool:
        """Whether a new row takes a memory: below another, only what this one takes."""
        if row.whole or memory.deleted or memory.owner != row.owner:
            return False
        above = None if row.parent is None else self.rows[row.parent]
        within = above is None or above.whole or above.number in memory.taken
        return within and row.fits(memory)

    def _below(self, held: Row, wanted: Row) -> Row | None:
        """The row that passes a held one on, if it may be and meets the scope."""
        if held.owner == wanted.agent or held.depth == 0 or not self.live(held.ends):
            return None
        if None not in (held.space, wanted.space) and held.space != wanted.space:
            return None
        kinds = held.kinds if wanted.kinds is None else wanted.kinds
        if held.kinds is not None and wanted.kinds is not None:
            kinds = held.kinds & wanted.kinds
            if not kinds:
                return None
        return Row(
            *(0, "", held.number, held.owner, wanted.granted_by, wanted.agent),
            min(held.permission, wanted.permission, key=RANKS.index),
            wanted.space or held.space,
            kinds,
            held.tags | wanted.tags,
            min(held.ends, wanted.ends),
            min(wanted.depth, held.depth - 1),
        )

    def revoke(self, agent: str, delegation: str) -> str | None:
        if self.agents[agent].reader:
            return FORBIDDEN
        ended = [
            row.number
            for row in self.rows.values()
            if row.delegation == delegation
            and agent in (row.granted_by, row.agent, row.owner)
            and self.live(row.ends)
        ]
        self._end_rows(ended)
        return None if ended else UNKNOWN

    def _end_rows(self, numbers: list[int]) -> None:
        for number in numbers:
            if self.rows.pop(number, None) is not None:
                for memory in self.memories.values():
                    self._end_shares(memory, lambda share, ended=number: share.row == ended)
                self._end_rows([row.number for row in self.rows.values() if row.parent == number])

    # --- members and agents

    def add_member(self, agent: str, space: str, who: str, role: str) -> str | None:
        if (refused := self._administers(agent, space)) is not None:
            return refused
        if self.agents[who].reader and role != "reader":
            return WRONG
        if role != "admin" and (refused := self._admin_left(agent, space, who)) is not None:
            return refused
        self.members[space][who] = role
        return None

    def remove_member(self, agent: str, space: str, who: str) -> str | None:
        if who != agent and (refused := self._administers(agent, space)) is not None:
            return refused
        if self.role(who, space) is None:
            return UNKNOWN
        if (refused := self._admin_left(agent, space, who)) is not None:
            return refused
        del self.members[space][who]
        return None

    def _administers(self, agent: str, space: str) -> str | None:
        held = self.role(agent, space)
        if self.agents[agent].reader:
            return FORBIDDEN
        if space not in self.members or (held is None and not self.agents[agent].admin):
            return UNKNOWN
        return None if held == "admin" or self.agents[agent].admin else FORBIDDEN

    def _admin_left(self, agent: str, space: str, leaving: str) -> str | None:
        if space == f"~{leaving}":
            return FORBIDDEN
        others = [role for who, role in self.members[space].items() if who != leaving]
        last = self.role(leaving, space) == "admin" and "admin" not in others
        return FORBIDDEN if last and not self.agents[agent].admin else None

    def remove_agent(self, agent: str) -> None:
        del self.agents[agent]
        for roles in self.members.values():
            roles.pop(agent, None)
        touched = [
            row.number
            for row in self.rows.values()
            if agent in (row.agent, row.owner, row.granted_by)
        ]
        self._end_rows(touched)
        for memory in self.memories.values():
            if agent in memory.shares:
                self._end_shares(memory, lambda share, ended=memory.shares[agent]: share is ended)
            for share in memory.shares.values():
                if share.granted_by == agent:
                    share.granted_by = None
