"""What the gateway costs: CPU a transaction, throughput, latency, memory.

Rounds of all contestants are interleaved and medians reported; CPU is the process's own clock, so
that it holds on a busy machine too. pgbouncer is measured where it's installed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from pgrecall.embedded import EmbeddedPostgres, binaries
from pgrecall.state_folder import StateFolder
from sql import agents
from sql.migrate import migrate
from sql.pool import create_pool

ROLE = "benchmark"
ROUNDS = 9
SECONDS = 1
CLIENTS = 8
BULK_ROWS = 3_000_000
console = Console()


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside what it should be."""

    name: str
    value: float
    unit: str
    target: str = ""


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


async def pgbench(target: Target, mode: str, seconds: int = SECONDS) -> tuple[float, float]:
    """Return transactions a second, and microseconds of the target's CPU for each."""
    before = target.cpu_seconds()
    child = await asyncio.create_subprocess_exec(
        str(binaries() / "pgbench"),
        *("-n", "-S", "-s", "1", "-M", mode, "-c", str(CLIENTS), "-T", str(seconds)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=target.environment,
    )
    out, err = await child.communicate()
    processed = re.search(rb"actually processed: (\d+)", out)
    rate = re.search(rb"tps = ([\d.]+)", out)
    if processed is None or rate is None:
        raise RuntimeError(err.decode())
    spent = target.cpu_seconds() - before
    return float(rate[1]), spent / int(processed[1]) * 1e6


async def transactions(targets: list[Target], rounds: int) -> list[Figure]:
    figures: list[Figure] = []
    for mode in ("simple", "prepared"):
        measured: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(rounds):
            for target in targets:
                measured[target.name].append(await pgbench(target, mode))
        cpu = {}
        for name, rounds_of_it in measured.items():
            tps = statistics.median(one[0] for one in rounds_of_it)
            cpu[name] = statistics.median(one[1] for one in rounds_of_it)
            figures.append(Figure(f"{mode}, {name}: throughput", tps, "tx/s"))
            if name != "straight":
                figures.append(Figure(f"{mode}, {name}: CPU", cpu[name], "µs/tx"))
        if "pgbouncer" in cpu:
            ratio = cpu["gateway"] / cpu["pgbouncer"]
            figures.append(Figure(f"{mode}: CPU over pgbouncer's", ratio, "×", "≤ 1.3"))
    return figures


async def copied_megabytes_per_second(target: Target) -> float:
    """COPY OUT of the 300 MB table by psql, thrown away."""
    started = time.monotonic()
    child = await asyncio.create_subprocess_exec(
        *(str(binaries() / "psql"), "-XAtq", "-c", "copy public.bulk to stdout"),
        stdout=asyncio.subprocess.DEVNULL,
        env=target.environment,
    )
    await child.wait()
    return BULK_ROWS * 101 / 1e6 / (time.monotonic() - started)


async def bulk(targets: list[Target], rounds: int = 3) -> list[Figure]:
    rates: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for target in targets:
            rates[target.name].append(await copied_megabytes_per_second(target))
    best = {name: max(found) for name, found in rates.items()}
    figures = [Figure(f"COPY OUT, {name}", rate, "MB/s") for name, rate in best.items()]
    ratio = best["gateway"] / best["straight"]
    return [*figures, Figure("COPY OUT over straight", ratio, "×", "≥ 0.9")]


async def login_milliseconds(target: Target) -> float:
    started = time.perf_counter()
    async with await psycopg.AsyncConnection.connect(target.conninfo):
        return (time.perf_counter() - started) * 1000


async def logins(straight: Target, through: Target, count: int = 40) -> list[Figure]:
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(count):
        for target in (straight, through):
            taken[target.name].append(await login_milliseconds(target))
    medians = {name: statistics.median(found) for name, found in taken.items()}
    more = medians[through.name] - medians[straight.name]
    return [
        Figure("login, straight", medians[straight.name], "ms"),
        Figure("login over straight", more, "ms", "≤ 3"),
    ]


async def spliced(through: Target, count: int = 200) -> list[Figure]:
    """Compare a recall whose text is embedded in no time with one that brings its vector."""
    vector = f"bench [{','.join(['0.05103'] * 384)}]"
    ready, plain = [], []
    async with await psycopg.AsyncConnection.connect(through.conninfo, autocommit=True) as one:
        for _ in range(count):
            started = time.perf_counter()
            await one.execute("select * from recall(%s, query_embedding => %s)", ["how", vector])
            middle = time.perf_counter()
            await one.execute("select * from recall(%s)", ["how"])
            ready.append(middle - started)
            plain.append(time.perf_counter() - middle)
    added = (statistics.median(plain) - statistics.median(ready)) * 1000
    return [Figure("spliced recall over one with its vector", added, "ms", "≤ 1")]


def resident_megabytes(target: Target) -> float:
    return sum(one.memory_info().rss for one in target.processes) / 1e6


async def idle(through: Target, count: int = 1000) -> list[Figure]:
    before = resident_megabytes(through)
    async with AsyncExitStack() as stack:
        for _ in range(count // 20):
            opened = await asyncio.gather(
                *(psycopg.AsyncConnection.connect(through.conninfo) for _ in range(20))
            )
            for one in opened:
                stack.push_async_callback(one.close)
        grown = resident_megabytes(through) - before
    return [Figure(f"{count:,} idle sessions", grown, "MB", "≤ 60")]


async def stalled(through: Target) -> list[Figure]:
    """Ask for 300 MB and read nothing of it."""
    before = resident_megabytes(through)
    async with await psycopg.AsyncConnection.connect(through.conninfo) as one:
        one.pgconn.send_query(b"copy public.bulk to stdout")
        one.pgconn.flush()
        await asyncio.sleep(2)
        grown = resident_megabytes(through) - before
        one.pgconn.finish()
    return [Figure("a stalled reader of 300 MB", grown, "MB", "≤ 10")]


async def workers(made: Setting, rounds: int) -> list[Figure]:
    rates: dict[int, list[float]] = defaultdict(list)
    async with gateway(made) as one, gateway(made, workers=2) as two:
        for _ in range(rounds):
            rates[1].append((await pgbench(one, "simple"))[0])
            rates[2].append((await pgbench(two, "simple"))[0])
    ratio = statistics.median(rates[2]) / statistics.median(rates[1])
    return [Figure("throughput of two workers over one", ratio, "×", "≥ 1.2")]


async def run(rounds: int = ROUNDS) -> list[Figure]:
    """Measure everything and return the figures."""
    figures: list[Figure] = []
    async with setting() as made, AsyncExitStack() as stack:
        one = await stack.enter_async_context(gateway(made))
        bouncer = await stack.enter_async_context(pgbouncer(made))
        targets = [made.direct, one, *([bouncer] if bouncer else [])]
        figures += await transactions(targets, rounds)
        figures += await bulk([made.direct, one])
        figures += await logins(made.direct, one)
        figures += await spliced(one)
        figures += await stalled(one)
        figures += await idle(one)
        figures += await workers(made, rounds)
    return figures


def show(figures: list[Figure]) -> None:
    """Print the figures as a table, with the machine's load."""
    table = Table(title=f"gateway, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for heading in ("figure", "measured", "unit", "aim"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for one in figures:
        table.add_row(one.name, f"{one.value:,.2f}", one.unit, one.target)
    console.print(table)


def main(rounds: int = ROUNDS) -> None:
    """Measure and print."""
    started = time.monotonic()
    show(asyncio.run(run(rounds)))
    console.print(f"took {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
