"""The embedder that queries go to: that of the model which recall() searches now."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from embedding.maker import Embedder, EmbeddingError

log = structlog.get_logger(__name__)

MakeOther = Callable[[str], Embedder | None]


def _no_other(_model: str) -> Embedder | None:
    return None


class ServingEmbedder:
    """Says which embedder is the one, and follows the database through a change of the model.

    `wanted` is the one that is set up. While the vectors of another model still serve, texts go
    to that model's maker, if `make_other` knows it by the model's name and it answers; else to
    the wanted one, whose vectors reach what has been embedded anew.
    """

    def __init__(self, wanted: Embedder, make_other: MakeOther = _no_other) -> None:
        self.wanted = wanted
        self.other: Embedder | None = None
        self._make_other = make_other
        self._followed: str | None = None

    @property
    def now(self) -> Embedder:
        """The embedder that texts go to at this moment."""
        return self.other or self.wanted

    async def follow(self, model: str | None) -> None:
        """Take the maker of the model that serves now."""
        if model == self._followed:
            return
        self._followed = model
        other = None
        if model is not None and model != self.wanted.model:
            other = await self._tried(model)
        self.other, gone = other, self.other
        if gone is not None:
            await gone.close()

    async def close(self) -> None:
        """Close both."""
        if self.other is not None:
            await self.other.close()
        await self.wanted.close()

    async def _tried(self, model: str) -> Embedder | None:
        other = self._make_other(model)
        if other is None:
            log.info("the memories' old model has no maker here", model=model)
            return None
        try:
            await other.embed_queries(["warm up"])
        except EmbeddingError as error:
            log.warning("the memories' old model can't be asked", model=model, reason=str(error))
            await other.close()
            return None
        return other
