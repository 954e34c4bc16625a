"""Waiting for what Postgres notifies of, in a task that must still end when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sql.errors import translated
from sql.pool import Connection, Pool


@asynccontextmanager
async def listening(
    pool: Pool, channel: str, heard: Callable[[str], object]
) -> AsyncIterator[Connection]:
    """Call `heard` with each payload on the channel; yield the connection that hears them."""

    def on_notify(_connection: object, _pid: int, _channel: str, payload: object) -> None:
        heard(str(payload))

    with translated():
        listener = await pool.acquire()
    try:
        with translated():
            await listener.add_listener(channel, on_notify)
        yield listener
    finally:
        # A connection that has just died is found out here; kept, it would hold up the pool's end.
        try:
            if not listener.is_closed():
                with translated():
                    await listener.remove_listener(channel, on_notify)
        finally:
            await pool.release(listener)


async def set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event, so long at the most; return whether it was set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


def stop_if_cancelled() -> None:
    """Raise what asyncpg may have swallowed: before Python 3.12 asyncio.wait_for loses a cancel."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
