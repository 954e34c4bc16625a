"""`pgrecall up` as a process: what it says, how it stops, and what it survives."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from pgrecall.endpoints import Endpoints
from tests.conftest import short_lived_folder
from tests.ops.processes import (
    Up,
    connect,
    contents,
    environment,
    fill,
    pgrecall,
    remember,
    running_up,
    small_disk,
    wait_for,
)


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    """One that the harmless tests share."""
    with short_lived_folder() as folder, running_up(folder / "state") as running:
        running.ready()
        yield running


def test_the_start_text_tells_every_way_in(up: Up) -> None:
    endpoints = up.ready()
    told = up.told
    assert f"postgresql://me@127.0.0.1:{endpoints.gateway.port}/memory" in told
    assert endpoints.rest in told
    assert endpoints.mcp in told
    assert 'eval "$(pgrecall env)"' in told


def test_files_with_secrets_are_private_and_none_stands_in_the_output(up: Up) -> None:
    for name in ("credentials.json", "secrets.json", "endpoints.json"):
        assert stat.S_IMODE((up.state.path / name).stat().st_mode) == 0o600
    secrets = [up.credentials.token, up.credentials.password, *up.state.secrets.values()]
    assert not any(secret in up.told for secret in secrets if secret)


def test_psql_remembers_and_recalls_through_the_environment_that_env_prints(up: Up) -> None:
    program = f"{shlex.quote(sys.executable)} -m pgrecall"
    command = f'eval "$({program} env)"; {program} psql -tAc "$1"'
    result = subprocess.run(
        ["bash", "-c", command, "-", "SELECT current_user"],
        env=environment(up.state.path, {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.strip() == "me", result.stderr


def test_the_commands_work_beside_a_running_up(up: Up) -> None:
    added = json.loads(pgrecall(up.state.path, "agent", "add", "eve", "--sql", "--json").stdout)
    gateway = up.ready().gateway
    with psycopg.connect(gateway.url("eve", added["password"])) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("eve",)
    rotated = json.loads(pgrecall(up.state.path, "agent", "rotate", "eve", "--json").stdout)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(gateway.url("eve", added["password"]))
    psycopg.connect(gateway.url("eve", rotated["password"])).close()
    pgrecall(up.state.path, "agent", "login", "eve", "--end")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(gateway.url("eve", rotated["password"]))
    given = pgrecall(up.state.path, "agent", "login", "eve", "--days", "1", "--json").stdout
    psycopg.connect(gateway.url("eve", json.loads(given)["password"])).close()
    pgrecall(up.state.path, "agent", "remove", "eve")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(gateway.url("eve", json.loads(given)["password"]))


def test_status_tells_versions_backlog_and_a_way_to_the_database(up: Up) -> None:
    status = json.loads(pgrecall(up.state.path, "status", "--json").stdout)
    assert status["running"] is True
    assert status["embedding_backlog"] == 0
    assert status["versions"].keys() == {"pgrecall", "postgres", "vector"}
    with psycopg.connect(status["database_dsn"]) as connection:
        assert connection.execute("SHOW is_superuser").fetchone() == ("on",)


def test_a_second_one_over_the_same_folder_says_so_and_leaves_the_first_alone(up: Up) -> None:
    second = pgrecall(up.state.path, "up", expect=1)
    assert f"error: this state folder is in use by process {up.process.pid} (up since " in (
        second.stderr
    )
    assert "hint: stop it, or give another folder with --state-dir" in second.stderr
    with connect(up) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("front", ["GATEWAY", "HTTP"])
def test_a_port_in_use_is_named_with_who_has_it(temporary_folder: Path, front: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = pgrecall(
            temporary_folder / "state", "up", expect=1, **{f"PGRECALL_{front}_PORT": port}
        )
    assert f"error: port {port} of 127.0.0.1 is in use by process {os.getpid()}" in result.stderr
    assert f"--{front.lower()}-port" in result.stderr
    assert not postgres_processes(temporary_folder)


def postgres_processes(folder: Path) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in word for word in process.info["cmdline"] or ())
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_and_exits_with_0(
    temporary_folder: Path, number: signal.Signals
) -> None:
    with running_up(temporary_folder / "state") as up:
        up.ready()
        with connect(up) as idle:
            up.process.send_signal(number)
            assert up.ended() == 0, up.told
            with pytest.raises(psycopg.OperationalError):
                idle.execute("SELECT 1")
        assert not up.state.endpoints_file.exists()
        assert not postgres_processes(temporary_folder)


def test_a_signal_amid_the_start_leaves_no_process_behind(temporary_folder: Path) -> None:
    with running_up(temporary_folder / "state") as up:
        wait_for((temporary_folder / "state" / "secrets.json").exists)
        up.process.send_signal(signal.SIGTERM)
        assert up.ended() == 0, up.told
        assert not postgres_processes(temporary_folder)


def test_after_kill_9_the_next_one_has_everything_that_was_acknowledged(
    temporary_folder: Path,
) -> None:
    with running_up(temporary_folder / "state") as up:
        endpoints = up.ready()
        with connect(up, endpoints) as connection:
            remember(connection, "kept over a kill")
        up.process.kill()
        up.process.wait()
        assert Endpoints.read(up.state) is None  # its file is there, and not believed
        with running_up(temporary_folder / "state") as again:
            again.ready()
            with connect(again) as connection:
                assert contents(connection) == {"kept over a kill"}


class Writer(threading.Thread):
    """Remembers without a pause, and notes what was acknowledged."""

    def __init__(self, up: Up) -> None:
        super().__init__(daemon=True)
        self.acknowledged: list[str] = []
        self.refused = 0
        self.enough = threading.Event()
        self._up = up
        self._endpoints = up.ready()

    def run(self) -> None:
        while not self.enough.is_set():
            try:
                with connect(self._up, self._endpoints) as connection:
                    while not self.enough.is_set():
                        content = f"fact {len(self.acknowledged)} of {self.refused}"
                        remember(connection, content)
                        self.acknowledged.append(content)
            except psycopg.Error:
                self.refused += 1
                self.enough.wait(0.05)

    def writes_on(self) -> None:
        reached = len(self.acknowledged) + 20
        wait_for(lambda: len(self.acknowledged) >= reached)


def test_a_killed_postgres_comes_back_under_load_and_no_acknowledged_write_is_lost(
    temporary_folder: Path,
) -> None:
    with running_up(temporary_folder / "state") as up:
        up.ready()
        writer = Writer(up)
        writer.start()
        writer.writes_on()
        killed = up.postmaster
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: writer.refused)
        writer.writes_on()
        writer.enough.set()
        writer.join()
        assert up.process.poll() is None
        assert up.postmaster != killed
        with connect(up) as connection:
            assert set(writer.acknowledged) <= contents(connection)


def test_a_killed_backend_takes_only_its_moment(temporary_folder: Path) -> None:
    with running_up(temporary_folder / "state") as up:
        up.ready()
        with connect(up) as connection:
            remember(connection, "kept over a crash")
            pid = connection.info.backend_pid
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")

        def answered() -> set[str]:
            try:
                with connect(up) as connection:
                    return contents(connection)
            except psycopg.OperationalError:  # all backends restart together
                return set()

        assert wait_for(answered) == {"kept over a crash"}


def test_a_disk_that_fills_up_is_said_and_nothing_is_lost(temporary_folder: Path) -> None:
    with small_disk(temporary_folder / "disk", 320) as disk, running_up(disk / "state") as up:
        up.ready()
        with connect(up) as connection:
            remember(connection, "kept on a full disk")
        up.stop()
        ballast = fill(disk)
        refused = pgrecall(disk / "state", "up", expect=1)
        assert "error: no room left on the disk of " in refused.stderr
        ballast.unlink()
        with running_up(disk / "state") as again:
            again.ready()
            with connect(again) as connection:
                assert contents(connection) == {"kept on a full disk"}


def recall_notice(connection: psycopg.Connection) -> str:
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    connection.execute("SELECT * FROM recall('anything')")
    return "\n".join(notices)


def test_more_gateway_workers_share_the_port_and_stop_with_the_first(
    temporary_folder: Path,
) -> None:
    with running_up(temporary_folder / "state", PGRECALL_GATEWAY_WORKERS="2") as up:
        up.ready()
        children = psutil.Process(up.process.pid).children()
        workers = [child for child in children if "postgres" not in child.name()]
        for _ in range(8):
            with connect(up) as connection:
                assert "no embedder is set up" in recall_notice(connection)
        logged_in = re.search(r"^pgrecall_gateway_logins_total (\d+)", metrics(up), re.MULTILINE)
        assert logged_in, metrics(up)
        assert int(logged_in[1]) == 8
        up.process.kill()
        up.process.wait()
        assert workers
        assert psutil.wait_procs(workers, timeout=20)[1] == []


def test_a_gateway_worker_that_dies_is_replaced_while_up_goes_on(temporary_folder: Path) -> None:
    with running_up(temporary_folder / "state", PGRECALL_GATEWAY_WORKERS="2") as up:
        up.ready()
        first = gateway_workers(up)
        assert len(first) == 1
        first[0].kill()

        wait_for(lambda: [one.pid for one in gateway_workers(up)] not in ([], [first[0].pid]))

        for _ in range(4):
            with connect(up) as connection:
                assert "no embedder is set up" in recall_notice(connection)


def gateway_workers(up: Up) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(up.process.pid).children()
        if "postgres" not in child.name() and child.status() != psutil.STATUS_ZOMBIE
    ]


def metrics(up: Up) -> str:
    return httpx.get(f"{up.ready().http}/metrics", timeout=10).text
