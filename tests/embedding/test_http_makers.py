"""Makers behind HTTP, against a server on this machine that answers, hangs, fails or hangs up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

import embedding.http
from embedding.maker import EmbedderUnavailable, EmbeddingError, TextRefused
from embedding.ollama import ollama_embedder
from embedding.openai import openai_embedder

Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]
HANG_UP = 0
HANG = -1


class Endpoint:
    """A real HTTP server that answers each request as `answer` says, and keeps the requests."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().split("\r\n")
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in lines if line)
                }
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                path = first.split()[1]
                self.requests.append((path, headers, body))
                status, content = self.answer(path, body)
                if status == HANG_UP:
                    break
                if status == HANG:
                    await reader.read()
                    break
                encoded = json.dumps(content).encode()
                writer.write(
                    f"HTTP/1.1 {status} x\r\ncontent-length: {len(encoded)}\r\n\r\n".encode()
                    + encoded
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def endpoint(answer: Answer) -> AsyncIterator[Endpoint]:
    made = Endpoint(answer)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()


def openai_answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Vectors that tell the text's length, in an order that is not that of the texts."""
    rows = [
        {"index": index, "embedding": [float(len(text)), 1.0, 0.0]}
        for index, text in enumerate(body["input"])
    ]
    return 200, {"data": rows[::-1]}


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding.http, "FIRST_PAUSE_SECONDS", 0.01)


async def test_an_openai_endpoint_answers_vectors_in_the_texts_order() -> None:
    async with endpoint(openai_answer) as server:
        maker = openai_embedder(url=f"{server.url}/v1/", model="m", api_key="key", dimension=3)
        vectors = await maker.embed_queries(["a", "four", ""])
        await maker.close()
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 4, 1])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    [(path, headers, body)] = server.requests
    assert path == "/v1/embeddings"
    assert headers["authorization"] == "Bearer key"
    assert body["model"] == "m"
    assert "dimensions" not in body
    assert maker.model == "openai:m/3"


async def test_a_shortened_vector_is_asked_for_where_the_model_can() -> None:
    async with endpoint(openai_answer) as server:
        maker = openai_embedder(url=server.url, dimension=3)
        await maker.embed_queries(["a"])
        await maker.close()
    assert server.requests[0][2]["dimensions"] == 3


async def test_many_texts_go_in_batches_and_long_ones_in_chunks() -> None:
    async with endpoint(openai_answer) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3)
        passages = await maker.embed_passages(["short"] * 70 + ["A long sentence. " * 400])
        await maker.close()
    assert [len(vectors) for vectors in passages[:70]] == [1] * 70
    assert len(passages[70]) > 1
    assert max(len(body["input"]) for _, _, body in server.requests) <= embedding.http.BATCH


async def test_ollama_gets_the_prefixes_that_its_model_was_trained_with() -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return 200, {"embeddings": [[3.0, 4.0] for _ in body["input"]]}

    async with endpoint(answer) as server:
        maker = ollama_embedder(url=server.url, dimension=2)
        assert np.allclose(await maker.embed_queries(["q"]), [[0.6, 0.8]])
        await maker.embed_passages(["p"])
        await maker.close()
    assert [path for path, _, _ in server.requests] == ["/api/embed"] * 2
    assert [body["input"] for _, _, body in server.requests] == [
        ["search_query: q"],
        ["search_document: p"],
    ]


async def test_an_endpoint_that_fails_for_a_moment_is_asked_again() -> None:
    statuses = iter([503, 429, 200])

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status = next(statuses)
        return (status, {}) if status != 200 else openai_answer(path, body)

    async with endpoint(answer) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3)
        assert (await maker.embed_queries(["a"])).shape == (1, 3)
        await maker.close()


@pytest.mark.parametrize("status", [500, 503, HANG_UP])
async def test_an_endpoint_that_keeps_failing_is_unavailable_after_few_tries(status: int) -> None:
    async with endpoint(lambda path, body: (status, {})) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3)
        with pytest.raises(EmbedderUnavailable):
            await maker.embed_queries(["a"])
        await maker.close()
    assert len(server.requests) == embedding.http.ATTEMPTS


async def test_an_endpoint_that_hangs_is_unavailable_and_not_asked_twice() -> None:
    async with endpoint(lambda path, body: (HANG, {})) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3, timeout_seconds=0.2)
        with pytest.raises(EmbedderUnavailable, match="in time"):
            await maker.embed_queries(["a"])
        await maker.close()
    assert len(server.requests) == 1


async def test_a_port_where_nobody_listens_is_unavailable() -> None:
    async with endpoint(openai_answer) as server:
        url = server.url
    maker = openai_embedder(url=url, model="m", dimension=3)
    with pytest.raises(EmbedderUnavailable, match="reached"):
        await maker.embed_queries(["a"])
    await maker.close()


async def test_a_refused_text_is_told_from_a_dead_endpoint() -> None:
    async with endpoint(lambda path, body: (400, {"error": "too long"})) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3)
        with pytest.raises(TextRefused):
            await maker.embed_passages(["a"])
        await maker.close()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "content",
    [
        {"data": []},
        {"nonsense": 1},
        {"data": [{"index": 0, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": ["a", "b", "c"]}]},
    ],
)
async def test_an_answer_that_holds_no_such_vectors_is_an_error(content: Any) -> None:
    async with endpoint(lambda path, body: (200, content)) as server:
        maker = openai_embedder(url=server.url, model="m", dimension=3)
        with pytest.raises(EmbeddingError):
            await maker.embed_queries(["a"])
        await maker.close()
