"""Embeddings for a session's texts, all of a pipeline at once, and never an error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from gateway import metrics
from gateway.config import Embeddings
from gateway.spliced import Wanted
from sql.records import failed_embedding

_log = structlog.get_logger(__name__)

# Stands where a model's name does when no embedder was heard.
_NO_MODEL: Final = "none"


class EmbeddingSource:
    """Turns wanted texts into what goes into their places.

    recall() is told why it gets no vector; a remembered text without one is embedded later.
    """

    def __init__(self, embeddings: Embeddings, timeout_seconds: float) -> None:
        self._embeddings = embeddings
        self._timeout_seconds = timeout_seconds

    async def __call__(self, wanted: Sequence[Wanted]) -> list[str | None]:
        """Return one answer for each text, in order."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                with metrics.EMBEDDING_SECONDS.time():
                    return await self._embedded(wanted)
        except TimeoutError:
            metrics.EMBEDDING_FAILURES.labels("timeout").inc()
            return self.without(wanted, "the embedder did not answer in time")
        except Exception:  # whatever the embedder's fault: the statement goes on without a vector
            metrics.EMBEDDING_FAILURES.labels("error").inc()
            _log.exception("embedding_failed", texts=len(wanted))
            return self.without(wanted, "the embedder failed")

    def without(self, wanted: Sequence[Wanted], reason: str) -> list[str | None]:
        """Return what stands for the embeddings when there are none."""
        failure = failed_embedding(_NO_MODEL, reason)
        return [failure if one.function == "recall" else None for one in wanted]

    async def _embedded(self, wanted: Sequence[Wanted]) -> list[str | None]:
        queries = list({one.text: None for one in wanted if one.function == "recall"})
        passages = list({one.text: None for one in wanted if one.function == "remember"})
        found, made = await asyncio.gather(
            self._queries(queries), asyncio.gather(*map(self._embeddings.passage, passages))
        )
        by_wanted: dict[Wanted, str | None] = {
            **{Wanted("recall", text): one for text, one in zip(queries, found, strict=True)},
            **{Wanted("remember", text): one for text, one in zip(passages, made, strict=True)},
        }
        return [by_wanted[one] for one in wanted]

    async def _queries(self, texts: Sequence[str]) -> Sequence[str]:
        return await self._embeddings.many(texts) if texts else ()
