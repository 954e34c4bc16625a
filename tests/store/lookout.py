"""Compares what each agent gets to see with what the oracle says, by every road."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from tests.store.holdings import UNKNOWN, Agent
from tests.store.oracle import Oracle
from tests.store.world import COMMON, World, components, number_of, vector_of

ROADS: Final = ("lexical", "vector", "hybrid", "exact")

# Asks as each agent in turn, in one round trip; the roles change in the middle of it.
_PROBES: Final = """
create or replace function public.probe(agents text[], roles text[])
returns table (agent text, road text, found text[]) language plpgsql as $$
begin
    for i in 1..cardinality(agents) loop
        perform set_config('pgrecall.agent', agents[i], true), set_config('role', roles[i], true);
        return query select agents[i], 'memories', array_agg(m.id || '/' || m.version)
            from memory.memories m;
        return query select agents[i], 'versions', array_agg(m.id || '/' || m.version)
            from memory.memory_versions m;
        return query select agents[i], 'shares', array_agg(m.id || '/' || m.agent)
            from memory.shares m;
        return query select agents[i], 'members',
            array_agg(m.space || '/' || m.agent || '/' || m.role) from memory.members m;
    end loop;
    -- A change of role has every plan made anew: once for all agents.
    perform set_config('role', 'none', true);
    for i in 1..cardinality(agents) loop
        perform set_config('pgrecall.agent', agents[i], true);
        return query select agents[i], 'changes', array_agg(m.id::text) from pgrecall.memories m
            where m.superseded_at is null and pgrecall.readable(m.readers, m.id, pgrecall.viewer())
                and pgrecall.may_change(m, agents[i]);
    end loop;
end $$;
create or replace function public.probe_recall(
    agent text, role text, query text, k int, vector text, modes text[])
returns table (road text, found text[], scores real[], degraded text) language plpgsql as $$
declare
    asked text;
begin
    perform set_config('pgrecall.agent', agent, true), set_config('role', role, true);
    foreach asked in array modes loop
        return query select asked, array_agg(r.id || '/' || r.version order by r.rank),
            array_agg(r.score order by r.rank), max(r.degraded)
        from memory.recall(query, k => k, mode => asked, query_embedding => vector) r;
    end loop;
    perform set_config('role', 'none', true);
