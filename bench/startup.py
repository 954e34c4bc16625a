"""How long `up` takes to its first recall, from nothing and warm, and what it then holds."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from pgrecall.endpoints import Credentials, Endpoints
from pgrecall.state_folder import StateFolder

WARM_RUNS = 3
PATIENCE_SECONDS = 60.0
TARGETS = {"from nothing": 8.0, "warm": 3.0}
TARGET_MEGABYTES = 450
console = Console()


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the start of the process; resident megabytes of its Python processes."""

    first_recall: float
    first_hybrid: float
    megabytes: float


def main() -> None:
    with _folder() as folder:
        starts = {"from nothing": [_measure(folder)]}
        starts["warm"] = [_measure(folder) for _ in range(WARM_RUNS)]
    table = Table(title=f"start of pgrecall up (load {os.getloadavg()[0]:.1f})")
    for column in ("start", "first recall s", "with its vector leg s", "target s", "Python MB"):
        table.add_column(column, justify="left" if column == "start" else "right")
    for name, measured in starts.items():
        table.add_row(
            name,
            f"{median(one.first_recall for one in measured):.2f}",
            f"{median(one.first_hybrid for one in measured):.2f}",
            f"{TARGETS[name]:.0f}",
            f"{max(one.megabytes for one in measured):.0f} of {TARGET_MEGABYTES}",
        )
    console.print(table)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pgrecall-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(folder: Path) -> Start:
    state = StateFolder(folder / "state")
    environment = os.environ | {
        "PGRECALL_STATE_DIR": str(state.path),
        "PGRECALL_GATEWAY_PORT": "0",
        "PGRECALL_HTTP_PORT": "0",
        "PGRECALL_LOG_LEVEL": "error",
    }
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "up"], env=environment, stdout=subprocess.DEVNULL
    )
    try:
        running = _announced(process, state)
        token = Credentials.require(state).token
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=running.http, headers=headers, timeout=30) as client:
            _recall(client)
            first_recall = time.perf_counter() - began
            while _recall(client) is not None:
                if time.perf_counter() - began > PATIENCE_SECONDS:
                    raise TimeoutError("the vector leg never served")
            first_hybrid = time.perf_counter() - began
        return Start(first_recall, first_hybrid, _python_megabytes(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _announced(process: subprocess.Popen[bytes], state: StateFolder) -> Endpoints:
    deadline = time.perf_counter() + PATIENCE_SECONDS
    while (running := Endpoints.read(state)) is None:
        if process.poll() is not None or time.perf_counter() > deadline:
            raise TimeoutError("pgrecall up did not announce itself")
        time.sleep(0.01)
    return running


def _recall(client: httpx.Client) -> str | None:
    """Recall something, and return why the vector leg did not serve."""
    answer = client.post("/v1/recall", json={"query": "how did we roll back the billing deploy"})
    answer.raise_for_status()
    degraded: str | None = answer.json()["degraded"]
    return degraded


def _python_megabytes(pid: int) -> float:
    parent = psutil.Process(pid)
    family = [parent, *parent.children(recursive=True)]
    return sum(
        one.memory_info().rss for one in family if one.name().startswith(("python", "pgrecall"))
    ) / (1024 * 1024)


if __name__ == "__main__":
    main()
