"""How an embedder in this process shares its threads out, with engines that say what they see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from threading import Barrier, Event, Lock

import numpy as np
import pytest

from embedding.local import SLICE_TOKENS, LocalEmbedder
from embedding.maker import EmbeddingError, Vectors

DEADLINE_SECONDS = 20
LONG = "a" * SLICE_TOKENS  # one token a letter: a slice of its own


class LetterEngine:
    """A token a letter; a text's vector points to its length. `before` sees each call."""

    def __init__(self, before: Callable[[Sequence[str], bool], object]) -> None:
        self._before = before

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        self._before(texts, query)
        return np.array([[np.cos(len(text)), np.sin(len(text))] for text in texts], np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text)


@asynccontextmanager
async def embedder(
    before: Callable[[Sequence[str], bool], object], *, lanes: int
) -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder(
        "letters", 2, lambda: LetterEngine(before), chunk_tokens=SLICE_TOKENS, lanes=lanes
    )
    yield made
    await made.close()


async def test_as_many_slices_as_lanes_are_computed_at_the_same_time() -> None:
    meeting = Barrier(3)  # lets nobody through before three are there
    async with embedder(lambda *_: meeting.wait(DEADLINE_SECONDS), lanes=3) as made:
        assert len(await made.embed_passages([LONG] * 6)) == 6


async def test_passages_come_back_in_order_from_several_lanes() -> None:
    texts = ["b" * length for length in (200, 3, 90, 17, 3, 256, 41, 1, 120)]
    async with embedder(lambda *_: None, lanes=3) as made:
        vectors = await made.embed_passages(texts)
        alone = [(await made.embed_passages([text]))[0] for text in texts]
    assert all(np.array_equal(*pair) for pair in zip(vectors, alone, strict=True))


async def test_a_query_waits_for_no_passage() -> None:
    answered = Event()

    def before(_texts: Sequence[str], query: bool) -> None:
        if not query:
            assert answered.wait(DEADLINE_SECONDS)

    async with embedder(before, lanes=2) as made:
        passages = asyncio.create_task(made.embed_passages([LONG] * 4))
        await asyncio.sleep(0)
        assert (await made.embed_queries(["which?"])).shape == (1, 2)
        assert not passages.done()
        answered.set()
        assert len(await passages) == 4


async def test_a_slice_that_fails_fails_all_and_stops_the_other_lanes() -> None:
    begun: list[str] = []

    def before(texts: Sequence[str], _query: bool) -> None:
        begun.extend(texts)
        raise EmbeddingError("too odd")

    async with embedder(before, lanes=2) as made:
        with pytest.raises(EmbeddingError, match="too odd"):
            await made.embed_passages([LONG] * 20)
    assert len(begun) <= 3


async def test_the_engine_is_loaded_once_however_many_ask_first() -> None:
    loads: list[LetterEngine] = []
    lock = Lock()

    def load() -> LetterEngine:
        with lock:
            loads.append(LetterEngine(lambda *_: None))
        return loads[-1]

    made = LocalEmbedder("letters", 2, load, chunk_tokens=SLICE_TOKENS, lanes=4)
    await asyncio.gather(
        made.embed_queries(["one"]), *(made.embed_passages([LONG]) for _ in range(8))
    )
    await made.close()
    assert len(loads) == 1
