"""What `up` says once everything answers."""

from __future__ import annotations

from rich.markup import escape

from pgrecall.console import say
from pgrecall.endpoints import Endpoints


def say_running(endpoints: Endpoints, agent: str) -> None:
    """Write where everything is, and how to get in."""
    gateway = endpoints.gateway.url(agent)
    width = max(len(gateway), len(endpoints.mcp))
    for name, where, about in (
        ("gateway", gateway, "psql, DBeaver, Metabase, any driver"),
        ("REST", endpoints.rest, "docs at /docs"),
        ("MCP", endpoints.mcp, "or: pgrecall mcp"),
        ("secrets", "credentials.json in the state folder", 'eval "$(pgrecall env)"'),
    ):
        say(f"[bold]{name:<9}[/] {escape(where):<{width}}   [dim]{escape(about)}[/]")
