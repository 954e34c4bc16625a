"""The postmaster as a process: finding one that was left behind, and stopping it."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import structlog

log = structlog.get_logger(__name__)

STOP_SECONDS = 60.0


def stop_orphan(data: Path) -> None:
    """Stop the server that a killed process left, and don't mistake another for it.

    For who holds the state folder of that data folder: nobody else's server can be there.
    """
    pid_file = data / "postmaster.pid"
    try:
        process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
        return
    if _works_in(process, data):
        log.warning("stopping the Postgres that a killed process left behind", pid=process.pid)
        stop_postmaster(process)
    elif not any(_works_in(one, data) for one in psutil.process_iter()):
        pid_file.unlink()  # the number went to a stranger, which Postgres would wait for


def stop_postmaster(postmaster: psutil.Process, timeout_seconds: float = STOP_SECONDS) -> None:
    """Stop a postmaster: fast shutdown, and immediate if that takes too long."""
    for sent in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        try:
            postmaster.send_signal(sent)
            postmaster.wait(timeout_seconds)
        except psutil.TimeoutExpired:
            log.warning("Postgres takes long to stop", pid=postmaster.pid, signal=sent.name)
            timeout_seconds = 10.0
            continue
        except psutil.NoSuchProcess:
            pass
        return


def _works_in(process: psutil.Process, data: Path) -> bool:
    try:
        return "postgres" in process.name() and process.cwd() == str(data.resolve())
    except psutil.Error:
        return False
