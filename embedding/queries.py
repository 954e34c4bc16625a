"""Query embeddings for recall(): cached, each made once at a time, and never an error."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from time import monotonic

import structlog

from embedding.maker import Embedder, EmbeddingError, TextRefused
from embedding.serving import ServingEmbedder
from embedding.texts import cleaned
from sql.records import QueryEmbedding, failed_embedding, query_embedding

log = structlog.get_logger(__name__)

# A longer query says no more to a model that takes 512 tokens, and would hold up the others.
MAX_QUERY_CHARACTERS = 2_000
MAX_PASSAGE_CHARACTERS = 4_000
# A maker that failed this often in a row is left alone for a while: recall() answers by its
# lexical leg at once, where it would else wait for the timeout each time.
FAILURES_TO_PAUSE = 3
PAUSE_SECONDS = 5.0

_NO_EMBEDDER = failed_embedding("none", "no embedder is set up")


class QueryEmbeddings:
    """Makes what recall() takes as `query_embedding`; an sql.records.EmbedQuery.

    A fault of the embedder becomes a failed embedding with the reason. A vector that comes after
    the timeout is kept for the next call with that text.
    """

    def __init__(
        self,
        embedder: Embedder | ServingEmbedder | None,
        *,
        size: int = 10_000,
        timeout_seconds: float = 2.0,
    ) -> None:
        self._embedder = embedder
        self._size = size
        self._timeout_seconds = timeout_seconds
        self._made: OrderedDict[bytes, QueryEmbedding] = OrderedDict()
        self._making: dict[bytes, asyncio.Task[QueryEmbedding]] = {}
        self._failures = 0
        self._paused_until = 0.0

    async def __call__(self, text: str) -> QueryEmbedding:
        """Return the text's query embedding, or the marker that says why there is none."""
        embedder = self._now()
        if embedder is None:
            return _NO_EMBEDDER
        model = embedder.model
        if not text.strip("\x00 \t\r\n"):
            return failed_embedding(model, "the query is blank")
        text = text[:MAX_QUERY_CHARACTERS]
        # Beside the model: while it is changed, the same text is asked of both.
        named = f"{model} {text}".encode("utf-8", "surrogatepass")
        key = blake2b(named, digest_size=16).digest()
        if (made := self._made.get(key)) is not None:
            self._made.move_to_end(key)
            return made
        if monotonic() < self._paused_until:
            return failed_embedding(model, "the embedder failed a moment ago")
        making = self._making.get(key) or self._start(key, text, embedder)
        return await self._awaited(making, model)

    async def many(self, texts: Sequence[str]) -> list[QueryEmbedding]:
        """Return one for each text, in order; equal texts are embedded once."""
        return await asyncio.gather(*(self(text) for text in texts))

    async def passage(self, text: str) -> QueryEmbedding | None:
        """Return the passage embedding that remember() takes beside this content.

        None where the text has more than one chunk or nothing could be made in time: the
        back-fill worker makes up for it.
        """
        embedder = self._now()
        if (
            embedder is None
            or len(text) > MAX_PASSAGE_CHARACTERS
            or monotonic() < self._paused_until
        ):
            return None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                [vectors] = await embedder.embed_passages([text])
        except (EmbeddingError, TimeoutError) as error:
            self._failed(error)
            return None
        return query_embedding(embedder.model, vectors[0].tolist()) if len(vectors) == 1 else None

    def _now(self) -> Embedder | None:
        return self._embedder.now if isinstance(self._embedder, ServingEmbedder) else self._embedder

    def _start(self, key: bytes, text: str, embedder: Embedder) -> asyncio.Task[QueryEmbedding]:
        making = asyncio.create_task(self._make(key, text, embedder))
        self._making[key] = making
        making.add_done_callback(lambda _: self._making.pop(key, None))
        return making

    async def _make(self, key: bytes, text: str, embedder: Embedder) -> QueryEmbedding:
        try:
            [vector] = await embedder.embed_queries([cleaned(text)])
        except EmbeddingError as error:
            self._failed(error)
            return failed_embedding(embedder.model, " ".join(str(error).split()))
        self._failures = 0
        made = query_embedding(embedder.model, vector.tolist())
        self._made[key] = made
        while len(self._made) > self._size:
            self._made.popitem(last=False)
        return made

    async def _awaited(self, making: asyncio.Task[QueryEmbedding], model: str) -> QueryEmbedding:
        try:
            # Shielded: the text's other callers wait for the same task.
            async with asyncio.timeout(self._timeout_seconds):
                return await asyncio.shield(making)
        except TimeoutError as error:
            self._failed(error)
            return failed_embedding(
                model, f"the embedder took more than {self._timeout_seconds:g} s"
            )

    def _failed(self, error: Exception) -> None:
        if isinstance(error, TextRefused):
            return
        self._failures += 1
        log.warning("embedding failed", reason=str(error) or "timeout", in_a_row=self._failures)
        if self._failures >= FAILURES_TO_PAUSE:
            self._failures = 0
            self._paused_until = monotonic() + PAUSE_SECONDS
