"""`verify`, `log export`, `log heads`, `log key`: the log of changes and what vouches for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from pgrecall.commands.acting import opened_pool
from pgrecall.commands.options import AsJson, DatabaseUrl, StateDir, settings_of
from pgrecall.console import err, out, say, say_json, say_text
from pgrecall.errors import PgrecallError
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder

if TYPE_CHECKING:
    from pgrecall.heads import NotedHeads
    from sql.events import Head, Verification

log_commands = typer.Typer(help="The log of changes, outside the database.", no_args_is_help=True)

Space = Annotated[str | None, typer.Option("--space", help="Only chains of this space.")]
PublicKey = Annotated[
    str | None,
    typer.Option(
        help="Who must have signed the heads: hex digits or a file. Default: our own key."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(verify)
    app.add_typer(log_commands, name="log")


def verify(
    file: Annotated[
        Path | None, typer.Option("--file", help="Verify an exported log, without a database.")
    ] = None,
    heads: Annotated[
        Path | None, typer.Option("--heads", help="Heads noted before, which must still be held.")
    ] = None,
    public_key: PublicKey = None,
    space: Space = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Check that nobody rewrote the log; exits 1 when a chain is not valid."""
    settings = settings_of(state_dir, database_url)
    noted = _noted(settings, heads, public_key) if heads else None
    expected = noted.of_space(space) if noted else ()
    if file is not None:
        found = _verified_file(file, space, expected)
    else:
        found = asyncio.run(_verified_database(settings, space, expected))
    if space is not None and not found.chains:
        raise PgrecallError(f"there is no chain in space {space}")
    if as_json:
        say_json(found.model_dump(mode="json"))
    else:
        _show(found, noted)
    if not found.valid:
        raise typer.Exit(1)


@log_commands.command("export")
def export_log(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; left out, standard output.")
    ] = None,
    space: Space = None,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Write the log as lines of JSON, for `pgrecall verify --file`; it holds no memory's words."""
    settings = settings_of(state_dir, database_url)
    written = asyncio.run(_export(settings, space, file))
    err.print(f"exported {written:,} events")


@log_commands.command("heads")
def note_heads(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; left out, standard output.")
    ] = None,
    sign: Annotated[bool, typer.Option("--sign", help="Sign them with our own key.")] = False,
    space: Space = None,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Write the newest hash of every chain. Kept elsewhere, they show a log that was cut off."""
    from pgrecall.heads import NotedHeads, signing_key

    settings = settings_of(state_dir, database_url)
    noted = NotedHeads.now(asyncio.run(_heads(settings, space)))
    if sign:
        noted = noted.signed(signing_key(StateFolder(settings.state_dir)))
    if file is None:
        say_text(noted.text().rstrip("\n"))
    else:
        with _written(file):
            file.write_text(noted.text(), encoding="utf-8")


@log_commands.command("key")
def show_key(state_dir: StateDir = None) -> None:
    """Print the public key, in hex, that verifies the heads signed here."""
    from pgrecall.heads import public_text, signing_key

    key = signing_key(StateFolder(settings_of(state_dir).state_dir))
    say_text(public_text(key.public_key()))


def _noted(settings: Settings, file: Path, public_key: str | None) -> NotedHeads:
    """Read noted heads; signed ones must be signed by the key that we know."""
    from pgrecall.heads import BadHeads, NotedHeads, known_public_key

    noted = NotedHeads.parse(_text(file))
    if noted.signature is None and public_key is None:
        return noted
    key = known_public_key(StateFolder(settings.state_dir), public_key)
    if key is None:
        raise BadHeads(
            "these heads are signed, and there is no key here to check by",
            hint="give it with --public-key; `pgrecall log key` prints it where they were signed",
        )
    noted.check(key)
    return noted


def _verified_file(file: Path, space: str | None, noted: Sequence[Head]) -> Verification:
    from pgrecall.log_file import NotALog, verify_lines
    from sql.events import ChainVerdict, verification

    expected = {(head.space, head.agent): (head.sequence, head.hash) for head in noted}
    try:
        with file.open("rb") as lines:
            verdicts = verify_lines(lines, expected)
    except OSError as error:
        raise PgrecallError(f"{file} can't be read: {error.strerror}") from error
    except NotALog as error:
        raise PgrecallError(f"{file} is no whole export of a log: {error}") from error
    return verification(
        [ChainVerdict(**asdict(one)) for one in verdicts if space in (None, one.space)]
    )


async def _verified_database(
    settings: Settings, space: str | None, noted: Sequence[Head]
) -> Verification:
    from sql.events import verify_everything

    async with opened_pool(settings) as pool:
        with err.status("verifying"):
            return await verify_everything(pool, space, noted)


async def _heads(settings: Settings, space: str | None) -> list[Head]:
    from sql.events import chain_heads

    async with opened_pool(settings) as pool:
        return await chain_heads(pool, space)


async def _export(settings: Settings, space: str | None, file: Path | None) -> int:
    from sql.events import exported

    with _written(file):
        output = file.open("w", encoding="utf-8") if file else nullcontext(sys.stdout)
        async with opened_pool(settings) as pool, exported(pool, space) as (events, lines):
            with output as target, Progress(console=err, transient=True) as progress:
                task = progress.add_task("exporting", total=events)
                async for line in lines:
                    target.write(line + "\n")
                    progress.advance(task)
    return events


@contextmanager
def _written(file: Path | None) -> Iterator[None]:
    """Say in our words why a file can't be written."""
    try:
        yield
    except OSError as error:
        if file is None:
            raise
        raise PgrecallError(f"{file} can't be written: {error.strerror}") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PgrecallError(f"{file} can't be read: {error}") from error


def _show(found: Verification, noted: NotedHeads | None) -> None:
    table = Table("", "space", "agent", "events", "first bad", "what is wrong", box=None)
    for chain in found.chains:
        table.add_row(
            "[green]✓[/]" if chain.valid else "[red]✗[/]",
            escape(chain.space or ""),
            escape(chain.agent or ""),
            f"{chain.events:,}",
            "" if chain.first_bad is None else f"{chain.first_bad:,}",
            escape(chain.reason or ""),
        )
    out.print(table)
    chains = len(found.chains)
    bad = sum(not chain.valid for chain in found.chains)
    events = sum(chain.events for chain in found.chains)
    say(
        f"[red]{bad} of {chains} chains are not valid[/]"
        if bad
        else f"{chains} chains, {events:,} events: valid"
    )
    if noted is not None:
        by = f", signed by {noted.public_key}" if noted.signature else ", not signed"
        say(f"compared with {len(noted.heads)} heads of {escape(noted.taken_at)}{by}")
