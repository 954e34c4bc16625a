"""The model's tokenizer: SentencePiece over the vocabulary that the model file holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencepiece import SentencePieceProcessor

from embedding.e5.protobuf import message
from embedding.e5.weights import Vocabulary

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_SPACES = re.compile(" {2,}")


class Tokenizer:
    """Turns texts into the ids that XLM-RoBERTa's tokenizer gives."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._begin = vocabulary.begin
        self._end = vocabulary.end
        self._normalised = vocabulary.normalised
        self._pieces = SentencePieceProcessor(model_proto=sentencepiece_model(vocabulary))

    def ids(self, text: str) -> list[int]:
        """Return the text's ids between the begin and end marks, however many."""
        # SentencePiece's own normaliser wants a compiled trie; the file holds plain pairs.
        normal = _SPACES.sub(" ", text.translate(self._normalised))
        return [self._begin, *self._pieces.encode(normal), self._end]


def sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    """Return the vocabulary as a ModelProto of sentencepiece_model.proto."""
    model = bytearray()
    for piece, score, kind in _pieces(vocabulary):
        model += message((1, message((1, piece), (2, score), (3, kind))))
    trainer = message(
        (3, 1),  # model_type: unigram
        (40, vocabulary.unknown),
        (41, vocabulary.begin),
        (42, vocabulary.end),
        (43, vocabulary.pad),
    )
    # add_dummy_prefix, keep white space as it is, write it as U+2581
    normalizer = message((1, "identity"), (3, 1), (4, 0), (5, 1))
    model += message((2, trainer), (3, normalizer))
    return bytes(model)


def _pieces(vocabulary: Vocabulary) -> Iterator[tuple[bytes, float, int]]:
    offsets = vocabulary.offsets
    last = len(vocabulary.scores) - 1  # <mask>
    kinds = dict.fromkeys((vocabulary.begin, vocabulary.end, vocabulary.pad, last), _CONTROL)
    kinds[vocabulary.unknown] = _UNKNOWN
    for index, score in enumerate(vocabulary.scores):
        piece = vocabulary.text[offsets[index] : offsets[index + 1]]
        yield piece, float(score), kinds.get(index, _NORMAL)
