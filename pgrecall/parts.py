"""Parts that run side by side: the first one to end by itself ends all."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

from pgrecall.errors import ComponentDied, PgrecallError


class Parts(AbstractAsyncContextManager["Parts"]):
    """Runs named coroutines that are not meant to end; leaving the context cancels them."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[Any], str] = {}

    def add(self, name: str, part: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a part; `name` stands in the message should it die."""
        task = asyncio.create_task(part, name=name)
        self._tasks[task] = name
        return task

    async def run_until(self, stop: asyncio.Event) -> None:
        """Return when asked to stop; raises PgrecallError when a part ended before."""
        stopping = asyncio.create_task(stop.wait())
        try:
            ended, _ = await asyncio.wait(
                (stopping, *self._tasks), return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            stopping.cancel()
        for task in ended - {stopping}:
            self._raise_death(task)

    def _raise_death(self, task: asyncio.Task[Any]) -> None:
        name = self._tasks.pop(task)
        error = task.exception()
        if isinstance(error, PgrecallError):
            raise error
        why = f": {type(error).__name__}: {error}" if error else ""
        raise ComponentDied(f"the {name} ended by itself{why}") from error

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what still runs, the last started first."""
        for task in reversed(self._tasks):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
