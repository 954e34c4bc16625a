"""The benchmarks' cache of vectors on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import bench.embedding_cache
from bench.embedding_cache import cached_queries, cached_vectors
from embedding.maker import EmbedderUnavailable, Vectors
from tests.hash_embedder import HashEmbedder

LONG = "word " * 450


class Counting(HashEmbedder):
    def __init__(self, most: int = 1_000_000) -> None:
        self.embedded = 0
        self.most = most

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.embedded + len(texts) > self.most:
            raise EmbedderUnavailable("stopped")
        self.embedded += len(texts)
        return await super().embed_passages(texts)


async def test_what_was_embedded_once_is_read(tmp_path: Path) -> None:
    texts = ["one", LONG, "two", "one"]
    first = await cached_vectors(Counting(), texts, "passage", tmp_path)
    again = Counting()
    second = await cached_vectors(again, texts[::-1], "passage", tmp_path)
    assert again.embedded == 0
    assert [len(chunks) for chunks in first] == [1, 3, 1, 1]
    for before, after in zip(first, second[::-1], strict=True):
        assert np.array_equal(before, after)


async def test_a_stopped_run_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.embedding_cache, "TEXTS_IN_AN_ARCHIVE", 4)
    texts = [f"text {number}" for number in range(10)]
    with pytest.raises(EmbedderUnavailable):
        await cached_vectors(Counting(most=8), texts, "passage", tmp_path)
    again = Counting()
    assert len(await cached_vectors(again, texts, "passage", tmp_path)) == 10
    assert again.embedded == 2


async def test_queries_and_passages_and_models_are_kept_apart(tmp_path: Path) -> None:
    class Other(Counting):
        model = "other/model:1"

    await cached_vectors(Counting(), ["one"], "passage", tmp_path)
    assert (await cached_queries(Counting(), ["one", "two"], tmp_path)).shape == (2, 384)
    other = Other()
    await cached_vectors(other, ["one"], "passage", tmp_path)
    assert other.embedded == 1


async def test_no_texts_make_no_vectors(tmp_path: Path) -> None:
    assert (await cached_queries(Counting(), [], tmp_path)).shape == (0, 384)
