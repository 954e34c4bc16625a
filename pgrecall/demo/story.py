"""How the demo tells what it does: plain lines; colour and a moving bar on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text


class Bar:
    """A progress bar that is told how much has been done."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def show(self, completed: int) -> None:
        """Move the bar to so many."""
        self._progress.update(self._task, completed=completed)


class Story:
    """Writes the narrative; every line goes out as it is, without wrapping or markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._chapters = 0

    def headline(self, text: str) -> None:
        """Write the first line."""
        self._line(text, "bold")

    def chapter(self, title: str) -> None:
        """Begin a numbered part."""
        self._chapters += 1
        self._line("")
        self._line(f"{self._chapters}. {title}", "bold cyan")

    def command(self, prompt: str, text: str) -> None:
        """Write what a user would type, further lines below the first one's text."""
        first, *rest = text.splitlines()
        self._console.print(Text.assemble((f"{prompt} ", "dim"), (first, "green")), soft_wrap=True)
        for line in rest:
            self._line(" " * (len(prompt) + 1) + line, "green")

    def output(self, text: str) -> None:
        """Write what came back."""
        self._line(text.rstrip("\n"))

    def note(self, text: str) -> None:
        """Write a remark."""
        self._line(text, "dim")

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Bar]:
        """Show a bar while something takes its time; without a terminal, only its end."""
        columns = (
            TextColumn("{task.description}", markup=False),
            MofNCompleteColumn(),
            BarColumn(bar_width=24),
        )
        with Progress(*columns, console=self._console) as progress:
            yield Bar(progress, progress.add_task(label, total=total))

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style), soft_wrap=True)
