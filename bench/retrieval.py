"""How well recall ranks: lexical, vector and hybrid on each test set, beside BM25.

Everything goes through the store: documents by remember_many(), questions by recall().
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
from ir_measures import RR, R, nDCG
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import datasets
from bench.datasets import TestSet
from bench.deployment import Deployment, deployment, load_average
from bench.vectors import CachedEmbeddings
from sql.records import Mode, NewMemory, RecallQuery
from sql.store import MemoryStore

MEASURES = (nDCG @ 10, R @ 5, R @ 10, RR @ 10)
BATCH = 500
Run = dict[str, dict[str, float]]
console = Console()


def space_of(test_set: TestSet, group: str | None) -> str:
    """Return the space that a document or query of the group is in: one for each conversation."""
    return f"{test_set.name}/{group}" if group else test_set.name


async def load(run_on: Deployment, test_set: TestSet, vectors: CachedEmbeddings) -> None:
    """Remember the set's documents, if a run before has not; with their vectors."""
    spaces = sorted({space_of(test_set, document.group) for document in test_set.documents})
    standing = await run_on.pool.fetchval(
        "select count(*) from pgrecall.memories where space = any ($1)", spaces
    )
    documents = [document for document in test_set.documents if document.text.strip()]
    if standing >= len(documents):
        return
    store = MemoryStore(run_on.pool, vectors.query)
    for start in track(range(0, len(documents), BATCH), f"load {test_set.name}", console=console):
        batch = documents[start : start + BATCH]
        written = await store.remember_many(
            run_on.agent,
            [
                NewMemory(
                    content=document.text,
                    title=document.title,
                    space=space_of(test_set, document.group),
                    thread=document.group,
                    event_at=document.happened_at,
                    metadata={"document": document.id},
                )
                for document in batch
            ],
        )
        await vectors.store(run_on.pool, written)
    await run_on.pool.execute("analyze pgrecall.memories, pgrecall.embeddings")
    await run_on.pool.execute("select pgrecall.refresh_shares()")


async def ask(
    run_on: Deployment, test_set: TestSet, mode: Mode, vectors: CachedEmbeddings, **options: Any
) -> Run:
    """Recall every query of the set in its own space; scores by document id."""
    store = MemoryStore(run_on.pool, vectors.query)
    documents = await _documents(run_on, test_set)
    run: Run = {}
    for query in track(test_set.queries, f"{test_set.name} {mode}", console=console):
        answer = await store.recall(
            run_on.agent,
            RecallQuery(
                query=query.text, mode=mode, space=space_of(test_set, query.group), **options
            ),
        )
        run[query.id] = {documents[str(result.id)]: 1 / result.rank for result in answer.results}
    return run


async def _documents(run_on: Deployment, test_set: TestSet) -> dict[str, str]:
    rows = await run_on.pool.fetch(
        "select id::text, metadata ->> 'document' as document from pgrecall.memories"
        " where space = any ($1)",
        sorted({space_of(test_set, document.group) for document in test_set.documents}),
    )
    return {row["id"]: row["document"] for row in rows}


def bm25(test_set: TestSet) -> Run:
    """Rank by plain BM25 (bm25s), each conversation by itself."""
    run: Run = {}
    for group in sorted({document.group or "" for document in test_set.documents}):
        documents = [document for document in test_set.documents if (document.group or "") == group]
        queries = [query for query in test_set.queries if (query.group or "") == group]
        if not queries:
            continue
        texts = [f"{document.title or ''} {document.text}" for document in documents]
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        tokens = bm25s.tokenize([query.text for query in queries], show_progress=False)
        found, scores = index.retrieve(tokens, k=min(10, len(documents)), show_progress=False)
        for row, query in enumerate(queries):
            run[query.id] = {
                documents[column].id: float(score)
                for column, score in zip(found[row], scores[row], strict=True)
            }
    return run


def measure(test_set: TestSet, run: Run, only: Iterable[str] | None = None) -> dict[str, float]:
    """Return the measures by name, over all judged queries or those named."""
    chosen = set(test_set.judgements if only is None else only) & test_set.judgements.keys()
    judged = {query: test_set.judgements[query] for query in chosen}
    answered = {query: run.get(query) or {"none": 0.0} for query in chosen}
    return {
        str(name): value
        for name, value in ir_measures.calc_aggregate(MEASURES, judged, answered).items()
    }


def subsets(test_set: TestSet) -> Mapping[str, Sequence[str] | None]:
    """Return the query ids of each row that the table has for a set: LoCoMo by category."""
    rows: dict[str, Sequence[str] | None] = {test_set.name: None}
    categories = sorted({query.category for query in test_set.queries if query.category})
    if categories:
        rows[f"{test_set.name} without category 5"] = [
            query.id for query in test_set.queries if query.category != 5
        ]
    for category in categories:
        rows[f"{test_set.name} category {category}"] = [
            query.id for query in test_set.queries if query.category == category
        ]
    return rows


async def evaluate(folder: Path, names: Sequence[str], limit: int | None = None) -> list[Any]:
    """Run every set in every mode; a row is (set, ranking, measures)."""
    results: list[Any] = []
    async with deployment("retrieval") as run_on:
        vectors = await CachedEmbeddings.open(run_on.pool)
        sets = [datasets.load(folder, name) for name in names]
        for test_set in sets:
            await load(run_on, test_set, vectors)
        for test_set in sets:
            if limit is not None:
                del test_set.queries[limit:]
            await vectors.prepare_queries([query.text for query in test_set.queries])
            runs = {"bm25": bm25(test_set)}
            for mode in ("lexical", "vector", "hybrid"):
                runs[mode] = await ask(run_on, test_set, mode, vectors)
            for row, only in subsets(test_set).items():
                asked = [query.id for query in test_set.queries] if only is None else only
                results += [
                    (row, name, measure(test_set, run, asked)) for name, run in runs.items()
                ]
    return results


def show(results: Sequence[Any]) -> None:
    """Print the table."""
    table = Table(title=f"retrieval ({load_average()})")
    for heading in ("set", "ranking", *map(str, MEASURES)):
        table.add_column(heading)
    for row, name, measured in results:
        table.add_row(row, name, *(f"{measured[str(one)]:.3f}" for one in MEASURES))
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench retrieval", description=__doc__)
    parser.add_argument(
        "--data", type=Path, help=f"folder of the sets; else {datasets.FOLDER_VARIABLE}"
    )
    parser.add_argument("--sets", nargs="+", default=datasets.SETS)
    parser.add_argument("--limit", type=int, help="ask only the first so many queries of each set")
    options = parser.parse_args(arguments)
    folder = datasets.data_folder(options.data)
    if folder is None:
        console.print(f"skipped: no data (give --data or set {datasets.FOLDER_VARIABLE})")
        return
    show(asyncio.run(evaluate(folder, options.sets, options.limit)))
