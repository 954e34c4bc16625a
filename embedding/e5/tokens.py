"""The model's tokenizer: SentencePiece over the vocabulary that the model file holds."""

from __future__ import annotations

import re
from itertools import pairwise

from sentencepiece import SentencePieceProcessor

from embedding.e5.protobuf import message
from embedding.e5.weights import BadModelFile, Vocabulary

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
    last = len(vocabulary.scores) - 1  # <mask>
    kinds = bytearray([_NORMAL]) * (last + 1)
    kinds[vocabulary.unknown] = _UNKNOWN
    for special in (vocabulary.begin, vocabulary.end, vocabulary.pad, last):
        kinds[special] = _CONTROL
    scores = vocabulary.scores.astype("<f4").tobytes()
    model = bytearray()
    for index, (start, end) in enumerate(pairwise(vocabulary.offsets.tolist())):
        model += _piece(vocabulary.text[start:end], scores[4 * index : 4 * index + 4], kinds[index])
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


def _piece(piece: bytes, score: bytes, kind: int) -> bytes:
    """Return field 1 of the ModelProto: text, score and kind of a piece.

    Written out, since there are 250,000 and message() takes a second for them; a length below
    128 is a byte.
    """
    if len(piece) > 127 - 9:
        raise BadModelFile("a piece of the vocabulary is too long")
    inner = len(piece) + 9
    return b"\x0a%c\x0a%c%b\x15%b\x18%c" % (inner, len(piece), piece, score, kind)
