"""What was archived, has expired or was deleted, brought back."""

from datetime import timedelta

import pytest

from sql.errors import Conflict, NotFound
from sql.records import NewMemory
from sql.revisions import Revision, revise
from tests.store.conftest import contents


async def test_an_archived_memory_comes_back_as_it_was(remember, change, recall, embed, as_agent):
    memory = await remember("The old wiki has moved", thread="t")
    await embed()
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)

    back = await change(memory, expected=[1], archived=False)

    assert (back.version, back.content) == (1, "The old wiki has moved")
    assert contents(await recall("wiki", mode="lexical")) == ["The old wiki has moved"]
    assert contents(await recall("wiki", mode="vector")) == ["The old wiki has moved"]


async def test_an_expired_memory_comes_back_as_a_version_without_an_end(
    remember, change, recall, pool
):
    memory = await remember("The old wiki has moved", ttl=timedelta(hours=1))
    await pool.execute("update pgrecall.memories set expires_at = now() - interval '1 hour'")

    back = await change(memory, archived=False)

    assert (back.version, back.expires_at) == (2, None)
    assert contents(await recall("wiki")) == ["The old wiki has moved"]


async def test_a_deleted_memory_is_brought_back_by_the_spaces_admin_alone(
    store, remember, add_agent, as_agent, pool, ada
):
    bob = await add_agent("bob", spaces=["infra"])
    await remember("ada made this space", space="apollo")
    await pool.execute("select pgrecall.add_member('apollo', 'bob', 'writer')")
    memory = await store.remember(bob, NewMemory(content="Lift-off is in May", space="apollo"))
    async with as_agent("bob") as connection:
        await connection.execute("select forget($1, 'delete')", memory.id)

    with pytest.raises(NotFound):
        await revise(pool, bob, memory.id, Revision(), archived=False)
    back = await revise(pool, ada, memory.id, Revision(), archived=False)

    assert back.agent == "bob"
    assert (await store.get(bob, memory.id)).content == "Lift-off is in May"


async def test_a_memory_cant_come_back_beside_another_in_its_words(remember, change, as_agent):
    memory = await remember("The old wiki has moved")
    async with as_agent("ada") as connection:
        await connection.execute("select forget($1)", memory.id)
    await remember("The old wiki has moved")

    with pytest.raises(Conflict, match="stands with the words or the key"):
        await change(memory, archived=False)
