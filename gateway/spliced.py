"""Messages with a place for an embedding, and what they are once it's made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.protocol import frontend
from gateway.splice import (
    Function,
    Insertion,
    embedding_argument,
    parameter_argument,
    splice,
)
from gateway.statements import SentText


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that waits for its embedding, as a query (recall) or a passage (remember)."""

    function: Function
    text: str


# None where a text gets no embedding here: it's too long for one, or was NULL.
Embedded = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class SplicedText:
    """A Query or Parse with embeddings to put into its text."""

    wanted: tuple[Wanted, ...]
    message: frontend.Query | frontend.Parse
    sql: str
    codec: str
    slots: tuple[tuple[int, int | None], ...]  # offset, and the hidden parameter's number if any
    sent: SentText

    def render(self, embedded: Embedded) -> bytes:
        """Return the message with what was made of `wanted`, in the same order."""
        answers = iter(embedded)
        insertions: list[Insertion] = []
        for offset, parameter in self.slots:
            if parameter is not None:
                insertions.append(Insertion(offset, parameter_argument(parameter)))
            elif (embedding := next(answers)) is not None:
                insertions.append(Insertion(offset, embedding_argument(embedding)))
        self.sent.insertions = insertions
        sql = splice(self.sql, insertions).encode(self.codec, "replace")
        return replace(self.message, sql=sql).encode()


@dataclass(frozen=True, slots=True)
class SplicedBind:
    """A Bind with hidden parameters to append; `None` in `values` stands for a NULL text."""

    wanted: tuple[Wanted, ...]
    message: frontend.Bind
    values: tuple[Wanted | None, ...]
    codec: str

    def render(self, embedded: Embedded) -> bytes:
        """Return the message with what was made of `wanted`, in the same order."""
        answers = iter(embedded)
        hidden = [None if wanted is None else next(answers) for wanted in self.values]
        encoded = [None if text is None else text.encode(self.codec, "replace") for text in hidden]
        bind = self.message
        formats = bind.formats
        if len(formats) == 1 and formats[0] != 0:
            formats = [formats[0]] * len(bind.values)
        if any(formats) or len(formats) > 1:
            formats = [*formats, *(0 for _ in encoded)]
        return replace(bind, formats=formats, values=[*bind.values, *encoded]).encode()


Spliced = SplicedText | SplicedBind
