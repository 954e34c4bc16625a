"""An embedder for tests: a bag of hashed words, so that texts which share words are near."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

WORDS_IN_A_CHUNK = 200


class HashEmbedder:
    model = "test-hash"
    dimension = 384

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._embed(_words(text)) for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        return [np.stack([self._embed(chunk) for chunk in _chunks(text)]) for text in texts]

    async def close(self) -> None:
        pass

    def _embed(self, words: list[str]) -> Vectors:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in words:
            digest = blake2b(word.encode(), digest_size=12).digest()
            for place in range(0, 12, 3):
                at = int.from_bytes(digest[place : place + 2]) % self.dimension
                vector[at] += 1.0 if digest[place + 2] % 2 else -1.0
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            vector[0] = length = 1.0
        return vector / np.float32(length)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _chunks(text: str) -> list[list[str]]:
    words = _words(text)
    starts = range(0, max(len(words), 1), WORDS_IN_A_CHUNK)
    return [words[start : start + WORDS_IN_A_CHUNK] for start in starts]
