"""Texts as makers can take them: cleaned, and long ones cut into chunks."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate, pairwise

CountTokens = Callable[[str], int]

_UNENCODABLE = re.compile("[\ud800-\udfff]")
# A line break ends a unit; so does a sentence's end before a blank, or a full-width one anywhere.
_BORDER = re.compile(r"\n+\s*|(?<=[.!?…;])\s+|(?<=[。！？；])")


def cleaned(text: str) -> str:
    """Return the text without NUL (C engines stop there), lone surrogates and outer blanks.

    Nothing left becomes a full stop: a maker over HTTP refuses an empty text, and one blank
    text must not fail the others of its batch.
    """
    return _UNENCODABLE.sub("\ufffd", text.replace("\x00", " ")).strip() or "."


def estimated_tokens(text: str) -> int:
    """Return how many tokens a foreign tokenizer will make of the text, rather too many.

    UTF-8 bytes by three: English has some 4 bytes a token, Russian 5, Chinese 3.
    """
    return -(-len(text.encode("utf-8", "replace")) // 3) + 1


def chunks(text: str, count_tokens: CountTokens, *, limit: int, overlap: int) -> list[str]:
    """Cut a cleaned text into chunks of at most `limit` tokens; one that fits stays whole.

    Chunks end where a sentence or a paragraph ends if they can, are of about equal size, and
    begin with up to `overlap` tokens of whole sentences from the one before.
    """
    if count_tokens(text) <= limit:
        return [text]
    marks = count_tokens("")  # prefix and end marks, which every chunk has
    room = limit - marks

    def size(part: str) -> int:
        return max(1, count_tokens(part) - marks)

    units = [unit for part in _sentences(text) for unit in _pieces(part, size, room - overlap)]
    sizes = [size(unit) for unit in units]
    pieces = -(-sum(sizes) // (room - overlap))
    target = min(room, -(-sum(sizes) // pieces) + overlap)
    return _packed(units, sizes, target, overlap)


def _sentences(text: str) -> list[str]:
    starts = [0, *(match.end() for match in _BORDER.finditer(text)), len(text)]
    parts = (text[start:end] for start, end in pairwise(starts))
    return [part for part in parts if part]


def _pieces(part: str, size: CountTokens, room: int) -> list[str]:
    """Halve a part without borders, at a blank near the middle, until each piece fits."""
    if len(part) < 2 or size(part) <= room:
        return [part]
    middle = len(part) // 2
    blank = part.rfind(" ", middle // 2, middle) + 1
    cut = blank or middle
    return [
        *_pieces(part[:cut], size, room),
        *_pieces(part[cut:], size, room),
    ]


def _packed(units: list[str], sizes: list[int], target: int, overlap: int) -> list[str]:
    before = [0, *accumulate(sizes)]
    packed: list[str] = []
    start = end = 0
    while end < len(units):
        end += 1
        while end < len(units) and before[end + 1] - before[start] <= target:
            end += 1
        packed.append("".join(units[start:end]).strip())
        start = end
        while start > 0 and before[end] - before[start - 1] <= overlap:
            start -= 1
    return [chunk for chunk in packed if chunk] or ["."]
