"""The state folder: one process at a time, private files, nothing half-written."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import platformdirs

from pgrecall.errors import (
    DiskFull,
    NotAStateFolder,
    PgrecallError,
    StateFolderError,
    StateFolderInUse,
)
from pgrecall.system_user import let_through, postgres_user

Purpose: TypeAlias = Literal["up", "mcp", "command"]

_OURS = frozenset(
    {"lock", "pgrecall.toml", "postgres", "secrets.json", "credentials.json", "signing_key.pem"}
)
_HANDOVER_SECONDS = 15.0
_PROBE_SECONDS = 0.3  # holder() in another process takes the lock for a moment
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def default_state_folder() -> Path:
    """Return the platform's place for a program's state."""
    if os.geteuid() == 0:
        return Path("/var/lib/pgrecall")
    return Path(platformdirs.user_state_dir("pgrecall"))


class StateFolder:
    """Files of one deployment, all of them private to the user who runs it."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.claimed = False
        self._descriptor = -1

    @property
    def settings_file(self) -> Path:
        """Where settings may stand."""
        return self.path / "pgrecall.toml"

    @property
    def endpoints_file(self) -> Path:
        """Where a running `up` says how to reach it."""
        return self.path / "endpoints.json"

    @property
    def credentials_file(self) -> Path:
        """Where the first agent's secrets stand."""
        return self.path / "credentials.json"

    @property
    def signing_key_file(self) -> Path:
        """Where the key stands that signs the log's heads."""
        return self.path / "signing_key.pem"

    @property
    def postgres_folder(self) -> Path:
        """The data folder of the embedded Postgres."""
        return self.path / "postgres"

    @property
    def postgres_log(self) -> Path:
        """What the embedded Postgres logs."""
        return self.path / "postgres.log"

    @cached_property
    def secrets(self) -> dict[str, str]:
        """Our own secrets, made when first asked for: alphanumerics, - and _ only.

        `superuser` and `app` are passwords of the embedded Postgres; by `mock` the gateway's
        answers to unknown roles look alike after a restart.
        """
        file = self.path / "secrets.json"
        kept = self.read_json(file) or {}
        missing = [name for name in ("superuser", "app", "mock") if name not in kept]
        if missing:
            kept |= {name: secrets.token_urlsafe(32) for name in missing}
            write_private(file, json.dumps(kept, indent=2) + "\n")
        return kept

    def read_json(self, file: Path) -> dict[str, Any] | None:
        """Return what a file of the folder holds, None when there is none."""
        try:
            content: dict[str, Any] = json.loads(file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return content

    @contextmanager
    def claim(self, purpose: Purpose = "command") -> Iterator[StateFolder]:
        """Hold the folder for this process; it is made when it is missing.

        An `up` waits for a command to end, and asks an `mcp` to give way, by SIGUSR1. Raises
        StateFolderInUse when another process keeps it; the kernel frees it when that one ends,
        however it ends.
        """
        with explained(self.path):
            self._prepare()
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(descriptor, purpose)
            self._descriptor = descriptor
            self.claimed = True
            yield self
        finally:
            self.claimed = False
            os.close(descriptor)

    def tell_serving(self) -> None:
        """Tell other processes that the database answers, is migrated, and stays a while."""
        holder = Holder.read(self._descriptor)
        assert holder is not None
        with explained(self.path):
            holder.serving = True
            holder.write(self._descriptor)

    def holder(self) -> Holder | None:
        """Return the process that holds the folder; its id is 0 while it settles in."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Holder.read(descriptor) or Holder(0, "", "command")
        finally:
            os.close(descriptor)
        return None

    def _prepare(self) -> None:
        run_as = postgres_user()
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = {entry.name for entry in self.path.iterdir()}
        if names and not names & _OURS:
            raise NotAStateFolder(
                f"{self.path} holds other files and is no state folder of pgrecall",
                hint="give an empty or a new folder with --state-dir",
            )
        if stat.S_IMODE(self.path.stat().st_mode) != 0o700:
            self.path.chmod(0o700)
        run_as.own(self.path)
        let_through(self.path, run_as)

    def _lock(self, descriptor: int, purpose: Purpose) -> None:
        began, asked = time.monotonic(), False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = Holder.read(descriptor)
            may_wait = purpose == "up" and (holder is None or holder.purpose != "up")
            if may_wait and holder and holder.purpose == "mcp" and not asked:
                os.kill(holder.pid, signal.SIGUSR1)
                asked = True
            if time.monotonic() - began > (_HANDOVER_SECONDS if may_wait else _PROBE_SECONDS):
                raise _in_use(holder)
            time.sleep(0.05)
        with explained(self.path):
            self.endpoints_file.unlink(missing_ok=True)  # a killed one left it
            since = datetime.now().astimezone().isoformat()
            Holder(os.getpid(), since, purpose).write(descriptor)


@dataclass(slots=True)
class Holder:
    """What the lock file says of the process that holds the lock.

    `serving`: its database may be used, and will not go with the end of a short command.
    """

    pid: int
    since: str
    purpose: Purpose
    serving: bool = False

    @classmethod
    def read(cls, descriptor: int) -> Holder | None:
        """Return None while it has the lock and has not yet written who it is."""
        try:
            return cls(**json.loads(os.pread(descriptor, 4096, 0)))
        except (ValueError, TypeError):
            return None

    def write(self, descriptor: int) -> None:
        """Put it in place of what stands there."""
        written = json.dumps(asdict(self)).encode()
        os.pwrite(descriptor, written, 0)
        os.ftruncate(descriptor, len(written))


def _in_use(holder: Holder | None) -> StateFolderInUse:
    by = "another process"
    if holder is not None:
        since = datetime.fromisoformat(holder.since)
        form = "%H:%M" if since.date() == datetime.now().astimezone().date() else "%Y-%m-%d %H:%M"
        by = f"process {holder.pid} (up since {since.strftime(form)})"
    return StateFolderInUse(
        f"this state folder is in use by {by}",
        hint="stop it, or give another folder with --state-dir",
    )


def write_private(path: Path, content: str) -> None:
    """Put `content` into a file that only its owner can read; whole or not at all."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(made)
        raise


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Raise our errors in place of the system's about files under `folder`."""
    try:
        yield
    except OSError as error:
        raise explain(error, folder) from error


def explain(error: OSError, folder: Path) -> PgrecallError:
    """Return our error for one of the system's."""
    if error.errno in _FULL:
        return disk_full(folder)
    where = error.filename or folder
    if error.errno in _REFUSED:
        return StateFolderError(
            f"{where} can't be written: {error.strerror}",
            hint="see who owns it and how it is mounted, or give another folder with --state-dir",
        )
    return StateFolderError(f"{where}: {error.strerror or error}")


def disk_full(folder: Path) -> DiskFull:
    """Return the error for a full disk below `folder`."""
    return DiskFull(
        f"no room left on the disk of {folder}",
        hint="free some space and start again; nothing that was acknowledged is lost",
    )
