"""The embedded Postgres: the wheel's server as a child process of ours.

The data folder demands SCRAM of everyone from its first start. The server listens on a socket
in a private folder and on no network address. The caller holds the state folder's claim, so a
postmaster that is found running there is an orphan of a killed process and is stopped first.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import asyncpg
import psutil

from pgrecall.data_folder import (
    MAJOR,
    SUPERUSER,
    InitdbFailed,
    binaries,
    check_major,
    make_data_folder,
    server_environment,
)
from pgrecall.errors import DatabaseError, PgrecallError, StateFolderError
from pgrecall.postgres_conf import conf_text
from pgrecall.postmaster import STOP_SECONDS, stop_orphan, stop_postmaster
from pgrecall.state_folder import StateFolder, disk_full, explained, write_private
from pgrecall.system_user import RunAs, let_read, let_through, postgres_user

__all__ = ["APP_ROLE", "DATABASE", "MAJOR", "EmbeddedPostgres", "binaries"]

DATABASE = "memory"
APP_ROLE = "pgrecall"
_PORT = 5432  # names the socket file; nothing listens on it
_MAX_SOCKET_PATH = 103  # macOS's limit; Linux has 107
_NEW_CLUSTER_BYTES = 128 * 1024 * 1024
_RUNNING_BYTES = 32 * 1024 * 1024  # two WAL segments
_START_SECONDS = 900.0  # a recovery reads up to max_wal_size
_LAST_LINES = 5
_MAX_LOG_BYTES = 16 * 1024 * 1024


class EmbeddedPostgres:
    """One Postgres over the data folder of a claimed state folder.

    `settings` override the generated ones. `major` is for tests; data folders never change it.
    """

    def __init__(
        self, state: StateFolder, *, settings: Mapping[str, str] | None = None, major: int = MAJOR
    ) -> None:
        self._state = state
        self._settings = dict(settings or {})
        self._major = major
        self._child: subprocess.Popen[bytes] | None = None
        self._exited = asyncio.Event()

    @cached_property
    def _run_as(self) -> RunAs:
        return postgres_user()

    @cached_property
    def socket_folder(self) -> Path:
        """Where the socket is: in the state folder, or elsewhere when that path is too long."""
        folder = self._state.path / "run"
        if len(os.fsencode(folder)) + len(f"/.s.PGSQL.{_PORT}.lock") <= _MAX_SOCKET_PATH:
            return folder
        name = hashlib.sha256(os.fsencode(self._state.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"pgrecall-{self._run_as.uid}-{name}"

    @property
    def superuser_dsn(self) -> str:
        """How the superuser connects to the memory database."""
        return self.dsn(SUPERUSER, self._state.secrets["superuser"])

    @property
    def app_dsn(self) -> str:
        """How pgrecall itself connects: the owner of the memory database, no superuser."""
        return self.dsn(APP_ROLE, self._state.secrets["app"])

    def dsn(self, user: str, password: str, database: str = DATABASE) -> str:
        """How any role connects to any database."""
        host = quote(str(self.socket_folder), safe="")
        return f"postgresql://{quote(user)}:{quote(password)}@/{database}?host={host}&port={_PORT}"

    @property
    def pid(self) -> int | None:
        """The postmaster's process id while it runs."""
        return self._child.pid if self._child and self._child.poll() is None else None

    async def start(self) -> None:
        """Start the server, on a new data folder if there is none, and wait until it answers.

        Raises WrongMajor, DiskFull, StateFolderError or DatabaseError; the log's last lines are
        in the hint.
        """
        if not self._state.claimed:
            raise StateFolderError(f"{self._state.path} is not claimed by this process")
        launching = asyncio.ensure_future(asyncio.to_thread(self._start))
        try:
            await asyncio.shield(launching)
        except asyncio.CancelledError:  # the thread goes on all the same, and would leave an orphan
            with suppress(PgrecallError):
                await launching
            await self.stop()
            raise
        self._exited = asyncio.Event()
        self._watch(asyncio.get_running_loop(), self._exited)
        try:
            await self._provision()
        except BaseException:
            await self.stop()
            raise

    async def stop(self, *, timeout_seconds: float = STOP_SECONDS) -> None:
        """End sessions, write a checkpoint and stop; at once if that takes too long."""
        child, self._child = self._child, None
        if child is not None and child.poll() is None:
            await asyncio.to_thread(stop_postmaster, psutil.Process(child.pid), timeout_seconds)
            await asyncio.to_thread(child.wait)
        if self.socket_folder.parent != self._state.path:
            with suppress(OSError):  # never made, or a killed server left its socket
                self.socket_folder.rmdir()

    async def wait(self) -> None:
        """Wait until the server ends, by whatever cause."""
        await self._exited.wait()

    def _watch(self, loop: asyncio.AbstractEventLoop, exited: asyncio.Event) -> None:
        child = self._child
        assert child is not None

        def watch() -> None:
            child.wait()
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(exited.set)

        threading.Thread(target=watch, name="postgres-watch", daemon=True).start()

    async def _provision(self) -> None:
        """Make the app's role and database, closed to everybody who was not let in."""
        dsn = self.dsn(SUPERUSER, self._state.secrets["superuser"], "postgres")
        try:
            system = await asyncpg.connect(dsn)
        except asyncpg.InvalidPasswordError as error:
            raise DatabaseError(
                f"secrets.json in {self._state.path} is not the one of its database",
                hint="put the right one back from a backup of the state folder",
            ) from error
        try:
            if not await system.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", APP_ROLE):
                # Nothing to quote in either.
                password = self._state.secrets["app"]
                await system.execute(
                    f"CREATE ROLE {APP_ROLE} LOGIN CREATEROLE PASSWORD '{password}'"
                )
            if not await system.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
                await system.execute(f"CREATE DATABASE {DATABASE} OWNER {APP_ROLE}")
            await system.execute(
                f"REVOKE CONNECT, TEMPORARY ON DATABASE {DATABASE}, postgres, template1 FROM PUBLIC"
            )
        finally:
            await system.close()
        memory = await asyncpg.connect(self.superuser_dsn)
        try:
            await memory.execute("CREATE EXTENSION IF NOT EXISTS vector")
        finally:
            await memory.close()

    # Starting: everything below runs in a worker thread.

    def _start(self) -> None:
        data = self._state.postgres_folder
        with explained(self._state.path):
            self._make_room()
            stop_orphan(data)
            if not (data / "PG_VERSION").exists():
                self._make_data_folder()
            check_major(data, self._major)
            self._configure()
            self._launch()

    def _make_room(self) -> None:
        known = (self._state.postgres_folder / "PG_VERSION").exists()
        room = os.statvfs(self._state.path)
        if room.f_bavail * room.f_frsize < (_RUNNING_BYTES if known else _NEW_CLUSTER_BYTES):
            raise disk_full(self._state.path)
        let_through(self._state.path, self._run_as)
        let_through(binaries(self._major), self._run_as)
        let_read(binaries(self._major).parent, self._run_as)
        self._make_socket_folder()

    def _make_socket_folder(self) -> None:
        folder = self.socket_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        # Below /tmp anyone may have made it first; only a private folder of ours will do.
        if folder.is_symlink() or folder.stat().st_uid not in (os.geteuid(), self._run_as.uid):
            raise StateFolderError(f"{folder} belongs to somebody else", hint="remove it")
        self._run_as.own(folder)
        folder.chmod(0o700)

    def _make_data_folder(self) -> None:
        data, password = self._state.postgres_folder, self._state.secrets["superuser"]
        try:
            make_data_folder(data, password, self._run_as, self._major)
        except InitdbFailed as error:
            raise self._explain(str(error), "the data folder could not be made") from error

    def _configure(self) -> None:
        file = self._state.postgres_folder / "pgrecall.conf"
        write_private(file, conf_text(self.socket_folder, self._settings))
        self._run_as.own(file)
        log_file = self._state.postgres_log
        if log_file.exists() and log_file.stat().st_size > _MAX_LOG_BYTES:
            log_file.replace(log_file.with_suffix(".log.1"))
        log_file.touch(mode=0o600)

    def _launch(self, timeout_seconds: float = _START_SECONDS) -> None:
        deadline = time.monotonic() + timeout_seconds
        while True:
            begin = self._state.postgres_log.stat().st_size
            child = self._spawn()
            if self._became_ready(child, deadline):
                self._child = child
                return
            if child.poll() is None:
                stop_postmaster(psutil.Process(child.pid))
                child.wait()
                raise DatabaseError(f"Postgres did not get ready in {timeout_seconds:.0f} s")
            told = self._state.postgres_log.read_bytes()[begin:].decode(errors="replace")
            # Backends of a killed postmaster take a moment to notice and leave.
            if "pre-existing shared memory block" not in told or time.monotonic() > deadline:
                raise self._explain(told, "Postgres did not start")
            time.sleep(0.1)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._state.postgres_log.open("ab") as output:
            return subprocess.Popen(
                [binaries(self._major) / "postgres", "-D", self._state.postgres_folder],
                cwd=self._state.postgres_folder,
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # a terminal's Ctrl-C is for us, and we stop it in order
                **self._run_as.popen_arguments(),
            )

    def _became_ready(self, child: subprocess.Popen[bytes], deadline: float) -> bool:
        pid_file = self._state.postgres_folder / "postmaster.pid"
        while child.poll() is None and time.monotonic() < deadline:
            try:
                lines = pid_file.read_text().splitlines()
            except FileNotFoundError:
                lines = []
            if len(lines) > 7 and lines[0] == str(child.pid) and lines[7].strip() == "ready":
                return True
            time.sleep(0.01)
        return False

    def _explain(self, told: str, message: str) -> PgrecallError:
        last = "\n".join(told.strip().splitlines()[-_LAST_LINES:])
        room = os.statvfs(self._state.path)
        if "No space left on device" in told or room.f_bavail * room.f_frsize < _RUNNING_BYTES // 4:
            return disk_full(self._state.path)
        if "Read-only file system" in told or "Permission denied" in told:
            return StateFolderError(f"{self._state.path} can't be written", hint=last or None)
        return DatabaseError(message, hint=last or None)
