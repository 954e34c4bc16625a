"""What the makers behind HTTP share: batches, bounded retries, and errors that say what broke."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from embedding.local import OVERLAP_TOKENS
from embedding.maker import EmbedderUnavailable, EmbeddingError, TextRefused, Vectors, unit_rows
from embedding.texts import chunks, cleaned, estimated_tokens

BATCH = 64
ATTEMPTS = 3
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask. `read` takes the answer's JSON and returns its rows in order."""

    url: str
    headers: dict[str, str]
    body: Callable[[Sequence[str]], dict[str, Any]]
    read: Callable[[Any], list[list[float]]]
    query_prefix: str = ""
    passage_prefix: str = ""
    chunk_tokens: int = 480
    timeout_seconds: float = 30.0


class HttpEmbedder:
    """An Embedder over an endpoint that takes texts and answers vectors as JSON."""

    def __init__(self, model: str, dimension: int, endpoint: Endpoint) -> None:
        self.model = model
        self.dimension = dimension
        self._endpoint = endpoint
        self._client = httpx.AsyncClient(
            headers=endpoint.headers, timeout=httpx.Timeout(endpoint.timeout_seconds, connect=5.0)
        )

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each query."""
        return await self._embed([self._endpoint.query_prefix + cleaned(text) for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its chunks' vectors."""
        limit = self._endpoint.chunk_tokens
        pieces = [
            chunks(cleaned(text), estimated_tokens, limit=limit, overlap=OVERLAP_TOKENS)
            for text in texts
        ]
        prefix = self._endpoint.passage_prefix
        vectors = await self._embed([prefix + piece for text in pieces for piece in text])
        ends = np.cumsum([len(text) for text in pieces])[:-1]
        return list(np.split(vectors, ends)) if pieces else []

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        batches = [
            await self._embed_batch(texts[start : start + BATCH])
            for start in range(0, len(texts), BATCH)
        ]
        empty = np.empty((0, self.dimension), np.float32)
        return np.concatenate(batches) if batches else empty

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        answer = await self._post(self._endpoint.body(texts))
        try:
            rows = np.asarray(self._endpoint.read(answer.json()), np.float32)
        except (ValueError, TypeError, KeyError) as error:
            raise EmbeddingError("the embedding endpoint's answer can't be read") from error
        if rows.shape != (len(texts), self.dimension):
            raise EmbeddingError(
                f"the embedding endpoint answered vectors of shape {rows.shape}, "
                f"not {(len(texts), self.dimension)}: check the dimension set for the embedder"
            )
        return unit_rows(rows)

    async def _post(self, body: dict[str, Any]) -> httpx.Response:
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = await self._client.post(self._endpoint.url, json=body)
            except httpx.TimeoutException as error:
                # Asking a server again that is too slow already makes it slower.
                raise EmbedderUnavailable(
                    "the embedding endpoint doesn't answer in time"
                ) from error
            except httpx.HTTPError as error:
                if attempt == ATTEMPTS:
                    raise EmbedderUnavailable("the embedding endpoint can't be reached") from error
            except (httpx.InvalidURL, RuntimeError) as error:  # RuntimeError: the client is closed
                raise EmbedderUnavailable("the embedding endpoint can't be asked") from error
            else:
                if not _worth_another(answer) or attempt == ATTEMPTS:
                    _raise_for(answer)
                    return answer
                pause = max(pause, _asked_pause(answer))
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("unreachable")


def _worth_another(answer: httpx.Response) -> bool:
    return answer.status_code == 429 or answer.status_code >= 500


def _asked_pause(answer: httpx.Response) -> float:
    try:
        return float(answer.headers.get("retry-after", 0))
    except ValueError:  # a date
        return 0.0


def _raise_for(answer: httpx.Response) -> None:
    status = answer.status_code
    if answer.is_success:
        return
    if status in {400, 413, 422}:
        raise TextRefused(f"the embedding endpoint refuses the text (HTTP {status})")
    raise EmbedderUnavailable(f"the embedding endpoint answers HTTP {status}")
