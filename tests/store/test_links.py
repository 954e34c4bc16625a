"""Links between memories: who may make them, what is related, and how recall follows them."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from sql.records import NewMemory

Call = Callable[..., Awaitable[Any]]


@pytest.fixture
def link(call) -> Call:
    async def run(source: UUID, target: UUID, relation: str = "see", **who: Any) -> None:
        await call("select memory.link($1, $2, $3)", source, target, relation, **who)

    return run


@pytest.fixture
def unlink(call) -> Call:
    async def run(source: UUID, target: UUID, relation: str | None = "see", **who: Any) -> None:
        await call("select memory.unlink($1, $2, $3)", source, target, relation, **who)

    return run


@pytest.fixture
def related(call) -> Call:
    async def run(memory: UUID, hops: int = 1, **who: Any) -> list[str]:
        rows = await call("select content from memory.related($1, $2)", memory, hops, **who)
        return [row["content"] for row in rows]

    return run


@pytest.fixture
def chain(remember, link) -> Call:
    """`await chain("a", "b", "c")`: memories in infra, each linked to the next; their ids."""

    async def run(*contents: str) -> list[UUID]:
        ids = [(await remember(content, space="infra")).id for content in contents]
        for source, target in pairwise(ids):
            await link(source, target)
        return ids

    return run


async def test_related_follows_links_both_ways_and_the_nearest_come_first(chain, related):
    first, second, *_ = await chain("one", "two", "three", "four")

    assert await related(first) == ["two"]
    assert sorted(await related(second)) == ["one", "three"]
    assert await related(first, 3) == ["two", "three", "four"]


async def test_cycles_end_and_no_memory_is_related_to_itself(chain, link, related):
    first, second, third = await chain("one", "two", "three")
    await link(third, first)
    await link(second, first)

    assert sorted(await related(first, 5)) == ["three", "two"]


async def test_the_same_link_again_is_one_link_and_one_event(chain, link, pool):
    first, second = await chain("one", "two")
    await link(first, second)
    await link(first, second, "contradicts")

    links = await pool.fetch("select relation, agent from pgrecall.links order by relation")
    assert [tuple(row) for row in links] == [("contradicts", "ada"), ("see", "ada")]
    events = await pool.fetch("select id, payload from pgrecall.events where action = 'link'")
    assert [(event["id"], event["payload"]) for event in events] == [
        (first, {"target": str(second)})
    ] * 2


@pytest.mark.parametrize("relation", ["", "  ", None, "x" * 201])
async def test_a_relation_is_1_to_200_characters(chain, link, relation):
    first, second = await chain("one", "two")

    with pytest.raises(asyncpg.InvalidParameterValueError, match="relation must be 1 to 200"):
        await link(first, second, relation)


async def test_a_link_needs_two_memories_that_one_sees(chain, link, remember):
    (first,) = await chain("one")
    nobody = uuid4()

    for ends in ((first, nobody), (nobody, first)):
        with pytest.raises(asyncpg.NoDataFoundError, match=f"no memory {nobody}"):
            await link(*ends)
    with pytest.raises(asyncpg.InvalidParameterValueError, match="can't be linked to itself"):
        await link(first, first)


async def test_a_link_stays_within_a_space(remember, link):
    here, there = await remember("here", space="infra"), await remember("there")

    with pytest.raises(asyncpg.InvalidParameterValueError, match="are in different spaces"):
        await link(here.id, there.id)


async def test_only_who_may_change_the_source_links_it(store, remember, add_agent, link, related):
    shared = await remember("shared", space="infra", visibility="public")
    other = await remember("other", space="infra", visibility="public")
    secret = await remember("secret", space="infra", visibility="private")
    eve = await add_agent("eve")
    bob = await add_agent("bob", spaces=["infra"])

    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="may not change"):
        await link(shared.id, other.id, agent=eve)
    with pytest.raises(asyncpg.NoDataFoundError):
        await link(shared.id, secret.id, agent=bob)
    await link(shared.id, other.id, agent=bob)
    assert await related(shared.id, agent=eve) == ["other"]


async def test_a_reader_sees_links_and_makes_none(remember, add_agent, link, related):
    one, two = await remember("one", space="infra"), await remember("two", space="infra")
    await link(one.id, two.id)
    reader = await add_agent("rita", reader=True, spaces=["infra"])

    assert await related(one.id, agent=reader) == ["two"]
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await link(two.id, one.id, agent=reader)


async def test_no_path_leads_through_a_memory_that_one_does_not_see(
    remember, link, related, add_agent
):
    ends = [await remember(text, space="infra") for text in ("one", "two")]
    secret = await remember("secret", space="infra", visibility="private")
    await link(secret.id, ends[0].id)
    await link(secret.id, ends[1].id)
    bob = await add_agent("bob", spaces=["infra"])

    assert await related(ends[0].id, 2) == ["secret", "two"]
    assert await related(ends[0].id, 5, agent=bob) == []
    with pytest.raises(asyncpg.NoDataFoundError):
        await related(secret.id, agent=bob)


async def test_links_belong_to_the_memory_over_its_versions(remember, link, related):
    one = await remember("port 22", key="port", space="infra")
    two = await remember("bastion", space="infra")
    await link(two.id, one.id)
    await remember("port 49222", key="port", space="infra")

    assert await related(two.id) == ["port 49222"]


@pytest.mark.parametrize("how", ["archive", "delete", "erase"])
async def test_what_is_forgotten_is_related_to_nothing(chain, related, call, how):
    first, second, _ = await chain("one", "two", "three")
    await call("select memory.forget($1, $2)", second, how)

    assert await related(first, 2) == []


@pytest.mark.parametrize("hops", [0, 6, None])
async def test_hops_are_1_to_5(chain, related, hops):
    (first,) = await chain("one")

    with pytest.raises(asyncpg.InvalidParameterValueError, match="hops must be between 1 and 5"):
        await related(first, hops)


async def test_a_memory_with_many_links_gives_all_of_them(store, ada, remember, call, related):
    hub = await remember("hub", space="infra")
    notes = [NewMemory(content=f"note {n}", space="infra") for n in range(250)]
    await store.remember_many(ada, notes)
    await call(
        "select memory.link($1, m.id, 'of') from memory.memories m where m.content like 'note %'",
        hub.id,
    )

    assert len(await related(hub.id)) == 250


GRAPH = [1, 1, 0, 1]


async def test_the_graph_leg_brings_in_what_only_links_lead_to(chain, recall):
    await chain("the bastion host", "its runbook", "who is on call", "lunch menu")

    assert [r.content for r in (await recall("bastion", mode="lexical")).results] == [
        "the bastion host"
    ]
    answer = await recall("bastion", mode="lexical", weights=GRAPH)
    assert [(r.content, r.graph_hops, r.lexical_rank) for r in answer.results] == [
        ("the bastion host", None, 1),
        ("its runbook", 1, None),
        ("who is on call", 2, None),
    ]


async def test_hits_that_are_linked_with_each_other_say_so(chain, recall):
    await chain("bastion host", "bastion runbook")

    answer = await recall("bastion", mode="lexical", weights=GRAPH)
    assert [r.graph_hops for r in answer.results] == [1, 1]


async def test_the_graph_leg_keeps_to_scope_and_readers(
    store, remember, link, recall, add_agent, call
):
    found = await remember("the bastion host", space="infra")
    fact = await remember("a fact", space="infra", tags=["x"])
    secret = await remember("a secret", space="infra", visibility="private", tags=["x"])
    behind = await remember("behind the secret", space="infra", tags=["x"])
    for target in (fact, secret):
        await link(found.id, target.id)
    await link(secret.id, behind.id)
    bob = await add_agent("bob", spaces=["infra"])
    statement = (
        "select content from memory.recall('bastion', mode => 'lexical', weights => '{1,1,0,1}')"
    )

    assert len(await call(statement)) == 4
    rows = await call(statement, agent=bob)
    assert [row["content"] for row in rows] == ["the bastion host", "a fact"]
    assert (await recall("bastion", mode="lexical", weights=GRAPH, tags=["x"])).results == []


async def test_an_unknown_memory_is_refused_also_where_none_is_left(remember, call, related):
    gone = (await remember("gone", space="infra")).id
    await call("select memory.forget($1, 'delete')", gone)
    with pytest.raises(asyncpg.NoDataFoundError):
        await related(uuid4())


async def test_a_link_taken_away_is_followed_no_more_and_the_log_says_so(
    chain, unlink, related, recall, call
):
    host, runbook, _ = await chain("the bastion host", "its runbook", "who is on call")

    await unlink(host, runbook)

    assert await related(host) == []
    assert await related(runbook) == ["who is on call"]
    answer = await recall("bastion", mode="lexical", weights=GRAPH)
    assert [r.content for r in answer.results] == ["the bastion host"]
    told = await call("select id, action, payload, commitment from memory.events order by sequence")
    linked, unlinked = (
        [event for event in told if event["action"] == action and event["id"] == host]
        for action in ("link", "unlink")
    )
    assert unlinked[0]["payload"] == {"target": str(runbook)}
    assert unlinked[0]["commitment"] == linked[0]["commitment"]
    assert all(row["valid"] for row in await call("select valid from memory.verify()"))


async def test_one_link_goes_and_the_others_between_the_same_stay(chain, link, unlink, related):
    one, two = await chain("one", "two")
    await link(one, two, "blocks")
    await link(two, one)

    await unlink(one, two)
    await unlink(one, two, "blocks")
    assert await related(one) == ["two"]
    await unlink(two, one)
    assert await related(one) == []
    await link(one, two)
    assert await related(one) == ["two"]


async def test_whoever_may_link_may_unlink(remember, link, unlink, related, add_agent):
    one, two = await remember("one", space="infra"), await remember("two", space="infra")
    hidden = await remember("hidden", space="infra", visibility="private")
    await link(one.id, two.id)
    await link(one.id, hidden.id)
    bob = await add_agent("bob", spaces=["infra"])
    rita = await add_agent("rita", reader=True, spaces=["infra"])
    eve = await add_agent("eve")

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await unlink(one.id, two.id, agent=rita)
    for agent, target in ((eve, two), (bob, hidden)):
        with pytest.raises(asyncpg.NoDataFoundError):
            await unlink(one.id, target.id, agent=agent)
    assert sorted(await related(one.id)) == ["hidden", "two"]
    await unlink(one.id, two.id, agent=bob)
    assert await related(one.id) == ["hidden"]


async def test_a_share_to_read_does_not_let_one_unlink(
    remember, link, unlink, related, call, add_agent
):
    one, two = await remember("one"), await remember("two")
    await link(one.id, two.id)
    bob = await add_agent("bob")
    for memory in (one, two):
        await call("select memory.share($1, 'bob')", memory.id)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await unlink(one.id, two.id, agent=bob)
    assert await related(one.id) == ["two"]


@pytest.mark.parametrize("relation", ["seen", "", None, "x" * 100_000])
async def test_a_link_that_is_not_there_is_refused_and_logged_nowhere(
    chain, unlink, relation, pool
):
    one, two = await chain("one", "two")
    before = await pool.fetchval("select count(*) from pgrecall.events")

    with pytest.raises(asyncpg.NoDataFoundError, match="no link"):
        await unlink(one, two, relation)
    for ends in ((two, one), (one, one), (one, uuid4()), (uuid4(), one), (one, None), (None, one)):
        with pytest.raises(asyncpg.NoDataFoundError):
            await unlink(*ends)
    assert await pool.fetchval("select count(*) from pgrecall.events") == before
