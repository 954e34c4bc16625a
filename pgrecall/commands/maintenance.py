"""`migrate`, `reembed`, `status`, `doctor`: the database and what surrounds it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from pgrecall.commands.options import AsJson, DatabaseUrl, StateDir, settings_of
from pgrecall.console import say, say_json
from pgrecall.errors import PgrecallError

_MARKS = {"ok": "[green]✓[/]", "advice": "[yellow]![/]", "failed": "[red]✗[/]"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(migrate)
    app.command()(reembed)
    app.command()(status)
    app.command()(doctor)


def migrate(state_dir: StateDir = None, database_url: DatabaseUrl = None) -> None:
    """Bring the database to this version; up does it by itself."""
    settings = settings_of(state_dir, database_url)

    async def run() -> list[str]:
        from pgrecall.database import opened_database
        from sql.migrate import migrate as bring_up

        async with opened_database(settings, migrated=False) as database:
            return await bring_up(database.dsn)

    applied = asyncio.run(run())
    for name in applied:
        say(f"applied {escape(name)}")
    say("the database is at this version" if applied else "nothing to apply")


def reembed(
    every: Annotated[
        bool, typer.Option("--all", help="Embed anew what has a vector of this model too.")
    ] = False,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Give every memory a vector of the configured embedder; the old ones serve meanwhile."""
    from pgrecall.reembedding import reembed as run

    done = asyncio.run(run(settings_of(state_dir, database_url), every=every))
    if as_json:
        say_json(asdict(done))
    elif not done.waiting:
        say(f"embedded {done.embedded}; every memory has its vector of {escape(done.model)}")
    if done.waiting:
        why = done.trouble or "another process has claimed them"
        raise PgrecallError(f"{done.waiting} memories have no vector of {done.model}: {why}")


def status(
    as_json: AsJson = False, state_dir: StateDir = None, database_url: DatabaseUrl = None
) -> None:
    """Tell what runs, where, and how much waits for an embedding."""
    from pgrecall.status import read_status

    found = asyncio.run(read_status(settings_of(state_dir, database_url)))
    if as_json:
        say_json(asdict(found))
        return
    for name, value in found.lines():
        say(f"[bold]{name:<10}[/] {escape(value)}")


def doctor(
    as_json: AsJson = False, state_dir: StateDir = None, database_url: DatabaseUrl = None
) -> None:
    """Check everything pgrecall needs, and say what to do about what is missing."""
    from pgrecall.doctor import examine

    checks = asyncio.run(examine(settings_of(state_dir, database_url)))
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        for check in checks:
            remedy = f"   [dim]→[/] {escape(check.remedy)}" if check.remedy else ""
            say(f"{_MARKS[check.outcome]} {escape(check.label)}{remedy}")
    if any(check.outcome == "failed" for check in checks):
        raise typer.Exit(1)
