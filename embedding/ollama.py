"""Ollama's own embeddings API (`/api/embed`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embedding.http import Endpoint, HttpEmbedder
from embedding.prefixes import prefixes_for

DEFAULT_URL = "http://127.0.0.1:11434"
DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_DIMENSION = 768


def ollama_embedder(
    *,
    url: str | None = None,
    model: str | None = None,
    dimension: int | None = None,
    timeout_seconds: float = 60.0,
) -> HttpEmbedder:
    """Return an embedder for `{url}/api/embed`; the first call may wait for the model to load."""
    model = model or DEFAULT_MODEL
    dimension = dimension or DEFAULT_DIMENSION

    def body(texts: Sequence[str]) -> dict[str, Any]:
        return {"model": model, "input": list(texts), "truncate": True}

    query_prefix, passage_prefix = prefixes_for(model)
    endpoint = Endpoint(
        url=f"{(url or DEFAULT_URL).rstrip('/')}/api/embed",
        headers={},
        body=body,
        read=_rows,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        timeout_seconds=timeout_seconds,
    )
    return HttpEmbedder(f"ollama:{model}/{dimension}", dimension, endpoint)


def _rows(answer: Any) -> list[list[float]]:
    rows: list[list[float]] = answer["embeddings"]
    return rows
