"""No act of a writer, a delegate or an eraser confirms a guess about what others keep back."""

from __future__ import annotations

import psycopg
import pytest

from tests.store.conftest import SECRET

GUESSES = (SECRET, "the alarm code of the warehouse is 4712")


async def outcome(login, statement: str, *arguments: object) -> str | None:
    """The SQLSTATE of an act that is taken back, as a guesser would."""
    try:
        async with login.sql.transaction(force_rollback=True):
            await login.sql.execute(statement, arguments)
    except psycopg.Error as error:
        return error.sqlstate
    return None


async def kept(login, **fields: object) -> str:
    named = ", ".join(f"{name} => %({name})s" for name in fields)
    answer = await login.sql.execute(f"select remember({named})", fields)
    ((identity,),) = await answer.fetchall()
    return identity


async def test_a_writer_learns_nothing_by_making_anothers_memory_private(scene):
    shared = await kept(
        scene.ada, content="for all", space=scene.space, entity="warehouse", thread="locks"
    )
    told = {
        await outcome(
            scene.eve,
            "select memory.revise(%s, content => %s, key => %s, visibility => 'private')",
            *(shared, guess, key),
        )
        for guess in GUESSES
        for key in ("alarm", "nothing")
    }
    assert told == {"42501"}


@pytest.mark.parametrize("permission", ["write", "share"])
async def test_a_delegate_learns_nothing_of_the_owners_other_memories(scene, permission):
    other = await kept(
        scene.ada,
        content="lend me",
        space=scene.space,
        visibility="private",
        entity="warehouse",
        thread="locks",
    )
    await kept(scene.ada, content="no key", space=scene.space, visibility="private")
    grant = "select memory.share(%s, %s, %s)"
    await scene.ada.sql.execute(grant, [other, scene.eve.name, permission])

    for column, values in {
        "content": ("no key", "never said"),
        "key": ("alarm", "nothing"),
        "title": ("code", "other"),
        "visibility": ("shared", "public"),
    }.items():
        statement = f"select memory.revise(%s, {column} => %s)"
        told = {await outcome(scene.eve, statement, other, value) for value in values}
        assert len(told) == 1, (column, told)
        assert "23505" not in told, column


async def test_bringing_a_private_memory_back_tells_a_delegate_nothing(scene):
    """Whether its owner has written one anew under its key since it was archived."""
    statement = "select memory.restore(%s)"
    grant = "select memory.share(%s, %s, 'write')"
    await scene.ada.sql.execute(grant, [scene.secret, scene.eve.name])
    await scene.eve.sql.execute("select memory.forget(%s)", [scene.secret])

    before = await outcome(scene.eve, statement, scene.secret)
    await kept(
        scene.ada, content="changed it", space=scene.space, visibility="private", key="alarm"
    )
    assert await outcome(scene.eve, statement, scene.secret) == before == "42501"


async def test_an_erasure_counts_no_query_that_others_asked(scene, pool):
    """Else who writes a guess down and has its erasure previewed learns who asked it."""
    for question in GUESSES[:1]:
        await scene.ada.sql.execute("select * from recall(%s)", [question])
    await pool.execute("select pgrecall.collect_recalls()")
    counted = []
    for guess in GUESSES:
        guessed = await kept(scene.eve, content=guess, space=scene.space)
        answer = await scene.eve.sql.execute(
            "select * from memory.erase(array[%s::uuid], preview => true)", [guessed]
        )
        counted.append(await answer.fetchall())
        await scene.eve.sql.execute("select memory.forget(%s, 'erase')", [guessed])

    assert counted[0] == counted[1]
    log = await scene.ada.sql.execute("select query from memory.recall_log")
    assert await log.fetchall() == [(SECRET,)]


async def test_no_word_of_a_refusal_differs_with_what_others_have(scene):
    """Remembering under each key and in each words that ada has, and that nobody has."""
    statement = (
        "select remember(%s, space => %s, visibility => %s, key => %s, entity => 'warehouse',"
        " thread => 'locks')"
    )
    for visibility in ("private", "shared", "public"):
        told = {
            await outcome(scene.eve, statement, guess, scene.space, visibility, key)
            for guess in GUESSES
            for key in ("alarm", "nothing", None)
        }
        assert told == {None}, visibility
