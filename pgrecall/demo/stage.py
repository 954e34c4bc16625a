"""A deployment of its own for the demo: `pgrecall up` in a folder that goes away with it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pgrecall.endpoints import Endpoints
from pgrecall.errors import PgrecallError
from pgrecall.state_folder import StateFolder

_START_SECONDS = 90.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.05
# What may be set for the demo from outside; a database or a port of the user's is left alone.
_KEPT = ("PGRECALL_EMBEDDER", "PGRECALL_OPENAI_", "PGRECALL_OLLAMA_")


class DemoFailed(PgrecallError):
    """A step of the demo did not work."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo's `up` keeps its files, and where it listens."""

    state: StateFolder
    endpoints: Endpoints


@asynccontextmanager
async def throwaway_stage() -> AsyncIterator[Stage]:
    """Run `pgrecall up` in a new folder; stop it and remove the folder however the block ends.

    Raises DemoFailed with the last lines it logged when it doesn't come up.
    """
    with _temporary_folder() as folder:
        state, log = StateFolder(folder / "state"), folder / "up.log"
        process = await _start(state, log)
        try:
            yield await _when_up(process, state, log)
        finally:
            await _stop(process)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pgrecall-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _start(state: StateFolder, log: Path) -> Process:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PGRECALL_") or name.startswith(_KEPT)
    }
    environment |= {"PGRECALL_GATEWAY_PORT": "0", "PGRECALL_HTTP_PORT": "0"}
    with log.open("wb") as output:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pgrecall", "up", "--state-dir", str(state.path)),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


async def _when_up(process: Process, state: StateFolder, log: Path) -> Stage:
    try:
        async with asyncio.timeout(_START_SECONDS):
            while (endpoints := Endpoints.read(state)) is None:
                if process.returncode is not None:
                    raise DemoFailed("`pgrecall up` did not start", hint=_last_lines(log))
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        message = f"`pgrecall up` was not ready after {_START_SECONDS:.0f} s"
        raise DemoFailed(message, hint=_last_lines(log)) from None
    return Stage(state, endpoints)


async def _stop(process: Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _last_lines(log: Path, count: int = 8) -> str | None:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return "\n".join(lines[-count:]) or None
