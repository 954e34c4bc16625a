"""Makers that compute in this process: loaded at first use, in one thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import structlog

from embedding.batches import batches
from embedding.maker import EmbedderUnavailable, Vectors, unit_rows
from embedding.texts import chunks, cleaned

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")

# A query waits for the slice that is being computed, never for a whole batch of passages:
# a tenth of a second, or half of one with the slower of the engines.
SLICE_TOKENS = 512
OVERLAP_TOKENS = 48


class Engine(Protocol):
    """A loaded model; its methods block and are called from one thread at a time."""

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one row for each text."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees of the text, its own marks and prefix included."""
        ...


class LocalEmbedder:
    """An Embedder over an engine in this process.

    `load` runs once, in the embedder's thread, when the first text comes: starting a server
    doesn't wait for it. It raises EmbedderUnavailable where the machine can't run the engine.
    """

    def __init__(
        self, model: str, dimension: int, load: Callable[[], Engine], *, chunk_tokens: int
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._load = load
        self._chunk_tokens = chunk_tokens
        self._engine: Engine | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"embed-{model}")

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each query."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return await self._in_thread(
            partial(self._embedded, [cleaned(text) for text in texts], query=True)
        )

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its chunks' vectors."""
        pieces = [await self._in_thread(partial(self._cut, text)) for text in texts]
        flat = [piece for text in pieces for piece in text]
        vectors = np.empty((len(flat), self.dimension), np.float32)
        for group in batches([tokens for _, tokens in flat], SLICE_TOKENS):
            ready = [flat[index][0] for index in group]
            vectors[group] = await self._in_thread(partial(self._embedded, ready, query=False))
        ends = np.cumsum([len(text) for text in pieces])[:-1]
        return list(np.split(vectors, ends)) if pieces else []

    async def close(self) -> None:
        """Wait for the slice in work and drop what is queued."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _in_thread(self, work: Callable[[], Answer]) -> Answer:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as error:
            raise EmbedderUnavailable("the embedder is closed") from error
        return await running

    def _loaded(self) -> Engine:
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
