"""Makers that compute in this process: loaded at first use, in threads of their own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np
import structlog

from embedding.batches import batches
from embedding.maker import EmbedderUnavailable, Vectors, unit_rows
from embedding.texts import chunks, cleaned

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")

# Small enough that 32 turns, as the back-fill claims them, keep several lanes busy; a passage that
# somebody waits for gets its turn after a tenth of a second, or after a quarter with the C engine.
SLICE_TOKENS = 256
OVERLAP_TOKENS = 48


class Engine(Protocol):
    """A loaded model; its methods block and are called from several threads at once."""

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one row for each text."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees of the text, its own marks and prefix included."""
        ...


class LocalEmbedder:
    """An Embedder over an engine in this process.

    `load` runs once, in a thread of the embedder's, when the first text comes: starting a server
    doesn't wait for it. It raises EmbedderUnavailable where the machine can't run the engine.
    `lanes` slices of passages are computed at the same time; a query waits for none of them.
    """

    def __init__(
        self,
        model: str,
        dimension: int,
        load: Callable[[], Engine],
        *,
        chunk_tokens: int,
        lanes: int = 1,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._load = load
        self._chunk_tokens = chunk_tokens
        self._engine: Engine | None = None
        self._loading = Lock()
        self._lanes = lanes
        self._passages = ThreadPoolExecutor(lanes, thread_name_prefix=f"embed-{model}")
        self._queries = ThreadPoolExecutor(1, thread_name_prefix=f"embed-{model}-query")

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each query."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return await _in_thread(
            self._queries, partial(self._embedded, [cleaned(text) for text in texts], query=True)
        )

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its chunks' vectors."""
        pieces = [await _in_thread(self._passages, partial(self._cut, text)) for text in texts]
        flat = [piece for text in pieces for piece in text]
        vectors = np.empty((len(flat), self.dimension), np.float32)
        waiting = deque(batches([tokens for _, tokens in flat], SLICE_TOKENS))

        async def work() -> None:
            while waiting:
                group = waiting.pop()  # the longest texts first, so that the lanes end together
                ready = partial(self._embedded, [flat[at][0] for at in group], query=False)
                vectors[group] = await _in_thread(self._passages, ready)

        try:
            await asyncio.gather(*(work() for _ in range(min(self._lanes, len(waiting)))))
        finally:
            waiting.clear()  # a lane that fails stops the others
        ends = np.cumsum([len(text) for text in pieces])[:-1]
        return list(np.split(vectors, ends)) if pieces else []

    async def close(self) -> None:
        """Wait for the slices in work and drop what is queued."""
        for threads in (self._queries, self._passages):
            await asyncio.to_thread(threads.shutdown, cancel_futures=True)

    def _loaded(self) -> Engine:
        with self._loading:
            if self._engine is None:
                self._engine = self._load()
                log.info("embedder loaded", model=self.model, engine=type(self._engine).__name__)
            return self._engine

    def _embedded(self, texts: list[str], *, query: bool) -> Vectors:
        return unit_rows(self._loaded().embed(texts, query=query))

    def _cut(self, text: str) -> list[tuple[str, int]]:
        count = self._loaded().count_tokens
        cut = chunks(cleaned(text), count, limit=self._chunk_tokens, overlap=OVERLAP_TOKENS)
        return [(piece, count(piece)) for piece in cut]


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], Answer]) -> Answer:
    try:
        running = asyncio.get_running_loop().run_in_executor(threads, work)
    except RuntimeError as error:
        raise EmbedderUnavailable("the embedder is closed") from error
    return await running
