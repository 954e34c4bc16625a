"""A store and its oracle, moved together; says where they disagree.

Every act is also written down as a line of SQL, so that a failing run can be replayed in psql.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg import sql as pgsql

from tests.store.oracle import FOREVER, FORBIDDEN, UNKNOWN, Agent, Memory, Oracle, Row

TABLES: Final = (
    *("memories", "embeddings", "embedding_queue", "links", "usage", "recall_log", "events"),
    *("chain_heads", "sessions", "members", "spaces", "agents", "delegations", "memory_shares"),
    *("row_tokens", "entity_aliases", "idempotency_keys", "query_embeddings"),
)
WORDS: Final = ("anchor", "bridge", "copper", "delta", "ember", "falcon", "garnet", "harbor")
ROADS: Final = ("lexical", "vector", "hybrid", "exact")
# What every memory says, so that a recall of it finds all that may be read.
COMMON: Final = "memo"

# Asks as each agent in turn, in one round trip; the roles change in the middle of it.
_PROBES: Final = """
create or replace function public.probe(agents text[], roles text[])
returns table (agent text, road text, found text[]) language plpgsql as $$
begin
    for i in 1..cardinality(agents) loop
        perform set_config('pgrecall.agent', agents[i], true), set_config('role', roles[i], true);
        agent := agents[i];
        return query select agents[i], 'memories', array_agg(m.id || '/' || m.version) from memory.memories m;
        return query select agents[i], 'versions', array_agg(m.id || '/' || m.version) from memory.memory_versions m;
        return query select agents[i], 'shares', array_agg(m.id || '/' || m.agent) from memory.shares m;
        return query select agents[i], 'members', array_agg(m.space || '/' || m.agent || '/' || m.role) from memory.members m;
        perform set_config('role', 'none', true);
        return query select agents[i], 'changes', array_agg(m.id::text) from pgrecall.memories m
            where m.superseded_at is null and m.readers && pgrecall.principals() and pgrecall.may_change(m, agents[i]);
    end loop;
end $$;
create or replace function public.probe_recall(agent text, role text, query text, k int, vector text, modes text[])
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


