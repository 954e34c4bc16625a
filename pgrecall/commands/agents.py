"""`agent add`, `list`, `rotate`, `login`, `remove`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from pgrecall.commands.acting import opened_pool
from pgrecall.commands.options import AsJson, DatabaseUrl, StateDir, settings_of
from pgrecall.console import say, say_json
from pgrecall.endpoints import Credentials, Endpoints, Gateway
from pgrecall.first_agent import NAMES
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder

if TYPE_CHECKING:
    from sql.agents import AgentEntry, Login, Secrets

app = typer.Typer(help="Who may remember and recall.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The agent's name: a-z, 0-9, _ and -.")]
TokenDays = Annotated[
    int | None, typer.Option("--token-days", min=1, help="End the token after so many days.")
]


@app.command()
def add(
    name: Name,
    sql: Annotated[bool, typer.Option("--sql", help="Make a Postgres login too.")] = False,
    reader: Annotated[bool, typer.Option("--reader", help="May read and recall only.")] = False,
    space: Annotated[
        list[str] | None, typer.Option("--space", help="A space to be a member of; repeatable.")
    ] = None,
    token_days: TokenDays = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make an agent; its secrets are printed once."""
    settings = settings_of(state_dir, database_url)
    spaces = space or []

    async def run() -> Secrets:
        from sql.agents import add_agent

        async with opened_pool(settings) as pool:
            return await add_agent(
                *(pool, name),
                sql_login=sql,
                reader=reader,
                spaces=spaces,
                token_expires_at=_after(token_days),
            )

    secrets = asyncio.run(run())
    about = ["read-only" if reader else "read and write"]
    if spaces:
        about.append(f"space{'s' * (len(spaces) > 1)} {', '.join(spaces)}")
    _show(settings, secrets, about=", ".join(about), as_json=as_json)


@app.command()
def rotate(
    name: Name,
    token_days: TokenDays = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Give an agent new secrets; the old password ends at once, the old token in ten minutes."""
    settings = settings_of(state_dir, database_url)

    async def run() -> Secrets:
        from sql import agents

        async with opened_pool(settings) as pool:
            return await agents.rotate(pool, name, token_expires_at=_after(token_days))

    secrets = asyncio.run(run())
    state = StateFolder(settings.state_dir)
    kept = Credentials.read(state)
    if name == (kept.agent if kept else NAMES[0]):
        Credentials(secrets.agent, secrets.token, secrets.password).write(state)
    _show(
        settings,
        secrets,
        about="the old password has ended, the old token ends in 10 minutes",
        as_json=as_json,
    )


@app.command()
def login(
    name: Name,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="End the login after so many days.")
    ] = None,
    end: Annotated[bool, typer.Option("--end", help="Take the login away.")] = False,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Give an agent a Postgres login or a new password, or end the login; tokens stay."""
    settings = settings_of(state_dir, database_url)

    async def run() -> Login | None:
        from sql import agents

        async with opened_pool(settings) as pool:
            if end:
                await agents.end_login(pool, name)
                return None
            return await agents.give_login(pool, name, expires_at=_after(days))

    given = asyncio.run(run())
    state = StateFolder(settings.state_dir)
    kept = Credentials.read(state)
    if kept and kept.agent == name:
        replace(kept, password=given.password if given else None).write(state)
    if given is None:
        say(f"{escape(name)} no longer logs in by SQL; its sessions have ended")
        return
    if as_json:
        say_json({"agent": given.agent, "password": given.password})
        return
    ends = f"ends {given.expires_at:%Y-%m-%d %H:%M} (UTC)" if given.expires_at else "does not end"
    url = _login_url(settings, given.agent, given.password)
    say(f"[bold]{given.agent}[/]   login    {url}   {ends}   (shown once)")


@app.command()
def remove(name: Name, state_dir: StateDir = None, database_url: DatabaseUrl = None) -> None:
    """End an agent's logins and tokens; its memories stay."""
    settings = settings_of(state_dir, database_url)

    async def run() -> None:
        from sql import agents

        async with opened_pool(settings) as pool:
            await agents.remove(pool, name)

    asyncio.run(run())
    say(f"removed {escape(name)}; its memories stay")


@app.command("list")
def list_all(
    as_json: AsJson = False, state_dir: StateDir = None, database_url: DatabaseUrl = None
) -> None:
    """List the agents."""
    settings = settings_of(state_dir, database_url)

    async def run() -> list[AgentEntry]:
        from sql.agents import list_agents

        async with opened_pool(settings) as pool:
            return await list_agents(pool)

    agents = asyncio.run(run())
    if as_json:
        say_json([agent.model_dump(mode="json") for agent in agents])
        return
    for agent in agents:
        rights = [right for right in ("admin", "reader", "sql_login") if getattr(agent, right)]
        say(f"[bold]{agent.name:<20}[/] {escape(', '.join([*rights, *agent.spaces]))}")
        for token in agent.tokens:
            say(f"{'':<20} [dim]{token.prefix}…  {_told(token.last_used_at, token.expires_at)}[/]")


def _told(used: datetime | None, ends: datetime | None) -> str:
    last = f"last used {used:%Y-%m-%d %H:%M}" if used else "never used"
    return f"{last}, ends {ends:%Y-%m-%d %H:%M} (UTC)" if ends else f"{last} (UTC)"


def _after(days: int | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) + timedelta(days=days)


def _show(settings: Settings, secrets: Secrets, *, about: str, as_json: bool) -> None:
    if as_json:
        say_json({"agent": secrets.agent, "token": secrets.token, "password": secrets.password})
        return
    blank = " " * len(secrets.agent)
    say(f"[bold]{secrets.agent}[/]   token    {secrets.token}   (shown once)")
    if secrets.password:
        url = _login_url(settings, secrets.agent, secrets.password)
        say(f"{blank}   login    {url}   {escape(about)}")


def _login_url(settings: Settings, agent: str, password: str) -> str:
    running = Endpoints.read(StateFolder(settings.state_dir))
    gateway = running.gateway if running else _planned(settings)
    return escape(gateway.url(agent, password))


def _planned(settings: Settings) -> Gateway:
    return Gateway(settings.gateway_host, settings.gateway_port, "memory", tls=False)
