"""How long a recall takes at 10 thousand to a million memories, beside a bare pgvector query.

Every round asks one question each way, so that all ways meet the same load. `recall@10` compares
the answer with that of a plan without indexes.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import asyncpg
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import datasets
from bench.deployment import Deployment, deployment, load_average
from bench.scale_data import DIMENSION, MODEL, SHARES, fill, texts, vectors
from sql import agents
from sql.errors import Conflict

ROUNDS: Final = 60
EXACT_ROUNDS: Final = 10
WARM_ROUNDS: Final = 100  # of other questions: at a million a few leave most pages on disk
BARE: Final = "bare pgvector"
console = Console()

RECALL: Final = "select id from memory.recall($1, k => 10, query_embedding => $2)"
_VECTOR: Final = f"public.halfvec({DIMENSION})"
NEAREST: Final = f"""
select id from pgrecall.embeddings where head and model = '{MODEL}'
order by embedding::{_VECTOR} operator(public.<=>) $1::text::{_VECTOR}
limit 50"""


async def readers(run_on: Deployment) -> dict[str, str]:
    """Return who sees which share: everything, or one space."""
    for name, spaces in (
        ("everything", [*SHARES, "rest"]),
        *((space, [space]) for space in SHARES),
    ):
        try:
            await agents.add_agent(run_on.pool, f"sees-{name}", reader=True, spaces=spaces)
        except Conflict:
            continue
    return {
        "unfiltered": "sees-everything",
        **{f"visible {share:.2%}": f"sees-{space}" for space, share in SHARES.items()},
    }


async def measure(run_on: Deployment, folder: Path, rows: int, rounds: int) -> list[Any]:
    """Return (rows, way, p50 ms, p95 ms, recall@10) for each way to ask."""
    await fill(run_on, folder, rows)
    ways = await readers(run_on)
    questions = questions_of(folder, WARM_ROUNDS + rounds)
    times: dict[str, list[float]] = {way: [] for way in (BARE, *ways)}
    async with run_on.pool.acquire() as connection:
        for number, (text, vector) in enumerate(track(questions, f"ask {rows:,}", console=console)):
            for way in times:
                seconds = await ask(connection, ways.get(way), text, vector)
                if number >= WARM_ROUNDS:
                    times[way].append(seconds * 1000)
        agreement = {
            way: await _agreement(connection, agent, questions[:EXACT_ROUNDS])
            for way, agent in ways.items()
        }
    return [
        (rows, way, median(taken), quantiles(taken, n=20)[-1], agreement.get(way))
        for way, taken in times.items()
    ]


def questions_of(folder: Path, count: int) -> list[tuple[str, str]]:
    words = texts(folder)
    for _ in range(1234):
        next(words)
    drawn = vectors(count, 10**9)
    return [
        (next(words), f"[{','.join(f'{component:.5g}' for component in vector)}]")
        for vector in drawn
    ]


async def ask(connection: Any, agent: str | None, text: str, vector: str) -> float:
    async with connection.transaction():
        if agent is None:
            # As many as are asked for: the default of 40 could not fill the 50.
            await connection.execute("set local hnsw.ef_search = 50")
            started = time.perf_counter()
            await connection.fetch(NEAREST, vector)
        else:
            await connection.execute("select set_config('pgrecall.agent', $1, true)", agent)
            started = time.perf_counter()
            await connection.fetch(RECALL, text, f"{MODEL} {vector}")
        return time.perf_counter() - started


async def _agreement(
    connection: asyncpg.Connection, agent: str, questions: Sequence[tuple[str, str]]
) -> float:
    """Return the share of the exact answer's ten that the answer has."""
    shares = []
    for text, vector in track(questions, f"compare {agent}", console=console):
        answers = []
        for indexed in ("on", "off"):
            async with connection.transaction():
                await connection.execute("select set_config('pgrecall.agent', $1, true)", agent)
                await connection.execute(f"set local enable_indexscan = {indexed}")
                rows = await connection.fetch(RECALL, text, f"{MODEL} {vector}", timeout=600)
                answers.append({row["id"] for row in rows})
        shares.append(len(answers[0] & answers[1]) / max(1, len(answers[1])))
    return sum(shares) / len(shares)


def show(results: Sequence[Any]) -> None:
    """Print the table, with each way's p50 as a multiple of the bare query's."""
    table = Table(title=f"latency ({load_average()})")
    for heading in ("memories", "way", "p50 ms", "p95 ms", "× bare", "recall@10"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    bare = {rows: middle for rows, way, middle, _, _ in results if way == BARE}
    for rows, way, middle, high, agreement in results:
        table.add_row(
            f"{rows:,}",
            way,
            f"{middle:.1f}",
            f"{high:.1f}",
            f"{middle / bare[rows]:.2f}",
            "" if agreement is None else f"{agreement:.3f}",
        )
    console.print(table)


async def run(folder: Path, sizes: Sequence[int], rounds: int) -> list[Any]:
    """Measure each size in a database of its own, kept for the next run."""
    results: list[Any] = []
    for rows in sizes:
        async with deployment(f"latency-{rows}") as run_on:
            results += await measure(run_on, folder, rows, rounds)
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench latency", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"else {datasets.FOLDER_VARIABLE}")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    folder = datasets.data_folder(options.data)
    if folder is None:
        console.print(f"skipped: no data (give --data or set {datasets.FOLDER_VARIABLE})")
        return
    show(asyncio.run(run(folder, options.sizes, options.rounds)))
