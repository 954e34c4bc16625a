"""Every road of change appends to the log, and the catalog shows that none is missed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
import httpx
import pytest
from mcp import Client

from mcp_server import Caller, create_server
from rest import create_app
from sql import agents, loader
from sql.acting import acting
from sql.agents import Agent, add_agent, find_agent
from sql.entities import add_alias, remove_alias
from sql.maintenance import maintain
from sql.records import NewMemory
from sql.store import MemoryStore

# Public functions that may write, and change nothing that the log tells of.
READS = {
    "recall": "what was asked stands in the recall log",
    "explain_recall": "what was asked stands in the recall log",
}
# Tables that hold no change of a memory, an agent or a space.
KEPT_BESIDE = {
    "events": "the log",
    "chain_heads": "the log",
    "embedding_models": "made from memories, and made anew from them",
    "embeddings": "made from memories, and made anew from them",
    "embedding_queue": "what waits for an embedding",
    "query_embeddings": "a cache",
    "languages": "which languages are in use, for queries",
    "shares": "statistics",
    "usage": "counts of answers, no change",
    "recall_log": "a log of its own",
    "recall_spool": "a log of its own, on its way",
    "upkeep": "what the next maintenance has to do",
    "notice_keys": "a secret of the server's own",
    "idempotency_keys": "what a request has done already",
    "migrations": "what was applied to the database",
    "functions": "what was applied to the database",
}
# Statements of Python that write to other tables, each beside one that appends: see ROADS.
NAMED_QUERIES = {
    ("agents", name)
    for name in (
        *("add_agent", "add_token", "expire_tokens", "remove_agent"),
        *("remove_sql_login", "set_sql_login"),
    )
} | {("agents", "agent_for_token")}  # notes when a token was used last: no change


@dataclass(frozen=True, slots=True)
class World:
    pool: asyncpg.Pool
    store: MemoryStore
    agent: Agent
    token: str

    async def sql(self, statement: str, *arguments: object) -> object:
        async with acting(self.pool, self.agent) as connection:
            return await connection.fetchval(statement, *arguments)

    async def remember(self, content: str, **fields: object) -> object:
        return (await self.store.remember(self.agent, NewMemory(content=content, **fields))).id

    def rest(self) -> httpx.AsyncClient:
        app = create_app(self.store, self.pool, version="0")
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1:8499",
            headers={"Authorization": f"Bearer {self.token}"},
        )

    def mcp(self) -> Client:
        async def caller(_: object) -> Caller:
            return Caller(self.store, self.pool, self.agent)

        return Client(create_server(caller, version="0", groups=["core", "self", "admin"]))


Road = Callable[[World], Awaitable[object]]


async def _forget(world: World, how: str) -> None:
    identity = await world.remember("to be forgotten", key="fading")
    await world.sql("select memory.forget($1, $2)", identity, how)


async def _link(world: World) -> None:
    first, second = await world.remember("one"), await world.remember("two")
    await world.sql("select memory.link($1, $2, 'about')", first, second)
    await world.sql("select memory.unlink($1, $2, 'about')", first, second)


async def _view(world: World) -> None:
    await world.sql("insert into memory.memories (content) values ('typed') returning id")
    await world.sql("delete from memory.memories where content = 'typed'")


async def _revise(world: World) -> None:
    identity = await world.remember("first")
    await world.sql("select memory.revise($1, content => 'second')", identity)
    await world.sql("select memory.forget_version($1, 1)", identity)
    await world.sql("select memory.forget($1)", identity)
    await world.sql("select memory.restore($1)", identity)


async def _erase(world: World) -> None:
    await world.remember("one", tags=["customer 7"])
    await world.remember("two", tags=["customer 7"])
    await world.sql("select count(*) from memory.erase(tag => 'customer 7', preview => true)")
    await world.sql("select count(*) from memory.erase(tag => 'customer 7')")


async def _share(world: World) -> None:
    identity = await world.remember("for a friend")
    await world.sql("select memory.share($1, 'friend')", identity)
    await world.sql("select memory.unshare($1, 'friend')", identity)
    delegation = await world.sql("select memory.delegate('friend', 'read')")
    await world.sql("select memory.revoke_delegation($1)", delegation)


async def _members(world: World) -> None:
    await world.sql("select memory.create_space('crew')")
    await world.sql("select memory.add_member('crew', 'friend', 'writer')")
    await world.sql("select memory.remove_member('crew', 'friend')")


async def _expire(world: World) -> None:
    await world.remember("gone soon", ttl=timedelta(milliseconds=1))
    await world.pool.execute("select pg_sleep(0.01)")
    await maintain(world.pool)


async def _expire_by_writing(world: World) -> None:
    await world.remember("gone soon", key="k", ttl=timedelta(milliseconds=1))
    await world.pool.execute("select pg_sleep(0.01)")
    await world.remember("there anew", key="k")


async def _resolve(world: World) -> None:
    first, second = [await world.remember(f"port {n}", entity="e") for n in (1, 2)]
    await world.sql("select count(*) from memory.resolve($1, 'both')", [first, second])
    await world.sql("select count(*) from memory.resolve($1, 'merge', 'port 3')", [first, second])


async def _consolidate(world: World) -> None:
    ids = [await world.remember(f"note {n}") for n in (1, 2)]
    await world.sql("select memory.consolidate($1, 'two notes')", ids)


async def _session(world: World) -> None:
    session = await world.sql("select memory.start_session()")
    await world.sql("select memory.end_session($1)", session)


async def _alias(world: World) -> None:
    await add_alias(world.pool, world.agent, "Kubernetes", "k8s")
    await remove_alias(world.pool, world.agent, "k8s")


async def _rest(world: World) -> None:
    async with world.rest() as client:
        for path, body in (
            ("/v1/memories", {"content": "over REST"}),
            ("/v1/memories/batch", {"memories": [{"content": "first"}, {"content": "second"}]}),
            ("/v1/aliases", {"entity": "Kubernetes", "alias": "k8s"}),
        ):
            assert (await client.post(path, json=body)).status_code == 201
        headers = {"Idempotency-Key": "once"}
        for _ in range(2):
            await client.post("/v1/memories", json={"content": "once"}, headers=headers)
        assert (await client.delete("/v1/aliases/k8s")).status_code == 204


async def _mcp(world: World) -> None:
    async with world.mcp() as client:
        await client.call_tool("remember", {"content": "over MCP", "key": "k"})
        await client.call_tool("remember", {"content": "over MCP again", "key": "k"})
        await client.call_tool("alias", {"entity": "Kubernetes", "alias": "k8s"})


async def _agent(world: World) -> None:
    await add_agent(world.pool, "newcomer", spaces=["crew"])
    await agents.rotate(world.pool, "newcomer")
    await agents.remove(world.pool, "newcomer")


ROADS: dict[str, tuple[Road, list[str]]] = {
    "remember": (lambda w: w.sql("select memory.remember('x')"), ["remember"]),
    "a new space": (
        lambda w: w.sql("select memory.remember('x', space => 'new')"),
        ["create_space", "remember"],
    ),
    "remember_many": (
        lambda w: w.sql("""select memory.remember_many('[{"content": "x"}, {"content": "y"}]')"""),
        ["remember", "remember"],
    ),
    "archive": (lambda w: _forget(w, "archive"), ["remember", "archive"]),
    "delete": (lambda w: _forget(w, "delete"), ["remember", "delete"]),
    "erase": (lambda w: _forget(w, "erase"), ["remember", "erase"]),
    "link": (_link, ["remember", "remember", "link", "unlink"]),
    "revise, forget_version, restore": (
        _revise,
        ["remember", "revise", "erase", "archive", "restore"],
    ),
    "erase by tag": (_erase, ["remember", "remember", "erase", "erase"]),
    "shares and delegations": (
        _share,
        ["remember", "share", "unshare", "delegate", "revoke_delegation"],
    ),
    "spaces and members": (_members, ["create_space", "add_member", "remove_member"]),
    "the view memories": (_view, ["remember", "archive"]),
    "expiry by maintenance": (_expire, ["remember", "expire"]),
    "expiry by the next writer": (_expire_by_writing, ["remember", "expire", "remember"]),
    "resolve": (_resolve, ["remember", "remember", "link", "link", "archive", "revise"]),
    "consolidate": (
        _consolidate,
        [*("remember", "remember", "remember"), *("link", "archive", "link", "archive")],
    ),
    "sessions": (_session, ["start_session", "end_session"]),
    "aliases": (_alias, ["alias", "unalias"]),
    "REST": (_rest, ["remember", "remember", "remember", "alias", "remember", "unalias"]),
    "MCP": (_mcp, ["remember", "revise", "alias"]),
    "agents and their secrets": (
        _agent,
        [
            *("add_agent", "create_space", "join_space", "create_space", "join_space"),
            *("add_token", "expire_tokens", "add_token"),
            *("leave_space", "leave_space", "remove_agent"),
        ],
    ),
}


@pytest.fixture
async def world(pool: asyncpg.Pool, store: MemoryStore) -> World:
    secrets = await add_agent(pool, "ada")
    await add_agent(pool, "friend")
    return World(pool, store, await find_agent(pool, "ada"), secrets.token)


@pytest.mark.parametrize("name", ROADS)
async def test_a_road_of_change_appends_what_it_did(name, world):
    road, actions = ROADS[name]
    before = await world.pool.fetchval("select clock_timestamp()")

    await road(world)

    rows = await world.pool.fetch(
        "select action from pgrecall.events where at > $1 order by at", before
    )
    assert [row["action"] for row in rows] == actions


async def test_what_changes_nothing_appends_nothing(world):
    await world.remember("said already", key="k")
    before = await world.pool.fetchval("select count(*) from pgrecall.events")

    await world.remember("said already", key="k")
    await world.sql("select count(*) from memory.recall('said')")
    await maintain(world.pool)
    with pytest.raises(Exception, match="no memory"):
        await world.sql("select memory.forget(gen_random_uuid())")

    assert await world.pool.fetchval("select count(*) from pgrecall.events") == before


async def functions(pool: asyncpg.Pool) -> dict[str, tuple[str, str]]:
    """Volatility and text of each of our functions, by its name with the schema."""
    rows = await pool.fetch(
        "select n.nspname || '.' || p.proname as name, p.provolatile::text as volatility,"
        " coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as text"
        " from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where n.nspname in ('memory', 'pgrecall')"
    )
    return {row["name"]: (row["volatility"], row["text"]) for row in rows}


def calls(text: str) -> set[str]:
    return set(re.findall(r"\b(?:memory|pgrecall)\.\w+(?=\()", text))


def appending(known: dict[str, tuple[str, str]]) -> set[str]:
    """The functions that append, by themselves or by what they call."""
    found = {"pgrecall.append_event", "pgrecall.append_remembered"}
    while more := {name for name, (_, text) in known.items() if calls(text) & found} - found:
        found |= more
    return found


def written(text: str) -> set[str]:
    tables = re.findall(r"(?:insert into|update|delete from)\s+pgrecall\.(\w+)", text)
    return set(tables) - KEPT_BESIDE.keys()


async def test_every_public_function_that_may_write_appends_or_is_known_to_read(pool):
    known = await functions(pool)
    public = {
        name
        for name, (volatility, _) in known.items()
        if name.startswith("memory.") and volatility == "v"
    }
    assert "memory.remember" in public
    assert public - appending(known) - {f"memory.{name}" for name in READS} == set()


async def test_every_function_that_writes_appends_or_is_called_by_none_that_does_not(pool):
    known = await functions(pool)
    appends = appending(known)
    silent = {name for name, (_, text) in known.items() if written(text)} - appends
    callers = {
        writer: {name for name, (_, text) in known.items() if writer in calls(text)}
        for writer in silent
    }

    # Above those that only callers may vouch for stand callers, and each of them appends.
    while more := set().union(*callers.values()) - appends - callers.keys():
        callers |= {
            one: {name for name, (_, text) in known.items() if one in calls(text)} for one in more
        }
    assert {name for name, above in callers.items() if not above} == set()


def test_no_statement_of_python_writes_past_the_log():
    subjects = [path.name.removesuffix(".sql") for path in (loader._ROOT / "queries").iterdir()]
    found = {
        (subject, name)
        for subject in subjects
        for name, text in loader.queries(subject).items()
        if written(text)
    }
    assert found == NAMED_QUERIES
