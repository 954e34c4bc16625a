"""Vectors kept on disk by content and model, so that a second run takes minutes and not hours.

A cache is a folder of numpy archives for each model and kind of text. An archive holds the texts'
hashes, how many chunks each has, and the chunks' vectors; a run that is stopped has lost at most
one archive's worth of work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal
from uuid import uuid4

import numpy as np
from rich.console import Console
from rich.progress import Progress

from embedding import Embedder, Vectors

Kind = Literal["query", "passage"]

TEXTS_IN_AN_ARCHIVE = 512
HASH_BYTES = 16


async def cached_queries(embedder: Embedder, texts: Sequence[str], folder: Path) -> Vectors:
    """Return one vector for each query: (len(texts), dimension); what is missing is embedded."""
    chunks = await cached_vectors(embedder, texts, "query", folder)
    return np.concatenate(chunks) if chunks else np.empty((0, embedder.dimension), np.float32)


async def cached_vectors(
    embedder: Embedder, texts: Sequence[str], kind: Kind, folder: Path
) -> list[Vectors]:
    """Return each text's vectors, (chunks, dimension); what is missing is embedded and kept.

    A query has one chunk. Passages are embedded as the back-fill worker embeds a memory: its
    title, a line break, its content.
    """
    place = folder / re.sub(r"[^\w.-]+", "_", embedder.model) / kind
    known = _read(place)
    keys = [_key(text) for text in texts]
    missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known})
    by_key = dict(zip(keys, texts, strict=True))
    with Progress(console=Console(stderr=True), disable=not missing) as progress:
        task = progress.add_task(f"embed {kind}", total=len(missing))
        for start in range(0, len(missing), TEXTS_IN_AN_ARCHIVE):
            batch = missing[start : start + TEXTS_IN_AN_ARCHIVE]
            vectors = await _embed(embedder, [by_key[key] for key in batch], kind)
            _write(place, batch, vectors)
            known.update(zip(batch, vectors, strict=True))
            progress.advance(task, len(batch))
    return [known[key] for key in keys]


async def _embed(embedder: Embedder, texts: Sequence[str], kind: Kind) -> list[Vectors]:
    if kind == "passage":
        return await embedder.embed_passages(texts)
    return list((await embedder.embed_queries(texts))[:, None])


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _read(place: Path) -> dict[bytes, Vectors]:
    known: dict[bytes, Vectors] = {}
    for path in sorted(place.glob("*.npz")):
        with np.load(path) as archive:
            keys, counts, vectors = archive["keys"], archive["counts"], archive["vectors"]
        split = np.split(vectors, np.cumsum(counts)[:-1])
        known.update(zip((key.tobytes() for key in keys), split, strict=True))
    return known


def _write(place: Path, keys: Sequence[bytes], vectors: Sequence[Vectors]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{uuid4()}.npz"
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        np.savez(
            file,
            keys=np.frombuffer(b"".join(keys), np.uint8).reshape(-1, HASH_BYTES),
            counts=np.array([len(chunks) for chunks in vectors]),
            vectors=np.concatenate(vectors),
        )
    os.replace(unfinished, path)
