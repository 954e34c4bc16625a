"""Any endpoint that speaks OpenAI's embeddings API (OpenAI, vLLM, TEI, LM Studio, llama.cpp …)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embedding.http import Endpoint, HttpEmbedder
from embedding.prefixes import prefixes_for

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
DEFAULT_DIMENSION = 1536


def openai_embedder(
    *,
    url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    timeout_seconds: float = 30.0,
) -> HttpEmbedder:
    """Return an embedder for `{url}/embeddings`.

    A dimension given for one of OpenAI's third generation is asked for (they can shorten their
    vectors); for another model it states what the endpoint answers.
    """
    model = model or DEFAULT_MODEL
    shortened = dimension is not None and model.startswith("text-embedding-3")

    def body(texts: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        return asked | ({"dimensions": dimension} if shortened else {})

    query_prefix, passage_prefix = prefixes_for(model)
    endpoint = Endpoint(
        url=f"{(url or DEFAULT_URL).rstrip('/')}/embeddings",
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        body=body,
        read=_rows,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        timeout_seconds=timeout_seconds,
    )
    dimension = dimension or DEFAULT_DIMENSION
    return HttpEmbedder(f"openai:{model}/{dimension}", dimension, endpoint)


def _rows(answer: Any) -> list[list[float]]:
    rows = sorted(answer["data"], key=lambda row: int(row["index"]))
    return [row["embedding"] for row in rows]
