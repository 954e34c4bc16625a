"""Who may see and change what, worked out in Python from docs/sharing.md and from nothing else.

Times are days since the beginning; what has no end ends in FOREVER.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

FORBIDDEN, UNKNOWN, WRONG, TAKEN = "42501", "P0002", "22023", "23505"
RANKS = ("read", "write", "share")
WIDTHS = ("private", "shared", "public")
FOREVER = float("inf")


@dataclass(slots=True)
class Agent:
    reader: bool = False
    admin: bool = False


@dataclass(slots=True)
class Share:
    permission: str
    granted_by: str | None
    through: str | None
    row: int | None
    ends: float


@dataclass(slots=True)
class Row:
    """One owner's memories, as one agent holds them by a delegation."""

    number: int
    delegation: str
    parent: int | None
    owner: str
    granted_by: str
    agent: str
    permission: str
    space: str | None
    kinds: frozenset[str] | None
    tags: frozenset[str]
    ends: float
    depth: int

    @property
    def whole(self) -> bool:
        return self.space is None and self.kinds is None and not self.tags

    def fits(self, memory: Memory) -> bool:
        return (
            self.space in (None, memory.space)
            and (self.kinds is None or memory.kind in self.kinds)
            and self.tags <= memory.tags
        )


@dataclass(slots=True)
class Memory:
    id: str
    space: str
    owner: str
    content: str
    kind: str
    tags: frozenset[str]
    key: str | None
    ends: float
    versions: list[str]  # the visibility of each
    said: bool = True  # whether its words count as said by its owner
    archived: bool = False
    deleted: bool = False
    shares: dict[str, Share] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)  # rows whose scope takes it

    @property
    def visibility(self) -> str:
        return self.versions[-1]

    @property
    def private(self) -> bool:
        return self.visibility == "private"


class Holdings:
    """What everybody has, and what follows from it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.agents: dict[str, Agent] = {}
        self.members: dict[str, dict[str, str]] = {}
        self.memories: dict[str, Memory] = {}
        self.rows: dict[int, Row] = {}
        self.links: set[tuple[str, str]] = set()
        self._numbers = count(1)

    def role(self, agent: str, space: str) -> str | None:
        return self.members.get(space, {}).get(agent)

    def live(self, ends: float) -> bool:
        return ends > self.now

    def held(self, agent: str, memory: Memory) -> Iterator[Row]:
        """The delegations by which the agent has the memory."""
        for row in self.rows.values():
            takes = not memory.deleted and (row.whole or row.number in memory.taken)
            held = row.agent == agent and row.owner == memory.owner and self.live(row.ends)
            if takes and held:
                yield row

    def share_of(self, agent: str, memory: Memory) -> Share | None:
        share = memory.shares.get(agent)
        return share if share is not None and self.live(share.ends) else None

    def reads(self, agent: str, memory: Memory, version: int = 0) -> bool:
        """Whether the agent may read a version, the head when none is named."""
        if agent not in self.agents:
            return False
        if memory.deleted:
            return self.role(agent, memory.space) == "admin"
        visibility = memory.versions[version - 1]
        return (
            agent == memory.owner
            or visibility == "public"
            or (visibility == "shared" and self.role(agent, memory.space) is not None)
            or self.share_of(agent, memory) is not None
            or any(self.held(agent, memory))
        )

    def changes(self, agent: str, memory: Memory) -> bool:
        """Whether the agent may change the memory."""
        if not self.reads(agent, memory) or self.agents[agent].reader:
            return False
        share = self.share_of(agent, memory)
        return (
            agent == memory.owner
            or (not memory.private and self.role(agent, memory.space) in ("writer", "admin"))
            or (share is not None and share.permission != "read")
            or any(row.permission != "read" for row in self.held(agent, memory))
        )

    def from_above(self, agent: str, memory: Memory) -> bool:
        administers = self.role(agent, memory.space) == "admin" and not memory.private
        return agent == memory.owner or administers

    def shares(self, agent: str, memory: Memory) -> bool:
        """Whether the agent may share the memory with somebody new."""
        if memory.deleted or not self.reads(agent, memory) or self.agents[agent].reader:
            return False
        return bool(self._rights(agent, memory))

    def answers(self, memory: Memory) -> bool:
        """Whether recall() and the view memories show it to those who may read it."""
        return not memory.archived and self.live(memory.ends)

    def linked(self, agent: str, start: Memory, hops: int) -> set[str]:
        reached = {start.id}
        frontier = {start.id}
        for _ in range(hops):
            ends = {b for a, b in self.links if a in frontier}
            ends |= {a for a, b in self.links if b in frontier}
            frontier = {
                end
                for end in ends - reached
                if self.reads(agent, self.memories[end]) and self.answers(self.memories[end])
            }
            reached |= frontier
        return reached - {start.id}

    def may_write_into(self, agent: str, space: str) -> bool:
        if self.agents[agent].reader:
            return False
        if space not in self.members:
            return not space.startswith("~")
        return self.role(agent, space) in ("writer", "admin")

    def erases(self, agent: str, memory: Memory) -> bool:
        """Whether the agent may erase it, also when it was deleted and is not seen any more."""
        return self.from_above(agent, memory) or self.agents[agent].admin

    def shows(self, agent: str, memory: Memory) -> bool:
        """Whether the agent may set its visibility and its key; then its words count as said."""
        writes = self.role(agent, memory.space) in ("writer", "admin")
        return agent == memory.owner or (writes and not memory.private)

    def _rights(self, agent: str, memory: Memory) -> list[tuple[str | None, int | None, float]]:
        """By what the agent may share: own share or delegation, and its end. Neither: as above."""
        rights: list[tuple[str | None, int | None, float]] = []
        if self.from_above(agent, memory):
            rights.append((None, None, FOREVER))
        share = self.share_of(agent, memory)
        if share is not None and share.permission == "share":
            rights.append((agent, None, share.ends))
        rows = [row for row in self.held(agent, memory) if row.permission == "share"]
        return rights + [(None, row.number, row.ends) for row in rows]
