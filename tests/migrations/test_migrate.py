"""Migrations: once, in order, never edited, and the same database by every way there."""

import asyncio
import subprocess

import asyncpg
import pytest

from pgrecall.embedded import binaries
from sql import loader, migrate
from sql.migrate import MigrationError


def dump(dsn: str) -> str:
    """The database's schema as pg_dump writes it, without what differs from run to run."""
    pg_dump = str(binaries() / "pg_dump")
    done = subprocess.run(
        [pg_dump, "--schema-only", dsn], check=True, capture_output=True, text=True
    )
    return "\n".join(line for line in done.stdout.splitlines() if "restrict" not in line)


async def test_a_second_migration_applies_nothing(empty_database):
    assert await migrate.pending(empty_database.dsn) == [
        script.name for script in loader.scripts("migrations")
    ]

    first = await migrate.migrate(empty_database.dsn)

    assert "0001_text.sql" in first
    assert "memory.recall.sql" in first
    assert await migrate.pending(empty_database.dsn) == []
    assert await migrate.migrate(empty_database.dsn) == []


async def test_many_processes_that_start_at_once_migrate_once(empty_database):
    done = await asyncio.gather(*(migrate.migrate(empty_database.dsn) for _ in range(5)))

    assert sorted(map(bool, done)) == [False] * 4 + [True]


async def test_an_edited_landed_file_stops_the_start_with_its_name(database):
    async with connected(database.dsn) as connection:
        await connection.execute(
            "update pgrecall.migrations set sha256 = 'x' where name = '0003_memories.sql'"
        )

    with pytest.raises(MigrationError, match=r"0003_memories\.sql was edited"):
        await migrate.migrate(database.dsn)


async def test_a_database_of_a_newer_version_is_left_alone(database):
    async with connected(database.dsn) as connection:
        await connection.execute("insert into pgrecall.migrations values ('9999_future.sql', 'x')")

    with pytest.raises(MigrationError, match=r"9999_future\.sql"):
        await migrate.migrate(database.dsn)


async def test_stepping_through_the_migrations_builds_what_a_fresh_install_builds(
    empty_database, database
):
    async with connected(empty_database.dsn) as connection:
        await connection.execute(loader.script("bootstrap.sql").text)
        await connection.execute("set role pgrecall_owner")
        for script in loader.scripts("migrations")[:-1]:
            await connection.execute(script.text)
            await connection.execute(
                "insert into pgrecall.migrations (name, sha256) values ($1, $2)",
                script.name,
                script.sha256,
            )

    applied = await migrate.migrate(empty_database.dsn)

    assert loader.scripts("migrations")[-1].name in applied
    assert dump(empty_database.dsn) == dump(database.dsn)


async def test_a_changed_function_is_put_back_even_where_its_signature_differs(
    empty_database, database
):
    await migrate.migrate(empty_database.dsn)
    async with connected(empty_database.dsn) as connection:
        await connection.execute(
            """
            drop function pgrecall.frame(text[]);
            create function pgrecall.frame(one text, two text) returns text
            language sql as 'select one || two';
            alter function pgrecall.frame(text, text) owner to pgrecall_owner;
            drop function pgrecall.memory_count();
            create function pgrecall.memory_count() returns text language sql as 'select ''x''';
            alter function pgrecall.memory_count() owner to pgrecall_owner;
            update pgrecall.functions set sha256 = 'older'
            where name in ('pgrecall.frame.sql', 'pgrecall.memory_count.sql');
            """
        )

    applied = await migrate.migrate(empty_database.dsn)

    assert set(applied) == {"pgrecall.frame.sql", "pgrecall.memory_count.sql"}
    assert dump(empty_database.dsn) == dump(database.dsn)


async def test_a_missing_extension_is_said_with_its_remedy(empty_database):
    async with connected(empty_database.superuser_dsn) as connection:
        await connection.execute("drop extension vector")

    with pytest.raises(MigrationError, match="extension vector is missing") as refused:
        await migrate.migrate(empty_database.dsn)

    assert refused.value.hint == (
        "As a superuser, in this database: CREATE EXTENSION vector SCHEMA public;"
    )


class connected:  # noqa: N801 - reads as a function
    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    async def __aenter__(self) -> asyncpg.Connection:
        self.connection = await asyncpg.connect(self.dsn)
        return self.connection

    async def __aexit__(self, *_: object) -> None:
        await self.connection.close()
