"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from pgrecall.errors import PgrecallError
from pgrecall.faults import first_fault
from pgrecall.settings import Settings, load_settings

StateDir: TypeAlias = Annotated[
    Path | None, typer.Option("--state-dir", help="Where this deployment keeps its files.")
]
DatabaseUrl: TypeAlias = Annotated[
    str | None, typer.Option("--database-url", help="A Postgres of yours, not the embedded one.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AgentOption: TypeAlias = Annotated[
    str | None, typer.Option("--agent", help="Whom to act as; the first agent by default.")
]


def settings_of(
    state_dir: Path | None, database_url: str | None = None, **more: object
) -> Settings:
    """Return the settings with what the command line gave, and set up logging for a command."""
    from pgrecall.logs import configure_logging

    settings = load_settings(state_dir=state_dir, database_url=database_url, **more)
    # A command's output is its answer; only `up` and `mcp` log what they do.
    quiet = "warning" if settings.log_level == "info" else settings.log_level
    configure_logging(quiet, settings.log_format)
    return settings


def checked(model: Any, given: dict[str, Any]) -> Any:
    """Return the record that the arguments make; raises PgrecallError with what is wrong of one."""
    from pydantic import ValidationError

    try:
        return model(**given)
    except ValidationError as error:
        name, message, _ = first_fault(error)
        raise PgrecallError(f"{name}: {message}" if name else message) from error
