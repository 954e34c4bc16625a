"""`history`, `forget`, `erase`, `scrub` and `health`: what became of memories, and what may."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from pgrecall.commands.options import (
    AgentOption,
    AsJson,
    DatabaseUrl,
    StateDir,
    checked,
    settings_of,
)
from pgrecall.console import err, say, say_json

if TYPE_CHECKING:
    from sql.erasing import ErasureReport
    from sql.scrubbing import Scrubbed
    from sql.tidying import HealthReport

Id = Annotated[str, typer.Argument(help="The memory's id.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(history)
    app.command()(forget)
    app.command()(erase)
    app.command()(scrub)
    app.command()(health)


def history(
    id: Id,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Tell every version of a memory, oldest first."""
    settings = settings_of(state_dir, database_url)

    async def run() -> Any:
        from pgrecall.client import memory_client
        from sql.forgetting import Forget

        wanted = checked(Forget, {"id": id})
        async with memory_client(settings, agent) as client:
            return await client.history(wanted.id)

    found = asyncio.run(run())
    if as_json:
        say_json(found.model_dump(mode="json")["versions"])
        return
    for version in found.versions:
        when = f"{version.created_at:%Y-%m-%d %H:%M} by {version.written_by}"
        say(f"[bold]{version.version}.[/] [dim]{escape(when)}[/] {escape(version.title or '')}")
        for line in version.content.splitlines():
            say(f"   {escape(line)}")


def forget(
    id: Id,
    how: Annotated[
        str, typer.Option(help="archive can be undone; delete keeps a trace; erase does not.")
    ] = "archive",
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Forget a memory."""
    settings = settings_of(state_dir, database_url)

    async def run() -> Any:
        from pgrecall.client import memory_client
        from sql.forgetting import Forget

        wanted = checked(Forget, {"id": id, "how": how})
        async with memory_client(settings, agent) as client:
            return await client.forget(wanted)

    forgotten = asyncio.run(run())
    if as_json:
        say_json(forgotten.model_dump(mode="json"))
    else:
        say(escape(forgotten.outcome))


def erase(
    id: Annotated[list[str] | None, typer.Option("--id", help="A memory; repeatable.")] = None,
    space: Annotated[str | None, typer.Option(help="Only in this space.")] = None,
    key: Annotated[str | None, typer.Option()] = None,
    tag: Annotated[str | None, typer.Option(help="Such as a data subject's.")] = None,
    by: Annotated[str | None, typer.Option(help="What this agent wrote.")] = None,
    session: Annotated[str | None, typer.Option(help="What was written in it.")] = None,
    source: Annotated[str | None, typer.Option(help="What comes from it.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only tell what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Erase all that fits every criterion, for good; without --yes it shows what, and asks."""
    settings = settings_of(state_dir, database_url)
    criteria = {"ids": id, "space": space, "key": key, "tag": tag}
    criteria |= {"agent": by, "session": session, "source": source}

    async def run(preview: bool) -> ErasureReport:
        from pgrecall.client import memory_client
        from sql.erasing import Erasure

        wanted = checked(Erasure, criteria | {"preview": preview})
        async with memory_client(settings, agent) as client:
            return await client.erase(wanted)

    if preview or not yes:
        report = asyncio.run(run(preview=True))
        _show(report, as_json and preview)
        if preview or not typer.confirm("Erase it?", err=True):
            return
    _show(asyncio.run(run(preview=False)), as_json)


def scrub(
    table: Annotated[
        list[str] | None, typer.Option(help="Only this one, such as memories; repeatable.")
    ] = None,
    lock_timeout: Annotated[
        int, typer.Option(min=0, help="Seconds to wait for a table's lock; 0: for ever.")
    ] = 10,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Write the database's files anew, so that they hold nothing of what was erased.

    Locks one table at a time while it is written; the vector index is built after that, unlocked.
    """
    settings = settings_of(state_dir, database_url)

    async def run() -> None:
        from pgrecall.database import opened_database
        from sql.pool import create_pool
        from sql.scrubbing import scrub as write_anew

        async with opened_database(settings) as database:
            pool = await create_pool(database.admin_dsn, max_size=1)
            try:
                await write_anew(
                    pool,
                    tables=table or (),
                    lock_timeout_seconds=lock_timeout,
                    vectors_apart=True,
                    told=_tell_scrubbed,
                )
            finally:
                await pool.close()

    asyncio.run(run())
    if not table:
        say("the files hold what stands, and no more; WAL and backups as long as you keep them")


def _tell_scrubbed(done: Scrubbed) -> None:
    before, after = (round(size / 1e6, 1) for size in (done.bytes_before, done.bytes_after))
    err.print(
        f"[dim]{escape(done.table)}: {before} MB to {after} MB,"
        f" locked for {done.locked_seconds:.1f} s[/]"
    )


def health(
    space: Annotated[str | None, typer.Option(help="Only this space.")] = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Tell what could be tidied among the memories: stale, repeated, contradictory, doubtful."""
    settings = settings_of(state_dir, database_url)

    async def run() -> HealthReport:
        from pgrecall.client import memory_client

        async with memory_client(settings, agent) as client:
            return await client.health(space)

    report = asyncio.run(run())
    if as_json:
        say_json(report.model_dump(mode="json")["concerns"])
        return
    for found in report.concerns:
        say(f"[bold]{found.memories:>6}[/] {escape(found.concern)}: {escape(found.advice)}")
        say(f"       [dim]{' '.join(str(one) for one in found.examples)}[/]")
    if not report.concerns:
        err.print("nothing to tidy")


def _show(report: ErasureReport, as_json: bool) -> None:
    if as_json:
        say_json(report.model_dump(mode="json"))
        return
    rows = [row for row in report.rows if row.rows]
    for row in rows:
        say(f"{row.rows:>8} {escape(row.what)}")
    if not rows:
        err.print("nothing fits")
