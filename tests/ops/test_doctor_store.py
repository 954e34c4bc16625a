"""The doctor looks into a migrated store: its indexes, its dead rows, its nearest vectors."""

from __future__ import annotations

import asyncpg
import pytest

from pgrecall.store_checks import check_store
from tests.conftest import Database

FILL = """
with told as (
    insert into pgrecall.memories (space, id, version, agent, kind, visibility, readers, content,
        tags, importance, confidence, pinned, metadata, created_at, identity_hash, salt)
    select 's', pgrecall.new_id(), 1, 'ada', 'semantic', 'private', '{agent:ada}', 'note ' || n,
        '{}', 0.5, 0.8, false, '{}', now(), int4send(n), ''
    from generate_series(1, 3000) n returning id
)
insert into pgrecall.embeddings (space, id, version, model, chunk, head, readers, embedding)
select 's', id, 1, 'tiny', 0, true, '{agent:ada}',
    array(select random() - 0.5 + length(id::text) * 0
        from generate_series(1, 8))::real[]::public.halfvec
from told
"""  # fmt: skip


@pytest.fixture
async def filled(pool: asyncpg.Pool) -> asyncpg.Pool:
    await pool.execute("insert into pgrecall.embedding_models values ('tiny', 8, true)")
    await pool.execute(FILL)
    await pool.execute("select pgrecall.use_embedding_model('tiny', 8)")
    return pool


async def told(database: Database) -> dict[str, tuple[str, str | None]]:
    return {check.label: (check.outcome, check.remedy) for check in await check_store(database.dsn)}


async def test_an_empty_database_has_nothing_to_tell(empty_database: Database) -> None:
    assert await check_store(empty_database.dsn) == []


async def test_a_sound_store_passes_with_its_figures(
    database: Database, filled: asyncpg.Pool
) -> None:
    findings = await told(database)

    assert {outcome for outcome, _ in findings.values()} == {"ok"}
    [recall] = [label for label in findings if label.startswith("vector index finds ")]
    assert float(recall.split()[3]) >= 0.95
    assert any(label.startswith("index use: ") for label in findings)


async def test_dead_rows_are_told_with_the_vacuum(database: Database, filled: asyncpg.Pool) -> None:
    async with filled.acquire() as connection:
        await connection.execute("update pgrecall.memories set pinned = true")
        await connection.execute("select pg_stat_force_next_flush()")

    assert ("advice", "VACUUM (ANALYZE) pgrecall.memories;") in (await told(database)).values()


async def test_a_missing_or_broken_index_is_told(database: Database, filled: asyncpg.Pool) -> None:
    await filled.execute("drop index pgrecall.embeddings_tiny")
    superuser = await asyncpg.connect(database.superuser_dsn)
    await superuser.execute(
        "update pg_index set indisvalid = false"
        " where indexrelid = 'pgrecall.memories_tags'::regclass"
    )
    await superuser.close()

    findings = await told(database)

    assert findings["no vector index of model tiny"][0] == "failed"
    assert findings["indexes not valid: memories_tags"] == (
        "failed",
        "REINDEX INDEX CONCURRENTLY pgrecall.memories_tags;",
    )
