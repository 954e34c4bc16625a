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
from embedding.serving import ServingEmbedder

__all__ = [
    "EMBEDDER_NAMES",
    "Embedder",
    "EmbedderName",
    "EmbedderUnavailable",
    "EmbeddingError",
    "QueryEmbeddings",
    "ServingEmbedder",
    "TextRefused",
    "Vectors",
    "make_embedder",
]
