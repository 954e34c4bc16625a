"""Where a memory comes from: its writer and source, what it was made of, whose words it repeats."""

import json

import pytest

from sql.errors import InvalidInput
from sql.records import NewMemory


@pytest.fixture
def replace_source(as_agent, ada):
    """`await replace_source(record, …)`: the outcomes, of docs/runbook.md."""

    async def call(*records, source="docs/runbook.md"):
        async with as_agent("ada") as connection:
            rows = await connection.fetch(
                "select number, id, version, outcome from replace_source($1, $2)",
                source,
                json.loads(json.dumps(records)),
            )
        return [(row["number"], row["version"], row["outcome"]) for row in rows]

    return call


def section(title: str, content: str, **more: object) -> dict[str, object]:
    return {"title": title, "content": content, **more}


async def standing(pool) -> list[str]:
    rows = await pool.fetch(
        "select content from pgrecall.memories where superseded_at is null"
        " and archived_at is null order by content"
    )
    return [row["content"] for row in rows]


async def test_a_memory_tells_its_writer_its_source_and_what_it_was_made_of(remember, store, ada):
    origin = await remember("Anna lives in Oslo")
    made = await remember(
        "Staff live abroad",
        source="https://crm.example/42",
        metadata={"source_type": "document"},
        derived_from=[origin.id],
    )

    read = await store.get(ada, made.id)
    assert (read.written_by, read.source, read.source_type, read.derived_from) == (
        "ada",
        "https://crm.example/42",
        "document",
        [origin.id],
    )
    assert (origin.written_by, origin.source_type, origin.derived_from) == ("ada", None, None)


@pytest.mark.parametrize("source_type", ["", " ", "x" * 51, 5, None])
async def test_a_source_type_that_is_none_is_refused(remember, source_type):
    with pytest.raises(InvalidInput, match="source_type"):
        await remember("x", metadata={"source_type": source_type})


async def test_origins_that_a_reader_may_not_see_are_not_told(remember, store, add_agent):
    bob = await add_agent("bob", spaces=["infra"])
    private = await remember("Anna lives in Oslo")
    shared = await remember("Oslo rains", space="infra")
    made = await remember("Staff live abroad", space="infra", derived_from=[private.id, shared.id])

    assert made.derived_from == [private.id, shared.id]
    assert (await store.get(bob, made.id)).derived_from == [shared.id]


async def test_recalled_words_written_back_are_known_as_an_echo(remember, store, add_agent):
    bob = await add_agent("bob", spaces=["infra"])
    origin = await remember("Deploys need two reviews.", space="infra", entity="deploys")

    echo = await store.remember(bob, NewMemory(content="  deploys NEED two\n reviews. "))
    batch = await store.remember_many(
        bob, [NewMemory(content=text, thread="t") for text in ("Deploys need two reviews.", "no")]
    )

    assert origin.echo_of is None
    assert echo.echo_of == origin.id
    assert [memory.echo_of for memory in batch] == [origin.id, None]


async def test_words_that_their_writer_cant_see_are_no_echo(remember, store, add_agent):
    bob = await add_agent("bob")
    await remember("Deploys need two reviews")

    assert (
        await store.remember(bob, NewMemory(content="Deploys need two reviews"))
    ).echo_of is None


async def test_the_same_words_of_others_or_in_another_conversation_are_no_echo(remember):
    for one, other in (
        ({"entity": "Ann"}, {"entity": "Ben"}),
        ({"thread": "a"}, {"thread": "b"}),
    ):
        await remember(f"likes {one}", **one)
        assert (await remember(f"likes {one}", **other)).echo_of is None


async def test_a_source_imported_again_revises_adds_and_archives(replace_source, pool):
    first = [section("Start", "Run up"), section("Stop", "Run down"), section("Rest", "Wait")]
    assert await replace_source(*first) == [(1, 1, "created"), (2, 1, "created"), (3, 1, "created")]
    assert await replace_source(*first) == [
        (1, 1, "repeated"),
        (2, 1, "repeated"),
        (3, 1, "repeated"),
    ]

    second = [section("Stop", "Run halt"), section("Begin", "Run up"), section("New", "Dance")]
    assert await replace_source(*second) == [
        (1, 2, "refined"),
        (2, 2, "refined"),
        (3, 1, "created"),
        (None, 1, "archived"),
    ]
    assert await standing(pool) == ["Dance", "Run halt", "Run up"]


async def test_parts_of_one_title_are_matched_in_their_order(replace_source, pool):
    await replace_source(section("T", "one"), section("T", "two"), section("T", "three"))

    outcomes = await replace_source(section("T", "one"), section("T", "2"), section("T", "3"))

    assert outcomes == [(1, 1, "repeated"), (2, 2, "refined"), (3, 2, "refined")]
    assert await standing(pool) == ["2", "3", "one"]


async def test_a_source_leaves_others_memories_and_other_sources_alone(
    replace_source, remember, store, add_agent, pool
):
    bob = await add_agent("bob", spaces=["infra"])
    await store.remember(bob, NewMemory(content="bob's", source="docs/runbook.md"))
    await remember("ada's in infra", source="docs/runbook.md", space="infra")
    await remember("from elsewhere", source="docs/other.md")
    await replace_source(section("T", "one"), section(None, "keyed", key="k"))

    assert await replace_source(section(None, "keyed anew", key="k")) == [
        (1, 2, "refined"),
        (None, 1, "archived"),
    ]
    assert await replace_source() == [(None, 2, "archived")]
    assert await standing(pool) == ["ada's in infra", "bob's", "from elsewhere"]


async def test_a_bad_record_leaves_a_source_as_it_was(replace_source, pool):
    await replace_source(section("T", "one"))

    for records in ([section("T", "two"), section("U", " ")], ["x"], [{"title": "T"}], [{"a": 1}]):
        with pytest.raises(Exception, match=r"content|scalar|no argument"):
            await replace_source(*records)
    with pytest.raises(Exception, match="source must not be blank"):
        await replace_source(section("T", "two"), source=" ")
    assert await standing(pool) == ["one"]


async def test_memories_made_of_each_other_by_hand_are_erased_together_and_it_ends(
    remember, call, pool
):
    one, two = await remember("one", space="infra"), await remember("two", space="infra")
    for memory, origin in ((one, two), (two, one)):
        await call(
            "select memory.revise($1, derived_from => array[$2::uuid])", memory.id, origin.id
        )
        await call("select memory.link($1, $2, 'superseded by')", memory.id, origin.id)
    assert "orphans" not in {row["concern"] for row in await call("select * from memory.health()")}

    rows = await call("select * from memory.erase(ids => array[$1::uuid])", one.id)

    assert {row["what"]: row["rows"] for row in rows}["memories"] == 2
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 0
    assert await pool.fetchval("select count(*) from pgrecall.links") == 0


async def test_memories_that_supersede_each_other_by_hand_can_still_be_settled(remember, call):
    one, two = await remember("one", space="infra"), await remember("two", space="infra")
    for source, target in ((one, two), (two, one)):
        await call("select memory.link($1, $2, 'superseded by')", source.id, target.id)

    rows = await call("select * from memory.resolve($1)", [one.id, two.id])
    assert {row["id"]: row["outcome"] for row in rows} == {one.id: "archived", two.id: "kept"}
    await call("select memory.restore($1)", one.id)
    rows = await call("select * from memory.resolve($1)", [one.id, two.id])
    assert len(rows) == 2
