"""What agents do to each other, drawn at random; each move goes to the store and to its oracle.

A move draws all its choices from the number it is given, so that a list of moves and numbers is a
run that can be had again, and had with some of its moves left out.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tests.store.holdings import FOREVER, RANKS, WIDTHS, Memory
from tests.store.lookout import Lookout
from tests.store.world import WORDS, World

KINDS: Final = ("semantic", "episodic", "procedural")
MOST_MEMORIES, MOST_AGENTS, MOST_ROWS = 30, 7, 30
# How often each is drawn, beside the others.
MOVES: Final = {
    "write": 14,
    "write_under_a_key": 8,
    "revise": 10,
    "restore": 4,
    "repeat": 2,
    "forget": 6,
    "link": 4,
    "share": 10,
    "share_on": 8,
    "unshare": 5,
    "delegate": 10,
    "delegate_on": 6,
    "revoke": 3,
    "add_member": 8,
    "remove_member": 4,
    "join": 2,
    "leave": 2,
    "days_pass": 6,
    "maintain": 3,
}


class Moves:
    def __init__(self, world: World) -> None:
        self.world = world
        self.lookout = Lookout(world)
        world.reset()
        self.oracle = world.oracle
        for about in ({}, {}, {}, {"admin": True}, {"reader": True}):
            world.join(**about)
        plain = ("semantic", frozenset({"red"}), None, FOREVER)
        world.remember("agent1", "north", "shared", *plain)
        world.remember("agent2", "south", "private", *plain)
        world.remember("agent2", "~agent2", "private", "episodic", frozenset(), "k1", FOREVER)
        world.add_member("agent1", "north", "agent2", "writer")
        world.add_member("agent1", "north", "agent3", "reader")
        world.add_member("agent2", "south", "agent5", "reader")

    def step(self, move: str, number: int, *, look: bool = True) -> None:
        """Make one move; one for which there is nothing to do it with is none."""
        rng = Random(number)
        if self.oracle.memories or move in ("write", "join"):
            getattr(self, move)(rng)
        if look:
            self.look(rng)

    def look(self, rng: Random) -> None:
        """All agents by the views at each step; the dearer roads by one of them, now and then."""
        lookout, agent = self.lookout, rng.choice(sorted(self.oracle.agents))
        lookout.sight()
        if rng.random() < 0.15:
            lookout.recall(agent)
        if rng.random() < 0.05:
            lookout.ranking(agent, f"{rng.choice(WORDS)} {rng.choice(WORDS)} memo")
        if rng.random() < 0.03:
            lookout.links(agent)
            lookout.events(agent)

    # --- drawing

    def agent(self, rng: Random, able: Callable[[str], object] = lambda agent: True) -> str:
        """One of the agents: three times in four one that is able, where any is."""
        everyone = sorted(self.oracle.agents)
        chosen = [agent for agent in everyone if able(agent)] if rng.random() < 0.75 else []
        return rng.choice(chosen or everyone)

    def memory(self, rng: Random, fit: Callable[[Memory], object] = lambda memory: True) -> Memory:
        """One of the memories that fit, where any does."""
        memories = list(self.oracle.memories.values())
        return rng.choice([memory for memory in memories if fit(memory)] or memories)

    def space(self, rng: Random) -> str:
        own = [f"~{agent}" for agent in sorted(self.oracle.agents)[:2]]
        return rng.choice(["north", "south", "north", "south", *own])

    def ends(self, rng: Random) -> float:
        """Half a day off the whole ones that pass, so that no end is met on the dot."""
        return rng.choice([FOREVER, self.oracle.now + rng.randint(1, 4) + 0.5])

    def tags(self, rng: Random) -> frozenset[str]:
        return frozenset(tag for tag in ("red", "blue") if rng.random() < 0.5)

    # --- memories

    def write(self, rng: Random) -> None:
        if len(self.oracle.memories) >= MOST_MEMORIES:
            return self._erase_one(rng)
        space = self.space(rng)
        agent = self.agent(rng, lambda who: self.oracle.may_write_into(who, space))
        visibility = rng.choice(["private", "private", "shared", "public"])
        key = rng.choice([None, None, "k1", "k2"])
        fields = (rng.choice(KINDS), self.tags(rng), key, self.ends(rng))
        return self.world.remember(agent, space, visibility, *fields)

    def _erase_one(self, rng: Random) -> None:
        memory = self.memory(rng, lambda old: old.deleted or not self.oracle.answers(old))
        self.world.forget(self._changing(rng, memory), memory, "erase")

    def _changing(self, rng: Random, memory: Memory) -> str:
        return self.agent(rng, lambda who: self.oracle.changes(who, memory))

    def write_under_a_key(self, rng: Random) -> None:
        standing = self.memory(rng, lambda memory: memory.key and not memory.archived)
        agent = self.agent(
            rng,
            lambda who: (
                self.oracle.may_write_into(who, standing.space)
                and (not standing.private or who == standing.owner)
            ),
        )
        visibility = standing.visibility
        if not standing.private:
            visibility = rng.choice(["shared", "public"])
        fields = (rng.choice(KINDS), self.tags(rng), standing.key, FOREVER)
        self.world.remember(agent, standing.space, visibility, *fields)

    def revise(self, rng: Random) -> None:
        memory = self.memory(rng, self.oracle.answers)
        agent = self._changing(rng, memory)
        visibility = rng.choice([*WIDTHS, memory.visibility, memory.visibility])
        key = rng.choice([None, None, "k1", "k2"])
        self.world.revise(agent, memory, visibility, self.tags(rng), key)

    def restore(self, rng: Random) -> None:
        memory = self.memory(rng, lambda memory: not self.oracle.answers(memory))
        self.world.restore(self._changing(rng, memory), memory)

    def repeat(self, rng: Random) -> None:
        said = self.memory(rng, lambda said: said.key is None and self.oracle.answers(said))
        if said.owner in self.oracle.agents:
            self.world.repeat(said.owner, said)

    def forget(self, rng: Random) -> None:
        memory = self.memory(rng)
        how = rng.choice(["archive", "delete", "erase"])
        self.world.forget(self._changing(rng, memory), memory, how)

    def link(self, rng: Random) -> None:
        source = self.memory(rng)
        agent = self._changing(rng, source)
        target = self.memory(
            rng,
            lambda other: (
                other.space == source.space
                and other is not source
                and self.oracle.reads(agent, other)
            ),
        )
        self.world.link(agent, source, target)

    # --- shares and delegations

    def share(self, rng: Random) -> None:
        memory = self.memory(rng, lambda memory: not memory.deleted)
        agent = self.agent(rng, lambda who: self.oracle.shares(who, memory))
        self._share(rng, agent, memory)

    def share_on(self, rng: Random) -> None:
        """By one who is neither the owner nor an admin; now and then over a share that stands."""
        able = {
            memory.id: [
                who
                for who in sorted(self.oracle.agents)
                if self.oracle.shares(who, memory) and not self.oracle.from_above(who, memory)
            ]
            for memory in self.oracle.memories.values()
        }
        memory = self.memory(rng, lambda memory: able[memory.id])
        self._share(rng, self.agent(rng, lambda who: who in able[memory.id]), memory)

    def _share(self, rng: Random, agent: str, memory: Memory) -> None:
        to = self.agent(rng, lambda other: other not in (agent, memory.owner))
        permission = rng.choice([*RANKS, "share"])
        self.world.share(agent, memory, to, permission, self.ends(rng))

    def unshare(self, rng: Random) -> None:
        memory = self.memory(rng, lambda memory: memory.shares)
        to = self.agent(rng, lambda other: other in memory.shares)
        given = memory.shares.get(to)
        able = (to, memory.owner, given and given.granted_by)
        self.world.unshare(self.agent(rng, lambda who: who in able), memory, to)

    def delegate(self, rng: Random) -> None:
        agent = self.agent(rng, lambda who: not self.oracle.agents[who].reader)
        self._delegate(rng, agent, rng.choice([None, "north", "south"]), rng.randint(0, 2))

    def delegate_on(self, rng: Random) -> None:
        passing = [row.agent for row in self.oracle.rows.values() if row.depth]
        self._delegate(rng, self.agent(rng, lambda who: who in passing), None, 1)

    def _delegate(self, rng: Random, agent: str, space: str | None, depth: int) -> None:
        if len(self.oracle.rows) >= MOST_ROWS:
            return self.revoke(rng)
        to = self.agent(rng, lambda other: other != agent)
        kinds = rng.choice([None, None, frozenset(rng.sample(KINDS, 2))])
        tags = rng.choice([frozenset[str](), self.tags(rng)])
        permission = rng.choice([*RANKS, "share"])
        return self.world.delegate(
            *(agent, to, permission, space, kinds, tags, self.ends(rng), depth)
        )

    def revoke(self, rng: Random) -> None:
        if not self.oracle.rows:
            return
        row = rng.choice(list(self.oracle.rows.values()))
        able = (row.owner, row.granted_by, row.agent)
        self.world.revoke(self.agent(rng, lambda who: who in able), row.delegation)

    # --- members, agents, time

    def add_member(self, rng: Random) -> None:
        space = self.space(rng)
        agent = self.agent(rng, lambda who: self.oracle.role(who, space) == "admin")
        role = rng.choice(["reader", "writer", "admin"])
        self.world.add_member(agent, space, self.agent(rng), role)

    def remove_member(self, rng: Random) -> None:
        space = self.space(rng)
        agent = self.agent(rng, lambda who: self.oracle.role(who, space) == "admin")
        member = self.agent(rng, lambda other: self.oracle.role(other, space) is not None)
        self.world.remove_member(agent, space, member)

    def join(self, rng: Random) -> None:
        if len(self.oracle.agents) < MOST_AGENTS:
            self.world.join(reader=rng.random() < 0.3)

    def leave(self, rng: Random) -> None:
        if len(self.oracle.agents) > 4:
            self.world.leave(rng.choice(sorted(self.oracle.agents)))

    def days_pass(self, rng: Random) -> None:
        self.world.days_pass(rng.randint(1, 2))

    def maintain(self, _: Random) -> None:
        self.world.maintain()
