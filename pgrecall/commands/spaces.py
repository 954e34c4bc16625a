"""`space list`, `add`, `members`, `join`, `leave`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from pgrecall.commands.acting import acting_as
from pgrecall.commands.options import (
    AgentOption,
    AsJson,
    DatabaseUrl,
    StateDir,
    checked,
    settings_of,
)
from pgrecall.console import say, say_json

if TYPE_CHECKING:
    from sql import spaces

app = typer.Typer(help="Where memories stand, and who is in there.", no_args_is_help=True)

Space = Annotated[str, typer.Argument(help="The space's name.")]
Member = Annotated[str, typer.Argument(help="The agent's name.")]
Role = Annotated[str, typer.Option("--role", help="reader, writer or admin.")]


@app.command("list")
def list_all(
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List the spaces that the agent belongs to; all, for who runs the deployment."""
    settings = settings_of(state_dir, database_url)

    async def run() -> list[spaces.Space]:
        from sql import spaces

        async with acting_as(settings, agent) as (pool, who):
            return (await spaces.spaces(pool, who)).spaces

    found = asyncio.run(run())
    if as_json:
        say_json([space.model_dump(mode="json") for space in found])
        return
    for space in found:
        members = f"{space.members} member{'s' * (space.members != 1)}"
        say(f"[bold]{escape(space.space):<20}[/] {members}, {space.role or 'none of them you'}")


@app.command()
def add(
    space: Space,
    agent: AgentOption = None,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a space, which the agent then administers."""
    settings = settings_of(state_dir, database_url)

    async def run() -> None:
        from sql import spaces

        async with acting_as(settings, agent) as (pool, who):
            await spaces.create_space(pool, who, checked(spaces.NewSpace, {"space": space}).space)

    asyncio.run(run())
    say(f"made {escape(space)}")


@app.command()
def members(
    space: Space,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List the members of a space."""
    settings = settings_of(state_dir, database_url)

    async def run() -> list[spaces.Member]:
        from sql import spaces

        async with acting_as(settings, agent) as (pool, who):
            return (await spaces.members(pool, who, space)).members

    found = asyncio.run(run())
    if as_json:
        say_json([member.model_dump(mode="json") for member in found])
        return
    for member in found:
        say(f"[bold]{member.agent:<20}[/] {member.role}")


@app.command()
def join(
    space: Space,
    member: Member,
    role: Role = "writer",
    agent: AgentOption = None,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make an agent a member of a space, or give a member another role."""
    settings = settings_of(state_dir, database_url)

    async def run() -> None:
        from sql import spaces

        new = checked(spaces.NewMember, {"agent": member, "role": role})
        async with acting_as(settings, agent) as (pool, who):
            await spaces.add_member(pool, who, space, new)

    asyncio.run(run())
    say(f"{escape(member)} is a {escape(role)} of {escape(space)}")


@app.command()
def leave(
    space: Space,
    member: Member,
    agent: AgentOption = None,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """End an agent's membership of a space; what it wrote there stays, and stays its own."""
    settings = settings_of(state_dir, database_url)

    async def run() -> None:
        from sql import spaces

        async with acting_as(settings, agent) as (pool, who):
            await spaces.remove_member(pool, who, space, member)

    asyncio.run(run())
    say(f"{escape(member)} has left {escape(space)}")
