"""Real processes of `pgrecall`, and disks that fill: what the tests here play with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

from pgrecall.endpoints import Credentials, Endpoints
from pgrecall.state_folder import StateFolder

ROOT = Path(__file__).parents[2]
Result = TypeVar("Result")


def wait_for(condition: Callable[[], Result], *, seconds: float = 20.0) -> Result:
    """Return the condition's first true answer; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not in {seconds} s: {condition}"
        time.sleep(0.02)
    return answer


def environment(state_dir: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PGRECALL_")}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PGRECALL_STATE_DIR": str(state_dir),
        "PGRECALL_GATEWAY_PORT": "0",
        "PGRECALL_HTTP_PORT": "0",
        "PGRECALL_EMBEDDER": "none",
        **more,
    }


def pgrecall(
    state_dir: Path, *arguments: str, expect: int = 0, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `more` are variables of the environment."""
    result = subprocess.run(
        [sys.executable, "-m", "pgrecall", *arguments],
        env=environment(state_dir, more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == expect, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result


class Up:
    """A `pgrecall up` of its own."""

    def __init__(self, state_dir: Path, **more: str) -> None:
        self.state = StateFolder(state_dir)
        self.output = state_dir.parent / "up.out"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pgrecall", "up"],
                env=environment(state_dir, more),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def told(self) -> str:
        return self.output.read_text()

    def ready(self) -> Endpoints:
        def announced() -> Endpoints | None:
            assert self.process.poll() is None, self.told
            return Endpoints.read(self.state)

        return wait_for(announced, seconds=40)

    @property
    def credentials(self) -> Credentials:
        return Credentials.require(self.state)

    @property
    def postmaster(self) -> int:
        lines = (self.state.postgres_folder / "postmaster.pid").read_text().splitlines()
        return int(lines[0])

    def ended(self) -> int:
        return self.process.wait(40)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.ended()


@contextmanager
def running_up(state_dir: Path, **more: str) -> Iterator[Up]:
    up = Up(state_dir, **more)
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.stop()
        stop_orphan(up.state)


def stop_orphan(state: StateFolder) -> None:
    """Stop a Postgres that a killed process left behind."""
    pid_file = state.postgres_folder / "postmaster.pid"
    if pid_file.exists() and state.holder() is None:
        try:
            os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGINT)
        except ProcessLookupError:
            return
        wait_for(lambda: not pid_file.exists())


@contextmanager
def small_disk(folder: Path, megabytes: int, *options: str) -> Iterator[Path]:
    """A disk of that size; skips the test where we may not mount one."""
    folder.mkdir()
    chosen = ",".join((f"size={megabytes}m", "mode=0700", *options))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", chosen, "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("may not mount a disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path, *, leave_kilobytes: int = 0) -> Path:
    """Fill the disk with a file; remove it to make room again."""
    room = os.statvfs(folder)
    size = room.f_bavail * room.f_frsize - leave_kilobytes * 1024
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    return ballast


def connect(up: Up, endpoints: Endpoints | None = None) -> psycopg.Connection:
    known = up.credentials
    url = (endpoints or up.ready()).gateway.url(known.agent, known.password)
    return psycopg.connect(url, autocommit=True, connect_timeout=5)


def remember(connection: psycopg.Connection, content: str) -> None:
    connection.execute("SELECT remember(%s)", [content])


def contents(connection: psycopg.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT content FROM memories")}
