"""The roads that the gateway's benchmark compares: straight, gateway processes, pgbouncer."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import psutil
import psycopg
from rich.console import Console

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from sql import agents
from sql.migrate import migrate
from sql.pool import create_pool

ROLE = "benchmark"
BULK_ROWS = 3_000_000
console = Console()


@dataclass(frozen=True, slots=True)
class Target:
    """A way to the database, and the processes whose CPU it costs."""

    name: str
    host: str
    port: int
    password: str
    database: str
    processes: tuple[psutil.Process, ...] = field(default=(), compare=False)

    @property
    def environment(self) -> dict[str, str]:
        told = {"HOST": self.host, "PORT": str(self.port), "USER": ROLE, "DATABASE": self.database}
        told |= {"PASSWORD": self.password, "SSLMODE": "disable"}
        return {**os.environ, **{f"PG{name}": value for name, value in told.items()}}

    @property
    def conninfo(self) -> str:
        return psycopg.conninfo.make_conninfo(
            host=self.host,
            port=self.port,
            user=ROLE,
            password=self.password,
            dbname=self.database,
            sslmode="disable",
        )

    def cpu_seconds(self) -> float:
        return sum(sum(one.cpu_times()[:2]) for one in self.processes)


@dataclass(frozen=True, slots=True)
class Setting:
    """A database of the benchmark's own, and its agent."""

    postgres: EmbeddedPostgres
    password: str
    folder: Path

    @property
    def direct(self) -> Target:
        host = str(self.postgres.socket_folder)
        return Target("straight", host, 5432, self.password, "memory")


@asynccontextmanager
async def setting() -> AsyncIterator[Setting]:
    folder = Path(tempfile.mkdtemp(prefix="pgr-bench-"))
    os.chmod(folder, 0o711)
    state = StateFolder(folder / "state")
    with state.claim():
        postgres = EmbeddedPostgres(state, settings={"fsync": "off", "max_connections": "1200"})
        await postgres.start()
        try:
            await migrate(postgres.app_dsn)
            async with create_pool_context(postgres.app_dsn) as pool:
                secrets = await agents.add_agent(pool, ROLE, sql_login=True)
            assert secrets.password is not None
            await _fill(postgres)
            yield Setting(postgres, secrets.password, folder)
        finally:
            await postgres.stop()
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def create_pool_context(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    pool = await create_pool(dsn, min_size=1, max_size=2)
    try:
        yield pool
    finally:
        await pool.close()


async def _fill(postgres: EmbeddedPostgres) -> None:
    admin = await asyncpg.connect(postgres.superuser_dsn)
    await admin.execute(
        f"""
        create table public.pgbench_accounts (aid int primary key, abalance int);
        insert into public.pgbench_accounts select n, n from generate_series(1, 100000) n;
        create table public.pgbench_branches (bid int);
        insert into public.pgbench_branches values (1);
        create table public.bulk as
            select repeat('x', 100) as row from generate_series(1, {BULK_ROWS});
        grant usage on schema public to {ROLE};
        grant select on all tables in schema public to {ROLE};
        analyze
        """
    )
    await admin.close()


@asynccontextmanager
async def gateway(made: Setting, workers: int = 1, delay: float = 0.0) -> AsyncIterator[Target]:
    """Start gateway processes on one port."""
    orders = {
        "dsn": made.postgres.app_dsn,
        "host": str(made.postgres.socket_folder),
        "database": "memory",
        "model": "bench",
        "delay_seconds": delay,
        "port": 0,
    }
    children = []
    for _ in range(workers):
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bench.gateway_process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(orders).encode() + b"\n")
        orders["port"] = int(await child.stdout.readline())
        children.append(child)
    processes = tuple(psutil.Process(child.pid) for child in children)
    name = "gateway" if workers == 1 else f"gateway, {workers} workers"
    try:
        yield Target(name, "127.0.0.1", int(orders["port"]), made.password, "memory", processes)
    finally:
        for child in children:
            assert child.stdin is not None
            child.stdin.close()
            await child.wait()


@asynccontextmanager
async def pgbouncer(made: Setting) -> AsyncIterator[Target | None]:
    program = shutil.which("pgbouncer")
    if program is None:
        console.print("[yellow]pgbouncer is not installed: nothing to compare with[/yellow]")
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = made.folder / "pgbouncer.ini"
    config.write_text(
        f"""[databases]
memory = host={made.postgres.socket_folder} port=5432 user={ROLE} password={made.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = session
default_pool_size = 100
"""
    )
    config.chmod(0o644)
    # It refuses to be root, and may only pass to the socket as the folder's owner.
    owner = made.postgres.socket_folder.owner()
    user = ["-u", owner] if os.geteuid() == 0 else []
    child = await asyncio.create_subprocess_exec(
        program,
        "-q",
        *user,
        str(config),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.05)
    process = psutil.Process(child.pid)
    try:
        yield Target("pgbouncer", "127.0.0.1", port, made.password, "memory", (process,))
    finally:
        child.terminate()
        await child.wait()
