"""What every agent may read, change and share: the store against an oracle, step by step."""

from __future__ import annotations

import asyncio

from itertools import count
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.store.oracle import FOREVER, RANKS
from tests.store.world import WORDS, World

SPACES = ("north", "south")
MOST_MEMORIES, MOST_AGENTS = 40, 7

picks = st.integers(0, 99)  # one of however many there are
permissions = st.sampled_from(RANKS)
# Half a day off the whole ones that pass, so that no end is met on the dot.
days = st.one_of(st.just(FOREVER), st.integers(1, 4).map(lambda whole: whole + 0.5))
kinds = st.sampled_from(["semantic", "episodic", "procedural"])
tags = st.frozensets(st.sampled_from(["red", "blue"]))



class AccessMachine(RuleBasedStateMachine):
    """Agents do to each other what they can; after each step all of them look around."""

    world: ClassVar[World]
    _steps: ClassVar[count[int]]

    @initialize()
    def begin(self) -> None:
        self.world.reset()
        self.oracle = self.world.oracle
        for about in ({}, {}, {}, {"admin": True}, {"reader": True}):
            self.world.join(**about)
        self.write(0, 0, "shared", "semantic", frozenset({"red"}), None, FOREVER)
        self.write(1, 1, "private", "episodic", frozenset(), "k1", FOREVER)

    # --- picking

    def agent(self, pick: int) -> str:
        return sorted(self.oracle.agents)[pick % len(self.oracle.agents)]

    def memory(self, pick: int) -> Any:
        return list(self.oracle.memories.values())[pick % len(self.oracle.memories)]

    def space(self, pick: int) -> str:
        spaces = [*SPACES, *(f"~{agent}" for agent in sorted(self.oracle.agents)[:2])]
        return spaces[pick % len(spaces)]

    def ends(self, length: float) -> float:
        return self.oracle.now + length

    def has_memories(self) -> bool:
        return bool(self.oracle.memories)

    # --- memories

    @rule(
        agent=picks,
        space=picks,
        visibility=st.sampled_from(["private", "shared", "public"]),
        kind=kinds,
        tags=tags,
        key=st.sampled_from([None, "k1", "k2"]),
        length=days,
    )
    def write(self, agent, space, visibility, kind, tags, key, length):
        self._make_room()
        where = self.space(space)
        self.world.remember(
            *(self.agent(agent), where, visibility, kind, tags, key, self.ends(length))
        )

    def _make_room(self) -> None:
        if len(self.oracle.memories) >= MOST_MEMORIES:
            for memory in list(self.oracle.memories.values()):
                if not memory.deleted and memory.owner in self.oracle.agents:
                    self.world.forget(memory.owner, memory, "erase")
                    return

    @precondition(has_memories)
    @rule(agent=picks, memory=picks)
    def write_under_a_standing_key(self, agent, memory):
        standing = self.memory(memory)
        if standing.key is not None:
            self.world.remember(
                *(self.agent(agent), standing.space, standing.visibility, "procedural"),
                *(frozenset({"blue"}), standing.key, FOREVER),
            )

    @precondition(has_memories)
    @rule(agent=picks, memory=picks)
    def repeat(self, agent, memory):
        self.world.repeat(self.agent(agent), self.memory(memory))

    @precondition(has_memories)
    @rule(agent=picks, memory=picks, how=st.sampled_from(["archive", "delete", "erase"]))
    def forget(self, agent, memory, how):
        self.world.forget(self.agent(agent), self.memory(memory), how)

    @precondition(has_memories)
    @rule(agent=picks, source=picks, end=picks)
    def link(self, agent, source, end):
        self.world.link(self.agent(agent), self.memory(source), self.memory(end))

    # --- shares and delegations

    @precondition(has_memories)
    @rule(agent=picks, memory=picks, to=picks, permission=permissions, length=days)
    def share(self, agent, memory, to, permission, length):
        self.world.share(
            *(self.agent(agent), self.memory(memory), self.agent(to), permission),
            self.ends(length),
        )

    @precondition(has_memories)
    @rule(memory=picks, to=picks, permission=permissions, length=days, by=picks)
    def share_what_may_be_shared(self, memory, to, permission, length, by):
        shared = self.memory(memory)
        able = [agent for agent in sorted(self.oracle.agents) if self.oracle.shares(agent, shared)]
        if able:
            by = able[by % len(able)]
            self.world.share(by, shared, self.agent(to), permission, self.ends(length))

    @precondition(has_memories)
    @rule(agent=picks, memory=picks, to=picks)
    def unshare(self, agent, memory, to):
        shared = self.memory(memory)
        held = sorted(shared.shares)
        target = held[to % len(held)] if held else self.agent(to)
        self.world.unshare(self.agent(agent), shared, target)

    @rule(
        agent=picks,
        to=picks,
        permission=permissions,
        space=st.sampled_from([None, *SPACES]),
        kinds=st.one_of(st.none(), st.frozensets(kinds, min_size=1)),
        tags=tags,
        length=days,
        depth=st.integers(0, 2),
    )
    def delegate(self, agent, to, permission, space, kinds, tags, length, depth):
        if len(self.oracle.rows) < 40:
            self.world.delegate(
                *(self.agent(agent), self.agent(to), permission, space, kinds, tags),
                *(self.ends(length), depth),
            )

    @precondition(lambda self: self.oracle.rows)
    @rule(agent=picks, row=picks)
    def revoke(self, agent, row):
        rows = list(self.oracle.rows.values())
        self.world.revoke(self.agent(agent), rows[row % len(rows)].delegation)

    # --- members, agents, time

    @rule(agent=picks, space=picks, who=picks, role=st.sampled_from(["reader", "writer", "admin"]))
    def add_member(self, agent, space, who, role):
        self.world.add_member(self.agent(agent), self.space(space), self.agent(who), role)

    @rule(agent=picks, space=picks, who=picks)
    def remove_member(self, agent, space, who):
        self.world.remove_member(self.agent(agent), self.space(space), self.agent(who))

    @precondition(lambda self: len(self.oracle.agents) < MOST_AGENTS)
    @rule(reader=st.booleans())
    def join(self, reader):
        self.world.join(reader=reader)

    @precondition(lambda self: len(self.oracle.agents) > 4)
    @rule(agent=picks)
    def leave(self, agent):
        self.world.leave(self.agent(agent))

    @rule(days=st.integers(1, 2))
    def days_pass(self, days):
        self.world.days_pass(days)

    @rule()
    def maintain(self):
        self.world.maintain()

    # --- looking

    @invariant()
    def all_see_what_they_may(self):
        if not hasattr(self, "oracle"):
            return
        self.world.check_sight()
        step = next(self._steps)
        if step % 5 == 0:
            self.world.check_recall(self.agent(step // 5))
        if step % 10 == 1:
            words = f"{WORDS[step % 8]} {WORDS[step // 10 % 8]} memo"
            self.world.check_ranking(self.agent(step // 10), words)
        if step % 25 == 2:
            self.world.check_links(self.agent(step // 25))
            self.world.check_events(self.agent(step // 25))

    def teardown(self) -> None:
        if hasattr(self, "oracle"):
            for agent in sorted(self.oracle.agents):
                self.world.check_recall(agent)


async def run(dsn: str, examples: int, steps: int, **options: Any) -> None:
    """Run in a thread: hypothesis drives synchronously."""

    def drive() -> None:
        AccessMachine.world = World(dsn)
        AccessMachine._steps = count(1)
        try:
            run_state_machine_as_test(
                AccessMachine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    deadline=None,
                    verbosity=Verbosity.normal,
                    suppress_health_check=list(HealthCheck),
                    database=None,
                    print_blob=True,
                    **options,
                ),
            )
        finally:
            AccessMachine.world.close()

    await asyncio.to_thread(drive)


async def test_two_thousand_steps_agree_with_the_oracle(database):
    await run(database.dsn, 40, 50, derandomize=True)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_fifty_thousand_steps_agree_with_the_oracle(database):
    await run(database.dsn, 500, 100)
