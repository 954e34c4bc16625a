"""A store and its oracle, moved together: each act is refused by both or by neither.

Every act is also written down as a line of SQL, so that a failing run can be replayed in psql.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg import sql as pgsql

from tests.store.holdings import FORBIDDEN, FOREVER, Agent, Memory, Row
from tests.store.oracle import Oracle

TABLES: Final = (
    *("memories", "embeddings", "embedding_queue", "links", "usage", "recall_log", "events"),
    *("chain_heads", "sessions", "members", "spaces", "agents", "delegations", "memory_shares"),
    *("row_tokens", "entity_aliases", "idempotency_keys", "query_embeddings"),
)
WORDS: Final = ("anchor", "bridge", "copper", "delta", "ember", "falcon", "garnet", "harbor")
# What every memory says, so that a recall of it finds all that may be read.
COMMON: Final = "memo"


class World:
    def __init__(self, dsn: str) -> None:
        self.db = psycopg.connect(dsn, autocommit=True)
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

    def act(self, agent: str, statement: str, *arguments: Any) -> tuple[str | None, Any]:
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

    def agreed(self, refused: str | None, expected: str | None) -> None:
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
        refused, _ = self.act(agent, "select memory.add_member({}, {}, {})", space, who, role)
        self.agreed(refused, self.oracle.add_member(agent, space, who, role))

    def remove_member(self, agent: str, space: str, who: str) -> None:
        refused, _ = self.act(agent, "select memory.remove_member({}, {})", space, who)
        self.agreed(refused, self.oracle.remove_member(agent, space, who))

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
        refused, identity = self.act(
            agent,
            "select memory.remember({}, space => {}, visibility => {}, kind => {},"
            " tags => {}::text[], key => {}, ttl => {}::interval, query_embedding => {})",
            *(content, space, visibility, kind, sorted(tags), key, self._in(ends)),
            f"oracle {vector_of(self._written)}",
        )
        oracle = self.oracle
        if not oracle.may_write_into(agent, space):
            return self.agreed(refused, FORBIDDEN)
        self.agreed(refused, None)
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
        refused, _ = self.act(
            agent,
            "select memory.revise({}, content => {}, visibility => {}, tags => {}::text[],"
            " key => {}, query_embedding => {})",
            *(memory.id, content, visibility, sorted(tags), key),
            f"oracle {vector_of(self._written)}",
        )
        named = memory.key if key is None else key
        self.agreed(refused, self.oracle.revise(agent, memory, visibility, named))
        if refused is None:
            memory.said = self.oracle.shows(agent, memory)
            memory.content, memory.tags, memory.key = content, tags, named
            memory.versions.append(visibility)
            self.oracle.write(agent, memory)

    def restore(self, agent: str, memory: Memory) -> None:
        refused, _ = self.act(agent, "select memory.restore({})", memory.id)
        self.agreed(refused, self.oracle.restore(agent, memory))
        # As the worker would: what was deleted lost its vectors.
        self.db.execute(
            "select pgrecall.store_embeddings(q.space, q.id, q.version, 'oracle', array[%s])"
            " from pgrecall.embedding_queue q where q.id = %s",
            [vector_of(number_of(memory)), memory.id],
        )

    def repeat(self, agent: str, memory: Memory) -> None:
        """Say a memory's words again: the owner's stands already, another's is its own."""
        stands = agent == memory.owner and memory.key is None and self.oracle.answers(memory)
        if not (stands and memory.said) or not self.oracle.may_write_into(agent, memory.space):
            return
        refused, identity = self.act(
            agent,
            "select memory.remember({}, space => {}, visibility => {})",
            *(memory.content, memory.space, memory.visibility),
        )
        self.agreed(refused, None)
        assert str(identity) == memory.id, self.told("a repeat became a memory of its own")

    def forget(self, agent: str, memory: Memory, how: str) -> None:
        refused, _ = self.act(agent, "select memory.forget({}, {})", memory.id, how)
        self.agreed(refused, self.oracle.forget(agent, memory, how))

    def link(self, agent: str, source: Memory, target: Memory) -> None:
        refused, _ = self.act(agent, "select memory.link({}, {}, 'leads to')", source.id, target.id)
        self.agreed(refused, self.oracle.link(agent, source, target))

    # --- shares and delegations

    def share(self, agent: str, memory: Memory, to: str, permission: str, ends: float) -> None:
        refused, _ = self.act(
            agent,
            "select memory.share({}, {}, {}, statement_timestamp() + {}::interval)",
            *(memory.id, to, permission, self._in(ends)),
        )
        self.agreed(refused, self.oracle.share(agent, memory, to, permission, ends))

    def unshare(self, agent: str, memory: Memory, to: str) -> None:
        refused, _ = self.act(agent, "select memory.unshare({}, {})", memory.id, to)
        self.agreed(refused, self.oracle.unshare(agent, memory, to))

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
        refused, delegation = self.act(
            agent,
            "select memory.delegate({}, {}, {}, {}::text[], {}::text[],"
            " statement_timestamp() + {}::interval, {})",
            *(to, permission, space, kinds and sorted(kinds), sorted(tags) or None),
            *(self._in(ends), depth),
        )
        wanted = Row(
            *(0, "", None, agent, agent, to, permission, space, kinds, tags, ends, depth),
        )
        self.agreed(refused, self.oracle.delegate(agent, str(delegation), wanted))

    def revoke(self, agent: str, delegation: str) -> None:
        refused, _ = self.act(agent, "select memory.revoke_delegation({})", delegation)
        self.agreed(refused, self.oracle.revoke(agent, delegation))


def number_of(memory: Memory) -> int:
    return int(memory.content.rsplit("n", 1)[1])


def components(number: int) -> Sequence[int]:
    return [1 + number % 7, 1 + number * 5 % 11, 1 + number * 3 % 13, 1 + number * 7 % 5]


def vector_of(number: int) -> str:
    """The vector of the so-many-th text; of 0, the question's. Whole numbers: exact as halves."""
    return f"[{','.join(map(str, components(number)))}]"
