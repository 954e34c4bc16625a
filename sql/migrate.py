"""Brings a database to this version: roles and schemas, migrations, then functions and views."""

from __future__ import annotations

import asyncio

import asyncpg
import structlog

from sql import loader
from sql.errors import StoreError, translated

log = structlog.get_logger(__name__)

# One migrating process at a time, whatever starts at once. "pgrecall" in ASCII, as a bigint.
_LOCK = int.from_bytes(b"pgrecall", "big")
_LOCK_POLL_SECONDS = 0.1
_HOLDING_AGENT = """
select a.pid, a.usename from pg_locks l join pg_stat_activity a using (pid)
where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = $1
    and (
        select bool_or(g.roleid::regrole::text in ('pgrecall_agent', 'pgrecall_reader'))
            -- Whoever migrates made these roles, and belongs to all of them.
            and not bool_or(g.roleid::regrole::text = 'pgrecall_owner')
        from pg_auth_members g where g.member = a.usesysid)
"""


class MigrationError(StoreError):
    """The database can't be brought to this version; nothing of the failing step was kept."""


async def migrate(dsn: str) -> list[str]:
    """Migrate the database as the role of the DSN; return the names of the files applied, in order.

    Raises MigrationError when a landed migration was edited, when the database is of a newer
    version, or when the extension is missing; Unavailable when the database can't be reached.
    """
    with translated():
        connection = await asyncpg.connect(dsn, statement_cache_size=0)
        try:
            await _wait_for_turn(connection)
            return await _migrate(connection)
        finally:
            await connection.close()


async def pending(dsn: str) -> list[str]:
    """Return the names of migrations that the database has not had yet; all, where it is new."""
    with translated():
        connection = await asyncpg.connect(dsn, statement_cache_size=0)
        try:
            known = await connection.fetchval("select to_regclass('pgrecall.migrations')")
            applied = await _recorded(connection, "migrations") if known else {}
        finally:
            await connection.close()
    return [script.name for script in loader.scripts("migrations") if script.name not in applied]


async def _migrate(connection: asyncpg.Connection) -> list[str]:
    await _require_extension(connection)
    await connection.execute(loader.script("bootstrap.sql").text)
    await connection.execute("set role pgrecall_owner")
    done = await _apply_migrations(connection)
    done += await _apply_definitions(connection, "functions")
    done += await _apply_definitions(connection, "views")
    await _let_agents_connect(connection)
    if done:
        log.info("migrated", files=len(done))
    return done


async def _wait_for_turn(connection: asyncpg.Connection) -> None:
    """Take the lock; raises MigrationError where an agent holds it, who could do so for ever."""
    while not await connection.fetchval("select pg_try_advisory_lock($1)", _LOCK):
        holder = await connection.fetchrow(_HOLDING_AGENT, _LOCK)
        if holder is not None:
            raise MigrationError(
                f'agent "{holder["usename"]}" holds the lock of migrations',
                sqlstate="55P03",
                hint=f"End its session: SELECT pg_terminate_backend({holder['pid']});",
            )
        await asyncio.sleep(_LOCK_POLL_SECONDS)


async def _require_extension(connection: asyncpg.Connection) -> None:
    schema = await connection.fetchval(
        "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
        " where e.extname = 'vector'"
    )
    if schema is None:
        try:
            await connection.execute("create extension vector schema public")
        except asyncpg.PostgresError as error:
            raise MigrationError(
                "the extension vector is missing and this role can't create it",
                sqlstate="0A000",
                detail=str(error),
                hint="As a superuser, in this database: CREATE EXTENSION vector SCHEMA public;",
            ) from error
    elif schema != "public":
        raise MigrationError(
            f"the extension vector stands in schema {schema}, and pgrecall looks for it in public",
            sqlstate="0A000",
            hint="ALTER EXTENSION vector SET SCHEMA public;",
        )


async def _apply_migrations(connection: asyncpg.Connection) -> list[str]:
    applied = await _recorded(connection, "migrations")
    shipped = {script.name: script for script in loader.scripts("migrations")}
    if unknown := sorted(applied.keys() - shipped.keys()):
        raise MigrationError(
            f"the database has had {unknown[-1]}, which this version does not know",
            hint="It was migrated by a newer pgrecall: use that one.",
        )
    for name, sha256 in applied.items():
        if shipped[name].sha256 != sha256:
            raise MigrationError(
                f"{name} was edited after it had been applied here",
                hint="Put the file back as it was, and make the change in a new migration.",
            )
    fresh = [script for name, script in shipped.items() if name not in applied]
    for script in fresh:
        async with connection.transaction():
            await _run(connection, script)
            await _record(connection, "migrations", script)
    return [script.name for script in fresh]


async def _apply_definitions(connection: asyncpg.Connection, folder: loader.Folder) -> list[str]:
    """Re-apply the changed files in one transaction, so that no mix of them is ever seen."""
    applied = await _recorded(connection, "functions")
    shipped = loader.scripts(folder)
    changed = [script for script in shipped if applied.get(script.name) != script.sha256]
    async with connection.transaction():
        # Bodies may name functions of files that come later.
        await connection.execute("set local check_function_bodies = off")
        # Loads the library: Postgres must know the hnsw settings that functions carry.
        await connection.execute("select '[1]'::public.vector")
        for script in changed:
            if folder == "functions":
                await _drop_other_signatures(connection, script)
            await _run(connection, script)
            await _record(connection, "functions", script)
    return [script.name for script in changed]


async def _drop_other_signatures(connection: asyncpg.Connection, script: loader.Script) -> None:
    """Drop the function as it stands if the new file would leave a second one, or can't replace it.

    Postgres keeps a function of another signature beside the new one, and refuses another result.
    """
    schema, name = script.name.removesuffix(".sql").split(".")
    standing = await connection.fetch(
        "select p.oid::regprocedure::text as identity from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and p.proname = $2",
        schema,
        name,
    )
    if not standing:
        return
    try:
        async with connection.transaction():
            await connection.execute(script.text)
            after = await connection.fetchval(
                "select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
                " where n.nspname = $1 and p.proname = $2",
                schema,
                name,
            )
        replaced = after == len(standing)
    except (asyncpg.InvalidFunctionDefinitionError, asyncpg.AmbiguousFunctionError):
        replaced = False
    if not replaced:
        for row in standing:
            await connection.execute(f"drop function {row['identity']}")


async def _run(connection: asyncpg.Connection, script: loader.Script) -> None:
    try:
        await connection.execute(script.text)
    except asyncpg.PostgresError as error:
        raise MigrationError(
            f"{script.name} failed: {error}",
            sqlstate=error.sqlstate or "XX000",
            detail=error.detail,
        ) from error


async def _let_agents_connect(connection: asyncpg.Connection) -> None:
    """Give the agents' roles CONNECT, where this role may give it."""
    await connection.execute("reset role")
    await connection.execute(
        "do $$ begin execute format('grant connect, temporary on database %I"
        " to pgrecall_agent, pgrecall_reader', current_database()); end $$"
    )


async def _recorded(connection: asyncpg.Connection, table: str) -> dict[str, str]:
    rows = await connection.fetch(f"select name, sha256 from pgrecall.{table} order by name")  # noqa: S608
    return {row["name"]: row["sha256"] for row in rows}


async def _record(connection: asyncpg.Connection, table: str, script: loader.Script) -> None:
    await connection.execute(
        f"insert into pgrecall.{table} (name, sha256) values ($1, $2)"  # noqa: S608
        " on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()",
        script.name,
        script.sha256,
    )
