"""What the gateway costs: CPU a transaction, throughput, latency, memory.

Rounds of all contestants are interleaved and medians reported; CPU is the process's own clock, so
that it holds on a busy machine too. pgbouncer is measured where it's installed.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from rich.table import Table

from bench.gateway_roads import (
    BULK_ROWS,
    ROLE,
    Setting,
    Target,
    console,
    gateway,
    pgbouncer,
    setting,
)
from pgrecall.embedded import binaries

ROUNDS = 9
# Long enough that the logins, which pgbouncer doesn't pass on, weigh nothing.
SECONDS = 5
CLIENTS = 8


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside what it should be."""

    name: str
    value: float
    unit: str
    target: str = ""


async def pgbench(
    target: Target, mode: str, seconds: int = SECONDS, script: Path | None = None
) -> tuple[float, float]:
    """Return transactions a second, and microseconds of the target's CPU for each."""
    before = target.cpu_seconds()
    what = ("-S", "-s", "1") if script is None else ("-f", str(script))
    child = await asyncio.create_subprocess_exec(
        str(binaries() / "pgbench"),
        *("-n", *what, "-M", mode, "-c", str(CLIENTS), "-T", str(seconds)),
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
    """Ask for 400 MB and read nothing of it."""
    before = resident_megabytes(through)
    async with await psycopg.AsyncConnection.connect(through.conninfo) as one:
        one.pgconn.send_query(b"select repeat('x', 1000) from generate_series(1, 400000)")
        one.pgconn.flush()
        await asyncio.sleep(2)
        grown = resident_megabytes(through) - before
        one.pgconn.finish()
    return [Figure("a stalled reader of 400 MB", grown, "MB", "≤ 10")]


async def pings(through: Target, seconds: float) -> list[float]:
    """Return how long `select 1` took on one session, again and again, in milliseconds."""
    taken: list[float] = []
    async with await psycopg.AsyncConnection.connect(through.conninfo, autocommit=True) as one:
        until = time.perf_counter() + seconds
        while (started := time.perf_counter()) < until:
            await one.execute("select 1")
            taken.append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(0.002)
    return taken


async def under_garbage(through: Target, seconds: float = 4.0) -> list[Figure]:
    """Compare a session's latency with that while a thousand sockets bring garbage, over again."""
    calm = await pings(through, seconds)
    flood = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.garbage", through.host, str(through.port), str(seconds + 2)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert flood.stdout is not None
    await flood.stdout.readline()
    disturbed = await pings(through, seconds)
    await flood.communicate()
    ratio = statistics.median(disturbed) / statistics.median(calm)
    return [
        Figure("select 1, p50", statistics.median(calm), "ms"),
        Figure("the same under garbage, p50", statistics.median(disturbed), "ms"),
        Figure("latency under garbage over calm", ratio, "×", "≤ 2"),
    ]


async def refused_milliseconds(target: Target, role: str) -> float:
    started = time.perf_counter()
    try:
        await psycopg.AsyncConnection.connect(target.conninfo, user=role, password="wrong")
    except psycopg.OperationalError:
        return (time.perf_counter() - started) * 1000
    raise RuntimeError("a wrong password was taken")


async def refusals(through: Target, count: int = 200) -> list[Figure]:
    """Tell whether the time to a refusal says if there is such a role."""
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(count):
        for role in (ROLE, "nobody"):
            taken[role].append(await refused_milliseconds(through, role))
    known, unknown = (statistics.median(taken[role]) for role in (ROLE, "nobody"))
    spread = statistics.stdev(taken[ROLE])
    return [
        Figure("wrong password of a role, p50", known, "ms"),
        Figure("the same of no role, more than that", unknown - known, "ms", f"σ {spread:.2f}"),
    ]


async def workers(made: Setting, rounds: int) -> list[Figure]:
    """Compare two workers with one, by pgbench -S and where the gateway is most of the work.

    All that runs shares the cores: the more of the CPU is the gateway's own, the more a second
    worker can bring. Its share bounds the gain.
    """
    ping = made.folder / "ping.sql"
    ping.write_text("select 1;")
    figures: list[Figure] = []
    async with gateway(made) as one, gateway(made, workers=2) as two:
        for name, mode, script in (("pgbench -S", "simple", None), ("select 1", "prepared", ping)):
            rates: dict[int, list[float]] = defaultdict(list)
            shares: list[float] = []
            for _ in range(rounds):
                spent = sum(psutil.cpu_times()[:3])
                rate, cpu = await pgbench(one, mode, script=script)
                spent = sum(psutil.cpu_times()[:3]) - spent
                shares.append(rate * cpu * SECONDS / 1e6 / spent)
                rates[1].append(rate)
                rates[2].append((await pgbench(two, mode, script=script))[0])
            ratio = statistics.median(rates[2]) / statistics.median(rates[1])
            figures += [
                Figure(
                    f"{name}: one worker's share of the CPU spent", statistics.median(shares), ""
                ),
                Figure(f"{name}: throughput of two workers over one", ratio, "×", "≥ 1.2"),
            ]
    return figures


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
        figures += await refusals(one)
        figures += await spliced(one)
        figures += await under_garbage(one)
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
