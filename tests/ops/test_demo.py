"""`pgrecall demo` as a newcomer runs it: its output, its end, and what it leaves behind."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

DEADLINE_SECONDS = 120.0


@contextmanager
def running_demo(folder: Path, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Start the demo without a terminal; everything temporary of it goes below `folder`."""
    environment = {name: value for name, value in os.environ.items() if "PGRECALL" not in name}
    environment |= {"TMPDIR": str(folder), "PYTHONUNBUFFERED": "1", **settings}
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "demo"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    killer = threading.Timer(DEADLINE_SECONDS, process.kill)
    killer.start()
    try:
        with process:
            yield process
    finally:
        killer.cancel()


def demo_folders(folder: Path) -> list[Path]:
    return list(folder.glob("pgrecall-demo-*"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, Path]:
    folder = tmp_path_factory.mktemp("demo")
    with running_demo(folder, PGRECALL_EMBEDDER="none") as process:
        output, _ = process.communicate()
    return process.returncode, output, folder


def test_the_demo_recalls_through_psql_a_driver_rest_and_mcp(
    played: tuple[int, str, Path],
) -> None:
    code, output, _ = played
    assert code == 0, output
    assert "remembered 214 memories in 4 spaces" in output
    chapters = re.split(r"^\d\. ", output, flags=re.MULTILINE)
    assert len(chapters) == 8, output
    _, _, psql, driver, grouped, corrected, rest, mcp = chapters
    assert "Billing rollback of 3 May" in psql
    assert "('Как вернуть деньги клиенту', 'billing')" in driver
    assert "Halcyon Bikes" in grouped
    assert re.search(r"today .* 49222", corrected)
    assert re.search(r"60 days ago .* port 22$", corrected, re.MULTILINE)
    assert '"What ERR-4012 means"' in rest
    assert re.search(r"grace +\| +Rollback drill", mcp)


def test_the_demo_leaves_nothing_behind(played: tuple[int, str, Path]) -> None:
    assert demo_folders(played[2]) == []


def test_the_demo_prints_plain_lines_without_a_terminal(played: tuple[int, str, Path]) -> None:
    assert "\x1b" not in played[1]
    assert "\r" not in played[1]


@pytest.mark.parametrize("whole_group", [False, True], ids=["SIGTERM", "Ctrl-C"])
def test_a_stopped_demo_stops_everything_and_removes_its_folder(
    tmp_path: Path, whole_group: bool
) -> None:
    with running_demo(tmp_path, PGRECALL_EMBEDDER="none") as process:
        assert process.stdout is not None
        first_line = process.stdout.readline()
        assert first_line.startswith("pgrecall "), first_line + process.stdout.read()
        if whole_group:  # as a terminal does it
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        output = process.stdout.read()
    assert process.returncode not in (0, None)
    assert "Traceback" not in output
    assert demo_folders(tmp_path) == []
    wait_until_no_process_names(tmp_path)


def wait_until_no_process_names(folder: Path) -> None:
    deadline = time.monotonic() + 10
    while named := [words for words in command_lines() if any(str(folder) in w for w in words)]:
        assert time.monotonic() < deadline, named
        time.sleep(0.05)


def command_lines() -> list[list[str]]:
    return [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]


def test_a_demo_that_cannot_start_says_why_in_words(tmp_path: Path) -> None:
    with running_demo(tmp_path, PGRECALL_EMBEDDER="nonesuch") as process:
        output, _ = process.communicate()
    assert process.returncode not in (0, None)
    assert "error:" in output
    assert "PGRECALL_EMBEDDER" in output
    assert "Traceback" not in output
    assert demo_folders(tmp_path) == []
