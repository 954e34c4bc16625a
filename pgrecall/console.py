"""What the command line writes: answers to standard output, the rest to standard error."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from pgrecall.errors import PgrecallError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def say(markup: str) -> None:
    """Write a line of an answer."""
    out.print(markup)


def say_text(text: str) -> None:
    """Write text as it is: it holds what users wrote."""
    out.print(text, markup=False)


def say_json(value: Any) -> None:
    """Write a value for programs."""
    out.print(json.dumps(value, ensure_ascii=False, indent=2, default=str), markup=False)


def say_error(error: PgrecallError) -> None:
    """Write what went wrong, and what would help."""
    err.print(f"[bold red]error:[/] {escape(error.message)}")
    if error.hint:
        first, *more = error.hint.splitlines()
        err.print(f"[bold]hint:[/] {escape(first)}")
        for line in more:
            err.print(f"      {escape(line)}")
