"""`quarantine list`, `release`, `reject`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.markup import escape

from pgrecall.commands.options import AgentOption, AsJson, DatabaseUrl, StateDir, settings_of
from pgrecall.console import say, say_json
from pgrecall.settings import Settings

if TYPE_CHECKING:
    from sql.agents import Agent
    from sql.pool import Pool
    from sql.quarantine import HeldMemory, Reviewed

app = typer.Typer(
    help="Writes that looked like instructions to their reader, and wait for a decision.",
    no_args_is_help=True,
)

HeldId = Annotated[UUID, typer.Argument(metavar="ID", help="The memory's id.")]
OfVersion = Annotated[
    int | None,
    typer.Option("--version", min=1, help="Which version; the oldest that is held by default."),
]


@app.command("list")
def list_all(
    space: Annotated[str | None, typer.Option("--space", help="Only this space.")] = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List what is held, the oldest first."""
    settings = settings_of(state_dir, database_url)

    async def run() -> list[HeldMemory]:
        from sql.quarantine import HeldQuery, list_held

        held, cursor = [], None
        async with _reviewer(settings, agent) as (pool, who):
            while True:
                query = HeldQuery(space=space, limit=200, cursor=cursor)
                page = await list_held(pool, who, query)
                held += page.quarantine
                cursor = page.next_cursor
                if cursor is None:
                    return held

    held = asyncio.run(run())
    if as_json:
        say_json([memory.model_dump(mode="json") for memory in held])
        return
    for memory in held:
        _show(memory)
    if not held:
        say("nothing is held")


@app.command()
def release(
    id: HeldId,  # as the REST interface has it
    version: OfVersion = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Let a version be recalled from now on."""
    settings = settings_of(state_dir, database_url)
    _tell(asyncio.run(_decided(settings, agent, "release", id, version)), as_json=as_json)


@app.command()
def reject(
    id: HeldId,
    version: OfVersion = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Throw a version away for good."""
    settings = settings_of(state_dir, database_url)
    _tell(asyncio.run(_decided(settings, agent, "reject", id, version)), as_json=as_json)


async def _decided(
    settings: Settings, agent: str | None, decision: str, memory_id: UUID, version: int | None
) -> Reviewed:
    from sql import quarantine

    decide = quarantine.release if decision == "release" else quarantine.reject
    async with _reviewer(settings, agent) as (pool, who):
        return await decide(pool, who, quarantine.HeldId(id=memory_id, version=version))


def _tell(reviewed: Reviewed, *, as_json: bool) -> None:
    if as_json:
        say_json(reviewed.model_dump(mode="json"))
    else:
        say(f"{reviewed.outcome} version {reviewed.version} of {reviewed.id}")


def _show(memory: HeldMemory) -> None:
    about = f"{memory.space} · {memory.agent} · {memory.at:%Y-%m-%d %H:%M}"
    say(f"[bold]{memory.id}[/] version {memory.version} [dim]{escape(about)}[/]")
    say(f"   [yellow]{memory.score:.2f}[/] {escape('; '.join(memory.reasons))}")
    for line in memory.content.splitlines():
        # What a terminal would act upon is shown for what it is.
        say(f"   {escape(_printable(line))}")


def _printable(text: str) -> str:
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


@asynccontextmanager
async def _reviewer(settings: Settings, agent: str | None) -> AsyncIterator[tuple[Pool, Agent]]:
    from pgrecall.database import opened_database
    from pgrecall.first_agent import ensure_first_agent
    from pgrecall.state_folder import StateFolder
    from sql.agents import find_agent
    from sql.pool import create_pool

    async with opened_database(settings) as database:
        pool = await create_pool(database.dsn, min_size=1, max_size=2)
        try:
            first = await ensure_first_agent(pool, StateFolder(settings.state_dir))
            yield pool, await find_agent(pool, agent or first)
        finally:
            await pool.close()