end $$;
"""


class Lookout:
    def __init__(self, world: World) -> None:
        self._world = world
        world.db.execute(_PROBES)

    @property
    def _oracle(self) -> Oracle:
        return self._world.oracle

    def sight(self) -> None:
        """Every agent sees, may change, and knows of others' sight, what the oracle says."""
        oracle = self._oracle
        agents = sorted(oracle.agents, key=lambda name: oracle.agents[name].reader)
        with self._world.db.transaction():
            rows = self._world.db.execute(
                "select * from public.probe(%s, %s)",
                [agents, [self._role(name) for name in agents]],
            ).fetchall()
        for agent, road, found in rows:
            expected = self._expected(agent, road)
            assert sorted(found or []) == sorted(expected), self._world.told(
                f"{agent}, {road}: too much {set(found or []) - set(expected)},"
                f" too little {set(expected) - set(found or [])}"
            )

    def _role(self, agent: str) -> str:
        return "pgrecall_reader" if self._oracle.agents[agent].reader else "pgrecall_agent"

    def _expected(self, agent: str, road: str) -> list[str]:
        oracle, memories = self._oracle, self._oracle.memories.values()
        administered = {
            space for space, roles in oracle.members.items() if roles.get(agent) == "admin"
        }
        joined = {space for space, roles in oracle.members.items() if agent in roles}
        match road:
            case "memories":
                return [
                    f"{memory.id}/{len(memory.versions)}"
                    for memory in memories
                    if oracle.reads(agent, memory) and oracle.answers(memory)
                ]
            case "versions":
                return [
                    f"{memory.id}/{version}"
                    for memory in memories
                    for version in range(1, len(memory.versions) + 1)
                    if oracle.reads(agent, memory, version)
                ]
            case "changes":
                # Who only reads is refused before: the probe asks past that.
                if oracle.agents[agent].reader:
                    return self._changes_but_for_reading(agent)
                return [memory.id for memory in memories if oracle.changes(agent, memory)]
            case "shares":
                return [
                    f"{memory.id}/{to}"
                    for memory in memories
                    for to, share in memory.shares.items()
                    if oracle.live(share.ends)
                    and (
                        agent in (to, share.granted_by, memory.owner)
                        or memory.space in administered
                    )
                ]
            case "members":
                everywhere = oracle.agents[agent].admin
                return [
                    f"{space}/{who}/{role}"
                    for space, roles in oracle.members.items()
                    for who, role in roles.items()
                    if everywhere or space in joined
                ]
        raise AssertionError(road)

    def _changes_but_for_reading(self, agent: str) -> list[str]:
        reader, self._oracle.agents[agent] = self._oracle.agents[agent], Agent()
        try:
            return self._expected(agent, "changes")
        finally:
            self._oracle.agents[agent] = reader

    def recall(self, agent: str) -> None:
        """Each leg and both find exactly what may be read; the nearest come in their order."""
        answers = self.recalled(agent, COMMON, 1000)
        expected = self._expected(agent, "memories")
        for road, found, _, degraded in answers:
            assert degraded is None, self._world.told(f"{agent}, {road}: {degraded}")
            assert sorted(found or []) == sorted(expected), self._world.told(
                f"{agent}, recall {road}: too much {set(found or []) - set(expected)},"
                f" too little {set(expected) - set(found or [])}"
            )
            if road == "vector":
                distances = [self._distance(entry.split("/")[0]) for entry in found or []]
                assert all(near <= far + 1e-4 for near, far in pairwise(distances)), (
                    self._world.told(
                        f"{agent}: the vector leg's order is not that of the distances"
                    )
                )

    def recalled(self, agent: str, query: str, k: int) -> list[tuple[Any, ...]]:
        with self._world.db.transaction():
            return self._world.db.execute(
                "select * from public.probe_recall(%s, %s, %s, %s, %s, %s)",
                [agent, self._role(agent), query, k, f"oracle {vector_of(0)}", list(ROADS)],
            ).fetchall()

    def ranking(self, agent: str, query: str) -> None:
        """The first few are those of a store that holds nothing but what the agent may read."""
        among_all = self.recalled(agent, query, 5)
        with self._world.db.transaction(force_rollback=True):
            self._world.db.execute("select set_config('pgrecall.agent', %s, true)", [agent])
            self._world.db.execute(
                "delete from pgrecall.memories"
                " where pgrecall.readable(readers, id, pgrecall.viewer()) is not true"
            )
            self._world.db.execute(
                "delete from pgrecall.embeddings"
                " where pgrecall.readable(readers, id, pgrecall.viewer()) is not true"
            )
            alone = self.recalled(agent, query, 5)
        assert among_all == alone, self._world.told(
            f"{agent}: others' rows move the answer to {query!r}"
        )

    def links(self, agent: str) -> None:
        for start in self._oracle.memories.values():
            refused, found = self._world.act(
                agent, "select array_agg(id::text) from memory.related({}, 2)", start.id
            )
            self._world.script.pop()
            self._world.agreed(refused, None if self._oracle.reads(agent, start) else UNKNOWN)
            if refused is None:
                expected = self._oracle.linked(agent, start, 2)
                assert set(found or []) == expected, self._world.told(
                    f"{agent}: related({start.id})"
                )

    def events(self, agent: str) -> None:
        """One's own, and all of what one administers: spaces, or the deployment."""
        known = self._world.db.execute(
            "select space, agent, sequence from pgrecall.events"
        ).fetchall()
        oracle = self._oracle
        expected = [
            event
            for event in known
            if agent == event[1]
            or oracle.role(agent, event[0]) == "admin"
            or oracle.agents[agent].admin
        ]
        with self._world.db.transaction():
            self._world.db.execute(
                "select set_config('pgrecall.agent', %s, true), set_config('role', %s, true)",
                [agent, self._role(agent)],
            )
            found = self._world.db.execute(
                "select space, agent, sequence from memory.events"
            ).fetchall()
        assert sorted(found) == sorted(expected), self._world.told(f"{agent}: events")

    def _distance(self, identity: str) -> float:
        number = number_of(self._oracle.memories[identity])
        return _cosine_distance(components(0), components(number))


def _cosine_distance(a: Sequence[int], b: Sequence[int]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return 1 - dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
