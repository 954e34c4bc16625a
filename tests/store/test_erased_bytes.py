"""After an erasure no file of the database holds a byte of what was erased."""

from __future__ import annotations

import os
from pathlib import Path

import asyncpg
import pytest

from embedding.backfill import Backfill
from sql.idempotency import remember_once
from sql.links import NewLink, link
from sql.maintenance import maintain
from sql.records import NewMemory, RecallQuery
from sql.revisions import Revision, revise

# One word for each place in which a memory's words, or words about it, can be.
MARKERS = {
    place: f"zq{place}marker"
    for place in (
        *("content", "revised", "title", "tag", "metadata", "entity", "key", "source"),
        *("thread", "relation", "query", "asked", "large", "derived", "keyed"),
    )
}


@pytest.fixture
async def superuser(database):
    connection = await asyncpg.connect(database.superuser_dsn)
    yield connection
    await connection.close()


async def files_with(superuser: asyncpg.Connection, needles: dict[str, bytes]) -> set[str]:
    """Which of the needles any file of the database holds."""
    await superuser.execute("checkpoint")
    folder = Path(await superuser.fetchval("show data_directory")) / "base"
    oid = await superuser.fetchval("select oid from pg_database where datname = current_database()")
    held: set[str] = set()
    for file in (folder / str(oid)).iterdir():
        content = file.read_bytes().lower()
        held |= {name for name, needle in needles.items() if needle.lower() in content}
    return held


def incompressible(marker: str) -> str:
    """A text too large for its row, that Postgres stores outside of it and can't compress."""
    return f"{marker} {os.urandom(20_000).hex()} {marker}"


async def test_no_file_holds_a_byte_of_what_was_erased(
    database, pool, store, ada, embedder, superuser
):
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    for number in range(30):
        await store.remember(ada, NewMemory(content=f"stays {number}", thread="kept"))
    m = MARKERS
    memory = await store.remember(
        ada,
        NewMemory(
            content=f"{m['content']} lives here",
            title=m["title"],
            tags=[m["tag"], "subject:42"],
            metadata={"note": m["metadata"]},
            entity=m["entity"],
            key=m["key"],
            source=m["source"],
            thread="kept",
        ),
    )
    await backfill.drain()
    vector = await pool.fetchval(
        "select public.halfvec_send(coalesce(own, embedding)) from pgrecall.embeddings"
        " where id = $1",
        memory.id,
    )
    await revise(pool, ada, memory.id, Revision(content=f"{m['revised']} lives here"))
    large = await store.remember(
        ada, NewMemory(content=incompressible(m["large"]), tags=["subject:42"], thread=m["thread"])
    )
    await link(pool, ada, large.id, NewLink(target=memory.id, relation=m["relation"]))
    await store.remember(
        ada, NewMemory(content=f"{m['derived']} is a summary", derived_from=[memory.id])
    )
    request = [NewMemory(content=f"{m['keyed']} was sent twice", tags=["subject:42"])]
    await remember_once(pool, ada, "key", request)
    await backfill.drain()
    # A query that it answers, by the store; and one as text that only a log of queries would hold.
    await store.recall(ada, RecallQuery(query=f"where does it live {m['query']}"))
    await pool.execute("select pgrecall.collect_recalls()")
    await store.recall(ada, RecallQuery(query=f"does it live here {m['asked']}"))
    await superuser.execute("analyze")
    needles = {place: marker.encode() for place, marker in m.items()}
    needles["vector"] = swapped(vector)
    # A checkpoint leaves unlogged tables, in which a recall first stands, to memory.
    assert await files_with(superuser, needles) | {"asked"} == needles.keys()

    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("select set_config('pgrecall.agent', 'ada', true)")
        report = await connection.fetch("select * from memory.erase(tag => 'subject:42')")
    assert {row["what"]: row["rows"] for row in report}["memories"] == 4
    await maintain(pool)

    assert await files_with(superuser, needles) == set()
    assert await pool.fetchval("select count(*) from pgrecall.memories") == 30


def swapped(sent: bytes) -> bytes:
    """The components of a halfvec as a little-endian machine keeps them."""
    components = sent[4:]
    return b"".join(components[i : i + 2][::-1] for i in range(0, len(components), 2))
