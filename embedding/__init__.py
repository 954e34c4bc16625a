"""Vectors from texts: makers, cache and back-fill."""

from embedding.factory import EMBEDDER_NAMES, EmbedderName, make_embedder
from embedding.maker import (
    Embedder,
    EmbedderUnavailable,
    EmbeddingError,
    TextRefused,
    Vectors,
)
from embedding.queries import QueryEmbeddings

__all__ = [
    "EMBEDDER_NAMES",
    "Embedder",
    "EmbedderName",
    "EmbedderUnavailable",
    "EmbeddingError",
    "QueryEmbeddings",
    "TextRefused",
    "Vectors",
    "make_embedder",
]
