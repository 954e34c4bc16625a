"""One embedder for many workers, and what becomes of them when it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from gateway.embedding_socket import EmbeddingServer, SocketEmbeddings


class Slow:
    """Answers the long before the short, so that answers overtake each other."""

    async def many(self, texts: Sequence[str]) -> list[str]:
        for _ in range(50 - len(texts[0])):
            await asyncio.sleep(0)
        return [f"m [{text}]" for text in texts]

    async def passage(self, text: str) -> str | None:
        return None if len(text) > 1000 else f"p [{text}]"


@pytest.fixture
def path(temporary_folder: Path) -> Path:
    return temporary_folder / "embedder.sock"


@pytest.fixture
async def server(path: Path) -> AsyncIterator[EmbeddingServer]:
    made = EmbeddingServer(Slow(), path)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
async def client(path: Path) -> AsyncIterator[SocketEmbeddings]:
    made = SocketEmbeddings(path)
    yield made
    await made.close()


async def test_each_request_gets_its_own_answer(
    server: EmbeddingServer, client: SocketEmbeddings
) -> None:
    texts = ["a" * n for n in range(1, 40)] + ["тест\n\x00"]
    answers = await asyncio.gather(*(client.many([text, text]) for text in texts))
    assert answers == [[f"m [{text}]"] * 2 for text in texts]
    assert await client.passage("x") == "p [x]"
    assert await client.passage("x" * 2000) is None


async def test_the_socket_is_for_this_user_only(server: EmbeddingServer, path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600


async def test_without_the_embedder_there_is_a_reason_and_later_it_is_found_again(
    path: Path, client: SocketEmbeddings
) -> None:
    assert await client.many(["a", "b"]) == ["none ! the embedder's process is away"] * 2
    assert await client.passage("a") is None
    for _ in range(2):
        server = EmbeddingServer(Slow(), path)
        await server.start()
        assert await client.many(["a"]) == ["m [a]"]
        await server.close()
