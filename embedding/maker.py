"""What makes vectors of texts, and how it fails.

EmbeddingError
├── EmbedderUnavailable   no answer from the maker: another try later may help
└── TextRefused           the maker answers, but not to this text
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]


class EmbeddingError(Exception):
    """No vector could be made; the message is fit to be shown to a user."""


class EmbedderUnavailable(EmbeddingError):
    """The maker can't be reached, loaded, or is too busy."""


class TextRefused(EmbeddingError):
    """The maker works, but it doesn't take this input."""


class Embedder(Protocol):
    """Makes vectors; one instance serves a whole process.

    `model` names the vector space: vectors compare only where it is equal. It holds no blank.
    Vectors are float32 of length 1, so that the inner product is the cosine.
    """

    model: str
    dimension: int

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each query: (len(texts), dimension). Raises EmbeddingError."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its chunks' vectors: (chunks, dimension), at least one chunk.

        Raises EmbeddingError; then none of the texts has a vector.
        """
        ...

    async def close(self) -> None:
        """Let go of threads and connections."""
        ...


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length 1.

    Raises EmbeddingError where a row has no direction (all zero, or not finite).
    """
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or np.any(lengths == 0):
        raise EmbeddingError("the embedder returned a vector without direction")
    return np.asarray(vectors / lengths, dtype=np.float32)
