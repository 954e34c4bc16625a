"""`env` and `psql`: ways in for a shell of this machine."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import Annotated

import typer

from pgrecall.commands.options import AgentOption, StateDir, settings_of
from pgrecall.console import say_text
from pgrecall.embedded import binaries
from pgrecall.endpoints import Credentials, Endpoints
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(env)
    app.command(
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        add_help_option=False,
    )(psql)


def env(agent: AgentOption = None, state_dir: StateDir = None) -> None:
    """Print exports for the shell: eval "$(pgrecall env)"."""
    for name, value in variables(settings_of(state_dir), agent).items():
        say_text(f"export {name}={shlex.quote(value)}")


def psql(
    context: typer.Context,
    arguments: Annotated[list[str] | None, typer.Argument(help="What psql takes.")] = None,
) -> None:
    """Open psql through the gateway: the system's, else the one that came with pgrecall."""
    program = shutil.which("psql") or str(binaries() / "psql")
    environment = os.environ | variables(settings_of(None), None)
    os.execve(program, ["psql", *(arguments or []), *context.args], environment)


def variables(settings: Settings, agent: str | None) -> dict[str, str]:
    """Return what libpq and HTTP clients need to reach the running `up` as the agent."""
    state = StateFolder(settings.state_dir)
    running = Endpoints.require(state)
    kept = Credentials.require(state, agent)
    told = {
        "PGHOST": running.gateway.host,
        "PGPORT": str(running.gateway.port),
        "PGUSER": kept.agent,
        "PGPASSWORD": kept.password,
        "PGDATABASE": running.gateway.database,
        "PGRECALL_URL": running.http,
        "PGRECALL_TOKEN": kept.token,
    }
    return {name: value for name, value in told.items() if value is not None}
