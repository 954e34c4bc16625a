"""`remember` and `recall`."""

from __future__ import annotations

import asyncio
import sys
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
    from sql.records import RecallAnswer

Space = Annotated[
    str | None, typer.Option("--space", help="Which space; default: your own, or all.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(remember)
    app.command()(recall)


def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")],
    space: Space = None,
    kind: Annotated[str | None, typer.Option(help="episodic, semantic, procedural …")] = None,
    title: Annotated[str | None, typer.Option()] = None,
    entity: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    tag: Tags = None,
    key: Annotated[str | None, typer.Option(help="Refine the memory of this key.")] = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Remember a text."""
    settings = settings_of(state_dir, database_url)
    content = sys.stdin.read() if text == "-" else text
    given = _given(
        content=content, space=space, kind=kind, title=title, entity=entity, tags=tag, key=key
    )

    async def run() -> Any:
        from pgrecall.client import memory_client
        from sql.records import NewMemory

        memory = checked(NewMemory, given)
        async with memory_client(settings, agent) as client:
            return await client.remember(memory)

    remembered = asyncio.run(run())
    if as_json:
        say_json(remembered.model_dump(mode="json"))
    elif remembered.quarantined:
        say(f"[yellow]held for review[/] as {remembered.id} in {escape(remembered.space)}")
        say(f"   {escape('; '.join(remembered.quarantined.reasons))}")
    elif remembered.duplicate_of:
        say(f"known already as {remembered.duplicate_of}")
    else:
        say(f"remembered {remembered.id} in {escape(remembered.space)}")


def recall(
    query: Annotated[str, typer.Argument(help="A question, words or an identifier.")],
    k: Annotated[int, typer.Option("-k", help="How many.")] = 5,
    space: Space = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Repeatable.")] = None,
    entity: Annotated[str | None, typer.Option()] = None,
    tag: Tags = None,
    mode: Annotated[str | None, typer.Option(help="hybrid, lexical, vector or exact.")] = None,
    agent: AgentOption = None,
    as_json: AsJson = False,
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Recall what fits a query, best first."""
    settings = settings_of(state_dir, database_url)
    given = _given(query=query, k=k, space=space, kinds=kind, entity=entity, tags=tag, mode=mode)

    async def run() -> RecallAnswer:
        from pgrecall.client import memory_client
        from sql.records import RecallQuery

        asked = checked(RecallQuery, given)
        async with memory_client(settings, agent) as client:
            return await client.recall(asked)

    answer = asyncio.run(run())
    if as_json:
        say_json(answer.model_dump(mode="json"))
        return
    if answer.degraded:
        err.print(f"[yellow]degraded:[/] {escape(answer.degraded)}")
    for found in answer.results:
        _show(found)
    if not answer.results:
        err.print("nothing found")


def _show(found: Any) -> None:
    about = " · ".join(filter(None, (found.space, found.kind, found.entity, *found.tags)))
    title = escape(found.title or "")
    say(
        f"[bold]{found.rank}. {title}[/] [dim]{escape(about)}  {found.score:.3f}[/]".replace(
            "  ", " "
        )
    )
    for line in found.content.splitlines():
        say(f"   {escape(line)}")


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
