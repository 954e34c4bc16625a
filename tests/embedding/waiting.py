"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], Awaitable[bool]], *, seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - what is waited for knows no event
            await asyncio.sleep(0.01)
