"""What shares and delegations cost a recall: the same store with them and without, asked in turn.

A thousand agents in two hundred spaces, fifty thousand shares and three hundred delegations, put
straight into the tables as share() and delegate() leave them. Every agent is in ten spaces; who is
`busy` holds ten times the shares and delegations that a `usual` one does.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

import asyncpg
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import datasets
from bench.deployment import Deployment, deployment, load_average
from bench.latency import ask, questions_of
from bench.scale_data import fill, id_of, placed

ROUNDS: Final = 60
SPACES_OF_AN_AGENT: Final = 10
BUSY: Final = 10
console = Console()


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything there is."""

    memories: int = 100_000
    agents: int = 1000
    spaces: int = 200
    shares: int = 50_000
    delegations: int = 300


class Crowd:
    """Who owns, shares and delegates what, by number; `sharing` is False for the bare store.

    The first agent is the busy one, the second the usual one.
    """

    def __init__(self, size: Size, sharing: bool) -> None:
        self.size = size
        self.shares = self._shares() if sharing else []
        self.delegations = self._delegations() if sharing else []
        self._shared = {number for number, _ in self.shares}
        self._tokens = {
            (owner, space): f"delegation:{row}" for row, owner, _, space in self.delegations
        }

    def owner(self, number: int) -> int:
        return number % self.size.agents

    def space(self, number: int) -> int:
        """Return the space of a memory: one of its owner's."""
        return self.spaces_of(self.owner(number))[number // self.size.agents % SPACES_OF_AN_AGENT]

    def spaces_of(self, agent: int) -> list[int]:
        return [(agent + 37 * step) % self.size.spaces for step in range(SPACES_OF_AN_AGENT)]

    def memory(self, number: int, text: str) -> dict[str, Any]:
        """Return a row: every fifth is private, the others are shared with the space."""
        owner, space = self.owner(number), f"s{self.space(number)}"
        readers = [f"agent:a{owner}"]
        if number % 5:
            readers.append(f"space:{space}")
        if number in self._shared:
            readers.append(f"share:{id_of(number)}")
        if token := self._tokens.get((owner, self.space(number))):
            readers.append(token)
        visibility = "shared" if number % 5 else "private"
        return placed(number, text, space, f"a{owner}", visibility, readers)

    def _shares(self) -> list[tuple[int, int]]:
        """Memory and agent; no agent has what is its own."""
        size = self.size
        chosen = []
        for number in range(size.shares):
            memory = number * 7919 % size.memories
            agent = (number // BUSY) % size.agents if number % 100 else 0
            if agent == self.owner(memory):
                agent = (agent + 1) % size.agents
            chosen.append((memory, agent))
        return sorted(set(chosen))

    def _delegations(self) -> list[tuple[UUID, int, int, int]]:
        """Row, owner, agent, and the space whose memories are delegated."""
        size = self.size
        return [
            (
                uuid5(NAMESPACE_OID, str(number)),
                (number + 2) % size.agents,
                number % size.agents if number % 15 else 0,
                self.spaces_of((number + 2) % size.agents)[0],
            )
            for number in range(1, size.delegations + 1)
        ]


async def populate(run_on: Deployment, folder: Path, crowd: Crowd) -> None:
    """Bring the store to its size, if a run before has not."""
    size = crowd.size
    if await run_on.pool.fetchval("select count(*) from pgrecall.embeddings") == size.memories:
        return
    tables = "agents, members, spaces, memory_shares, delegations, row_tokens"
    await run_on.pool.execute(f"truncate pgrecall.{tables.replace(', ', ', pgrecall.')} cascade")
    connection = await asyncpg.connect(run_on.postgres.app_dsn)
    try:

        async def put(table: str, columns: str, records: Sequence[tuple[Any, ...]]) -> None:
            await connection.copy_records_to_table(
                table, schema_name="pgrecall", columns=columns.split(), records=records, timeout=600
            )

        await put("agents", "agent", [(f"a{number}",) for number in range(size.agents)])
        await put("spaces", "space created_by", [(f"s{n}", "a0") for n in range(size.spaces)])
        members = [
            (f"s{s}", f"a{a}", "writer") for a in range(size.agents) for s in crowd.spaces_of(a)
        ]
        await put("members", "space agent role", sorted(set(members)))
        shares = [
            (f"s{crowd.space(m)}", id_of(m), f"a{a}", "read", *[f"a{crowd.owner(m)}"] * 2)
            for m, a in crowd.shares
        ]
        await put("memory_shares", "space id agent permission owner granted_by", shares)
        rows = [
            (row, row, f"a{owner}", f"a{owner}", f"a{agent}", "write", f"s{space}", 0)
            for row, owner, agent, space in crowd.delegations
        ]
        await put(
            "delegations", "id delegation owner granted_by agent permission space depth", rows
        )
        await connection.execute(
            "analyze pgrecall.memory_shares, pgrecall.delegations, pgrecall.members,"
            " pgrecall.agents"
        )
    finally:
        await connection.close()
    await fill(run_on, folder, size.memories, crowd.memory)


async def measure(
    folder: Path, size: Size, rounds: int
) -> list[tuple[str, list[float], list[float]]]:
    """Return for each asker the milliseconds of its recalls, without sharing and with it."""
    async with (
        deployment(f"sharing-{size.memories}-without") as bare,
        deployment(f"sharing-{size.memories}-with") as shared,
    ):
        await populate(bare, folder, Crowd(size, sharing=False))
        await populate(shared, folder, Crowd(size, sharing=True))
        askers = {"usual": "a1", "busy": "a0"}
        times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in askers}
        async with bare.pool.acquire() as without, shared.pool.acquire() as having:
            questions = questions_of(folder, rounds + 5)
            for number, (text, vector) in enumerate(track(questions, "ask", console=console)):
                for name, agent in askers.items():
                    # Turn and turn about, so that neither profits from coming second.
                    order = (0, 1) if number % 2 else (1, 0)
                    for which in order:
                        seconds = await ask((without, having)[which], agent, text, vector)
                        if number >= 5:  # the first warm the cache
                            times[name][which].append(seconds * 1000)
    return [(name, *taken) for name, taken in times.items()]


def show(size: Size, results: Sequence[tuple[str, list[float], list[float]]]) -> None:
    """Print p50 and p95 of both stores, and the first as a multiple."""
    table = Table(
        title=f"sharing: {size.memories:,} memories, {size.agents:,} agents, {size.spaces} spaces, "
        f"{size.shares:,} shares, {size.delegations} delegations ({load_average()})"
    )
    for heading in ("asks", "without p50 ms", "p95", "with p50 ms", "p95", "×"):
        table.add_column(heading, justify="left" if heading == "asks" else "right")
    for name, without, having in results:
        figures = [median(without), _p95(without), median(having), _p95(having)]
        ratio = f"{median(having) / median(without):.2f}"
        table.add_row(name, *(f"{figure:.1f}" for figure in figures), ratio)
    console.print(table)


def _p95(taken: Sequence[float]) -> float:
    return quantiles(taken, n=20)[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench sharing", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"else {datasets.FOLDER_VARIABLE}")
    parser.add_argument("--memories", type=int, default=Size().memories)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    folder = datasets.data_folder(options.data)
    if folder is None:
        console.print(f"skipped: no data (give --data or set {datasets.FOLDER_VARIABLE})")
        return
    size = Size(memories=options.memories)
    show(size, asyncio.run(measure(folder, size, options.rounds)))