class World:
    def __init__(self, dsn: str) -> None:
        self.db = psycopg.connect(dsn, autocommit=True)
        self.db.execute(_PROBES)
        self.db.execute("select pgrecall.use_embedding_model('oracle', 4)")
        self.script: list[str] = []
        self.oracle = Oracle()
        self._written = 0
        self._joined = 0

    def close(self) -> None:
        self.db.close()

    def reset(self) -> None:
        """Empty the store and begin anew."""
        names = ", ".join(f"pgrecall.{table}" for table in TABLES)
        self.db.execute(f"truncate {names} cascade")
        self.script.clear()
        self.oracle = Oracle()
        self._written = self._joined = 0

    # --- acting

    def _act(self, agent: str, statement: str, *arguments: Any) -> tuple[str | None, Any]:
        """Run a statement as the agent; answer the SQLSTATE of its refusal, and its value."""
        reader = self.oracle.agents[agent].reader
        text = pgsql.SQL(statement).format(*map(pgsql.Literal, arguments)).as_string(self.db)
        self.script.append(f"/* {agent} */ {text};")
        try:
            with self.db.transaction():
                role = "pgrecall_reader" if reader else "pgrecall_agent"
                self.db.execute(
                    "select set_config('pgrecall.agent', %s, true), set_config('role', %s, true)",
                    [agent, role],
                )
                row = self.db.execute(text).fetchone()
        except psycopg.Error as error:
            self.script[-1] += f" -- {error.sqlstate}"
            return error.sqlstate, None
        return None, row[0] if row else None

    def _agreed(self, refused: str | None, expected: str | None) -> None:
        assert refused == expected, self.told(f"refused with {refused}, expected {expected}")

    def _in(self, ends: float) -> str | None:
        """How long it is until then, as an interval; what is for good has no end."""
        return None if ends == FOREVER else f"{(ends - self.oracle.now) * 24:.0f} hours"

    def told(self, complaint: str) -> str:
        return "\n".join([complaint, "-- what led to it:", *self.script])

    # --- agents, members and time

    def join(self, *, reader: bool = False, admin: bool = False) -> str:
        self._joined += 1
        name = f"agent{self._joined}"
        self.script.append(f"/* join {name} reader={reader} admin={admin} */")
        self.db.execute("insert into pgrecall.agents values (%s, %s, %s)", [name, admin, reader])
        self.db.execute("select pgrecall.add_member(%s, %s, 'admin')", [f"~{name}", name])
        self.oracle.agents[name] = Agent(reader, admin)
        self.oracle.members[f"~{name}"] = {name: "admin"}
        return name

    def leave(self, name: str) -> None:
        self.script.append(f"delete from pgrecall.agents where agent = '{name}';")
        self.db.execute("delete from pgrecall.agents where agent = %s", [name])
        self.oracle.remove_agent(name)

    def days_pass(self, days: int) -> None:
        for table in ("memories", "memory_shares", "delegations"):
            statement = (
                f"update pgrecall.{table} set expires_at = expires_at - interval '{days} days'"
            )
            self.script.append(f"{statement};")
            self.db.execute(statement)
        self.oracle.now += days

    def maintain(self) -> None:
        self.script.append("select * from pgrecall.maintain();")
        self.db.execute("select * from pgrecall.maintain()")
        for memory in self.oracle.memories.values():
            memory.archived |= not self.oracle.live(memory.ends)

    def add_member(self, agent: str, space: str, who: str, role: str) -> None:
        refused, _ = self._act(agent, "select memory.add_member({}, {}, {})", space, who, role)
        self._agreed(refused, self.oracle.add_member(agent, space, who, role))

    def remove_member(self, agent: str, space: str, who: str) -> None:
        refused, _ = self._act(agent, "select memory.remove_member({}, {})", space, who)
        self._agreed(refused, self.oracle.remove_member(agent, space, who))

    # --- memories

    def remember(
        self,
        agent: str,
        space: str,
        visibility: str,
        kind: str,
        tags: frozenset[str],
        key: str | None,
        ends: float,
    ) -> None:
        """Write fresh words; under a key that stands they refine its memory."""
        self._written += 1
        drawn = {WORDS[self._written * step % len(WORDS)] for step in (3, 5, 7)}
        content = f"{COMMON} {' '.join(sorted(drawn))} n{self._written}"
        refused, identity = self._act(
            agent,
            "select memory.remember({}, space => {}, visibility => {}, kind => {}, tags => {}::text[],"
            " key => {}, ttl => {}::interval, query_embedding => {})",
            *(content, space, visibility, kind, sorted(tags), key, self._in(ends)),
            f"oracle {vector_of(self._written)}",
        )
        oracle = self.oracle
        if not oracle.may_write_into(agent, space):
            return self._agreed(refused, FORBIDDEN)
        self._agreed(refused, None)
        oracle.enter(agent, space)
        private = visibility == "private"
        memory = oracle.keyed(agent, space, key, private) if key is not None else None
        if memory is None:
            memory = Memory(
                str(identity), space, agent, content, kind, tags, key, ends, [visibility]
            )
            oracle.memories[memory.id] = memory
        else:
            memory.content = content
            memory.kind = memory.kind if kind == "semantic" else kind
            memory.tags = tags or memory.tags
            memory.ends = memory.ends if ends == FOREVER else ends
            memory.versions.append(visibility)
        assert memory.id == str(identity), self.told("another memory was written than expected")
        return oracle.write(agent, memory)

    def revise(
        self, agent: str, memory: Memory, visibility: str, tags: frozenset[str], key: str | None
    ) -> None:
        """Write fresh words, with a key where one is given, under another visibility and tags."""
        self._written += 1
        content = f"{COMMON} revised n{self._written}"
        refused, _ = self._act(
            agent,
            "select memory.revise({}, content => {}, visibility => {}, tags => {}::text[],"
            " key => {}, query_embedding => {})",
            *(memory.id, content, visibility, sorted(tags), key),
            f"oracle {vector_of(self._written)}",
        )
        named = memory.key if key is None else key
        self._agreed(refused, self.oracle.revise(agent, memory, visibility, named))
        if refused is None:
            memory.said = self.oracle.shows(agent, memory)
            memory.content, memory.tags, memory.key = content, tags, named
            memory.versions.append(visibility)
            self.oracle.write(agent, memory)

    def restore(self, agent: str, memory: Memory) -> None:
        refused, _ = self._act(agent, "select memory.restore({})", memory.id)
        self._agreed(refused, self.oracle.restore(agent, memory))
        # As the worker would: what was deleted lost its vectors.
        self.db.execute(
            "select pgrecall.store_embeddings(q.space, q.id, q.version, 'oracle', array[%s])"
            " from pgrecall.embedding_queue q where q.id = %s",
            [vector_of(_number(memory)), memory.id],
        )

    def repeat(self, agent: str, memory: Memory) -> None:
        """Say a memory's words again: the owner's stands already, another's is its own."""
        stands = agent == memory.owner and memory.key is None and self.oracle.answers(memory)
        if not (stands and memory.said) or not self.oracle.may_write_into(agent, memory.space):
            return
        refused, identity = self._act(
            agent,
            "select memory.remember({}, space => {}, visibility => {})",
            *(memory.content, memory.space, memory.visibility),
        )
        self._agreed(refused, None)
        assert str(identity) == memory.id, self.told("a repeat became a memory of its own")

    def forget(self, agent: str, memory: Memory, how: str) -> None:
        refused, _ = self._act(agent, "select memory.forget({}, {})", memory.id, how)
        self._agreed(refused, self.oracle.forget(agent, memory, how))

    def link(self, agent: str, source: Memory, target: Memory) -> None:
        refused, _ = self._act(
            agent, "select memory.link({}, {}, 'leads to')", source.id, target.id
        )
        self._agreed(refused, self.oracle.link(agent, source, target))

    # --- shares and delegations

    def share(self, agent: str, memory: Memory, to: str, permission: str, ends: float) -> None:
        refused, _ = self._act(
            agent,
            "select memory.share({}, {}, {}, statement_timestamp() + {}::interval)",
            *(memory.id, to, permission, self._in(ends)),
        )
        self._agreed(refused, self.oracle.share(agent, memory, to, permission, ends))

    def unshare(self, agent: str, memory: Memory, to: str) -> None:
        refused, _ = self._act(agent, "select memory.unshare({}, {})", memory.id, to)
        self._agreed(refused, self.oracle.unshare(agent, memory, to))

    def delegate(
        self,
        agent: str,
        to: str,
        permission: str,
        space: str | None,
        kinds: frozenset[str] | None,
        tags: frozenset[str],
        ends: float,
        depth: int,
    ) -> None:
        refused, delegation = self._act(
            agent,
            "select memory.delegate({}, {}, {}, {}::text[], {}::text[],"
            " statement_timestamp() + {}::interval, {})",
            *(to, permission, space, kinds and sorted(kinds), sorted(tags) or None),
            *(self._in(ends), depth),
        )
        wanted = Row(
            *(0, "", None, agent, agent, to, permission, space, kinds, tags, ends, depth),
        )
        self._agreed(refused, self.oracle.delegate(agent, str(delegation), wanted))

    def revoke(self, agent: str, delegation: str) -> None:
        refused, _ = self._act(agent, "select memory.revoke_delegation({})", delegation)
        self._agreed(refused, self.oracle.revoke(agent, delegation))

    # --- comparing

    def check_sight(self) -> None:
        """Every agent sees, may change, and knows of others' sight, what the oracle says."""
        oracle = self.oracle
        agents = sorted(oracle.agents, key=lambda name: oracle.agents[name].reader)
        with self.db.transaction():
            rows = self.db.execute(
                "select * from public.probe(%s, %s)",
                [agents, [self._role(name) for name in agents]],
            ).fetchall()
        for agent, road, found in rows:
            expected = self._expected(agent, road)
            assert sorted(found or []) == sorted(expected), self.told(
                f"{agent}, {road}: too much {set(found or []) - set(expected)},"
                f" too little {set(expected) - set(found or [])}"
            )

    def _role(self, agent: str) -> str:
        return "pgrecall_reader" if self.oracle.agents[agent].reader else "pgrecall_agent"

    def _expected(self, agent: str, road: str) -> list[str]:
        oracle, memories = self.oracle, self.oracle.memories.values()
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
        reader, self.oracle.agents[agent] = self.oracle.agents[agent], Agent()
        try:
            return self._expected(agent, "changes")
        finally:
            self.oracle.agents[agent] = reader

    def check_recall(self, agent: str) -> None:
        """Each leg and both find exactly what may be read; the nearest come in their order."""
        answers = self.recalled(agent, COMMON, 1000)
        expected = self._expected(agent, "memories")
        for road, found, _, degraded in answers:
            assert degraded is None, self.told(f"{agent}, {road}: {degraded}")
            assert sorted(found or []) == sorted(expected), self.told(
                f"{agent}, recall {road}: too much {set(found or []) - set(expected)},"
                f" too little {set(expected) - set(found or [])}"
            )
            if road == "vector":
                distances = [self._distance(entry.split("/")[0]) for entry in found or []]
                assert all(
                    near <= far + 1e-4 for near, far in zip(distances, distances[1:], strict=False)
                ), self.told(f"{agent}: the vector leg's order is not that of the distances")

    def recalled(self, agent: str, query: str, k: int) -> list[tuple[Any, ...]]:
        with self.db.transaction():
            return self.db.execute(
                "select * from public.probe_recall(%s, %s, %s, %s, %s, %s)",
                [agent, self._role(agent), query, k, f"oracle {vector_of(0)}", list(ROADS)],
            ).fetchall()

    def check_ranking(self, agent: str, query: str) -> None:
        """The first few are those of a store that holds nothing but what the agent may read."""
        among_all = self.recalled(agent, query, 5)
        with self.db.transaction(force_rollback=True):
            self.db.execute("select set_config('pgrecall.agent', %s, true)", [agent])
            self.db.execute(
                "delete from pgrecall.memories where not readers && pgrecall.principals()"
            )
            self.db.execute(
                "delete from pgrecall.embeddings where not readers && pgrecall.principals()"
            )
            alone = self.recalled(agent, query, 5)
        assert among_all == alone, self.told(f"{agent}: others' rows move the answer to {query!r}")

    def check_links(self, agent: str) -> None:
        for start in self.oracle.memories.values():
            refused, found = self._act(
                agent, "select array_agg(id::text) from memory.related({}, 2)", start.id
            )
            self.script.pop()
            self._agreed(refused, None if self.oracle.reads(agent, start) else UNKNOWN)
            if refused is None:
                expected = self.oracle.linked(agent, start, 2)
                assert set(found or []) == expected, self.told(f"{agent}: related({start.id})")

    def check_events(self, agent: str) -> None:
        """One's own, and all of what one administers: spaces, or the deployment."""
        known = self.db.execute("select space, agent, sequence from pgrecall.events").fetchall()
        oracle = self.oracle
        expected = [
            event
            for event in known
            if agent == event[1]
            or oracle.role(agent, event[0]) == "admin"
            or oracle.agents[agent].admin
        ]
        with self.db.transaction():
            self.db.execute(
                "select set_config('pgrecall.agent', %s, true), set_config('role', %s, true)",
                [agent, self._role(agent)],
            )
            found = self.db.execute("select space, agent, sequence from memory.events").fetchall()
        assert sorted(found) == sorted(expected), self.told(f"{agent}: events")

    def _distance(self, identity: str) -> float:
        number = _number(self.oracle.memories[identity])
        return _cosine_distance(_components(0), _components(number))


def _number(memory: Memory) -> int:
    return int(memory.content.rsplit("n", 1)[1])


def _components(number: int) -> Sequence[int]:
    return [1 + number % 7, 1 + number * 5 % 11, 1 + number * 3 % 13, 1 + number * 7 % 5]


def vector_of(number: int) -> str:
    """The vector of the so-many-th text; of 0, the question's. Whole numbers: exact as halves."""
    return f"[{','.join(map(str, _components(number)))}]"


def _cosine_distance(a: Sequence[int], b: Sequence[int]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return 1 - dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
