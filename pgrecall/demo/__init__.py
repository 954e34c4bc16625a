"""`pgrecall demo`: a sample remembered and recalled by every road, in a throwaway folder."""

from __future__ import annotations

import asyncio
import signal
import time

import httpx
import psycopg
from mcp import MCPError
from rich.console import Console

from pgrecall.demo import scenes
from pgrecall.demo.stage import DemoFailed, throwaway_stage
from pgrecall.demo.story import Story

__all__ = ["DemoFailed", "run_demo"]


def run_demo(console: Console) -> None:
    """Play the demo on the console; nothing of it is left when this returns or raises.

    Raises DemoFailed when a step doesn't work, KeyboardInterrupt when it is stopped by a signal.
    """
    try:
        asyncio.run(_stoppable(Story(console)))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _stoppable(story: Story) -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await _play(story)
    except (psycopg.Error, httpx.HTTPError, MCPError, OSError) as error:
        raise DemoFailed(f"a step of the demo did not work: {error}") from error


async def _play(story: Story) -> None:
    began_at = time.monotonic()
    async with throwaway_stage() as stage:
        cast = await scenes.gather(stage)
        for scene in scenes.ALL:
            await scene(story, cast)
        seconds = time.monotonic() - began_at
    story.note(
        f"\nDone in {seconds:.0f} s; nothing is left of it. A memory of your own: pgrecall up"
    )
