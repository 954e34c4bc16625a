"""A store of any size for the latency benchmark: real short texts, vectors drawn from clusters.

Rows are copied straight into the tables, because a million writes one by one are another benchmark.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, Final

import asyncpg
import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from pgvector.asyncpg import register_vector
from rich.progress import track

from bench.deployment import Deployment

# A reader of the space sees this share of all rows.
SHARES: Final = {"tiny": 0.0005, "one": 0.01, "half": 0.5}
MODEL: Final = "bench"
DIMENSION: Final = 384
CLUSTERS: Final = 2000
BATCH: Final = 10_000
_START: Final = datetime(2025, 1, 1, tzinfo=UTC)

Vectors = npt.NDArray[np.float32]


def texts(folder: Path) -> Iterator[str]:
    """Yield English dialogue turns and Russian sentences in turn, without end."""
    with gzip.open(folder / "scale" / "sgd_utterances.jsonl.gz", "rt", encoding="utf-8") as lines:
        english = [json.loads(line)["text"] for line in lines]
    with gzip.open(folder / "scale" / "ru_short_sentences.txt.gz", "rt", encoding="utf-8") as lines:
        russian = [line.strip() for line in lines if line.strip()]
    return cycle(chain.from_iterable(zip(english, russian, strict=False)))


def vectors(count: int, seed: int) -> Vectors:
    """Return unit vectors around CLUSTERS centres, as real texts lie."""
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, DIMENSION), dtype=np.float32)
    draw = np.random.default_rng(seed)
    drawn = centres[draw.integers(CLUSTERS, size=count)]
    drawn += 0.7 * draw.standard_normal((count, DIMENSION), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def memory_row(number: int, text: str) -> dict[str, Any]:
    """Return the so-many-th memory: one of everybody's in the space of its number."""
    space = space_of(number)
    return placed(number, text, space, "bench", "shared", ["agent:bench", f"space:{space}"])


async def fill(
    run_on: Deployment,
    folder: Path,
    rows: int,
    memory: Callable[[int, str], dict[str, Any]] = memory_row,
) -> None:
    """Bring the store to so many rows, if a run before has not."""
    standing = await run_on.pool.fetchval("select count(*) from pgrecall.embeddings")
    if standing == rows:
        return
    await run_on.pool.execute("truncate pgrecall.memories, pgrecall.embeddings cascade")
    await run_on.pool.execute(f"drop index if exists pgrecall.embeddings_{MODEL}")
    await run_on.pool.execute(
        "insert into pgrecall.embedding_models values ($1, $2, true) on conflict do nothing",
        MODEL,
        DIMENSION,
    )
    words = texts(folder)
    # A connection of its own: the pool's makes jsonb a text, which can't be copied.
    connection = await asyncpg.connect(run_on.postgres.app_dsn)
    try:
        await register_vector(connection)
        for start in track(range(0, rows, BATCH), f"fill {rows:,}"):
            count = min(BATCH, rows - start)
            memories = [
                memory(start + number, text) for number, text in enumerate(islice(words, count))
            ]
            await connection.copy_records_to_table(
                "memories", schema_name="pgrecall", columns=list(memories[0]),
                records=[tuple(memory.values()) for memory in memories], timeout=600,
            )  # fmt: skip
            await connection.copy_records_to_table(
                "embeddings",
                schema_name="pgrecall",
                columns=[
                    "space",
                    "id",
                    "version",
                    "model",
                    "chunk",
                    "head",
                    "readers",
                    "embedding",
                ],
                records=[
                    (*_place(memory), MODEL, 0, True, memory["readers"], HalfVector(vector))
                    for memory, vector in zip(memories, vectors(count, start + 1), strict=True)
                ],
                timeout=600,
            )
        await connection.execute(
            "select pgrecall.use_embedding_model($1, $2)", MODEL, DIMENSION, timeout=7200
        )
        await connection.execute(
            "vacuum analyze pgrecall.memories, pgrecall.embeddings", timeout=3600
        )
        await connection.execute("select pgrecall.refresh_shares()")
    finally:
        await connection.close()


def space_of(number: int) -> str:
    """Return the space of a row: shares are spread evenly over the store."""
    place = (number * 7919) % 10_000 / 10_000
    for space, share in SHARES.items():
        if place < share:
            return space
        place -= share
    return "rest"


def id_of(number: int) -> uuid.UUID:
    """Return the id of the so-many-th memory."""
    return uuid.UUID(bytes=hashlib.sha256(str(number).encode()).digest()[:16], version=4)


def _place(memory: dict[str, Any]) -> tuple[str, uuid.UUID, int]:
    return memory["space"], memory["id"], memory["version"]


def placed(
    number: int, text: str, space: str, agent: str, visibility: str, readers: list[str]
) -> dict[str, Any]:
    """Return a row of pgrecall.memories; its id follows from its number."""
    content = f"{text} #{number}"
    happened = _START + timedelta(seconds=30 * number)
    return {
        "space": space,
        "id": id_of(number),
        "version": 1,
        "agent": agent,
        "kind": "episodic" if number % 3 else "semantic",
        "visibility": visibility,
        "readers": readers,
        "content": content,
        "tags": [],
        "importance": 0.5,
        "confidence": 0.8,
        "pinned": False,
        "metadata": "{}",
        "created_at": happened,
        "identity_hash": hashlib.sha256(content.encode()).digest(),
        "salt": b"",
    }
