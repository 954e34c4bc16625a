"""The `pgrecall` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from pgrecall import __version__
from pgrecall.commands import (
    access,
    agents,
    life,
    log,
    maintenance,
    memories,
    quarantine,
    running,
    spaces,
)
from pgrecall.errors import PgrecallError

app = typer.Typer(
    name="pgrecall",
    help="Memory for AI agents that lives in Postgres and answers anything that speaks Postgres.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
running.register(app)
access.register(app)
app.add_typer(agents.app, name="agent")
app.add_typer(spaces.app, name="space")
app.add_typer(quarantine.app, name="quarantine")
memories.register(app)
log.register(app)
life.register(app)
maintenance.register(app)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"pgrecall {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; whatever goes wrong becomes a message and an exit code."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell has it for SIGINT
    except Exception as error:  # the top: users get words, not tracebacks
        from pgrecall.console import say_error

        refusal = _explained(error)
        say_error(refusal)
        if os.environ.get("PGRECALL_LOG_LEVEL") == "debug":
            raise
        sys.exit(refusal.exit_code)


def _explained(error: Exception) -> PgrecallError:
    if isinstance(error, PgrecallError):
        return error
    from sql.errors import StoreError

    if isinstance(error, StoreError):
        told = (error.detail, error.hint)
        return PgrecallError(error.message, hint="\n".join(filter(None, told)) or None)
    return PgrecallError(
        f"{type(error).__name__}: {error}".removesuffix(": "),
        hint="this is a fault in pgrecall; PGRECALL_LOG_LEVEL=debug shows where",
    )
