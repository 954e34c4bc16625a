"""Where calls that take a text stand in a SQL text, and the text with an embedding put in.

sqlglot's tokenizer gives the offsets; nothing is parsed further than to a call's arguments and
nothing is written anew: a splice inserts in front of a call's closing parenthesis, and every other
character stays. What we can't be sure of is left alone, and recall() then says so in a NOTICE.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, Literal, NamedTuple

from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from gateway.literals import LiteralError, literal_text

# What a text is embedded for: to be asked for, or to be kept.
Function = Literal["recall", "remember"]

SCHEMA: Final = "memory"
ARGUMENT: Final = "query_embedding"
MAX_PARAMETERS: Final = 65_535


class TextArgument(NamedTuple):
    """Which argument of a function is the text, and what its embedding is for."""

    function: Function
    name: str
    position: int


# Every function of the schema that takes `query_embedding`.
TEXT_ARGUMENTS: Final[dict[str, TextArgument]] = {
    "recall": TextArgument("recall", "query", 1),
    "explain_recall": TextArgument("recall", "query", 1),
    "remember": TextArgument("remember", "content", 1),
    "revise": TextArgument("remember", "content", 2),
}
# Without any of these a text has no call; a name that holds another one needs no look of its own.
# (`in` would cost more: of bytes it first tries to make an integer.)
_search_word = re.compile(
    "|".join(
        name
        for name in TEXT_ARGUMENTS
        if not any(other in name for other in TEXT_ARGUMENTS if other != name)
    ).encode()
).search
# With so many by position the embedding may be among them; nobody who writes that needs a splice.
_MAX_POSITIONAL: Final = 16

_MASKED = re.compile(r"\$(?=\d)")
_PARAMETER = re.compile(r"\$(\d+)")
_STRINGS: Final = frozenset(
    {
        TokenType.STRING,
        TokenType.BYTE_STRING,
        TokenType.UNICODE_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.HEREDOC_STRING,
    }
)
_TEXT_TYPES: Final = (("TEXT",), ("VARCHAR",), ("CHARACTER", "VARYING"), ("CHARACTER VARYING",))
# The word in front of a name that is followed by a parenthesis and yet no call.
_NO_CALL_AFTER: Final = frozenset(
    {"EXECUTE", "PREPARE", "FUNCTION", "PROCEDURE", "ROUTINE", "INTO"}
)
_DEFINITIONS: Final = frozenset(
    {"CREATE", "ALTER", "DROP", "COMMENT", "GRANT", "REVOKE", "SECURITY", "DO"}
)
# These keep $1 for themselves or take no parameters at all.
_WITHOUT_PARAMETERS: Final = frozenset({"PREPARE", "COPY"})


class _Tokenizer(Postgres.Tokenizer):
    """Plain strings as standard_conforming_strings has them."""

    COMMANDS: ClassVar[set[TokenType]] = set()  # or the rest of an EXPLAIN would be one token


class _BackslashTokenizer(_Tokenizer):
    """Plain strings with backslash escapes, as before Postgres 9.1."""

    STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that can take an embedding.

    `close` is the offset of its closing parenthesis in characters; `argument` the text that a
    literal holds, or the number of the parameter that brings it.
    """

    function: Function
    close: int
    argument: str | int


@dataclass(frozen=True, slots=True)
class Calls:
    """Every call that can be spliced, from left to right, and the highest `$n` of the text."""

    calls: tuple[Call, ...] = ()
    highest_parameter: int = 0


class Insertion(NamedTuple):
    """What is put in, and in front of which character of the original."""

    offset: int
    text: str


class Word(NamedTuple):
    """A token: its own letters, upper-cased where case doesn't count, and where they stand."""

    kind: TokenType
    text: str
    start: int
    stop: int


def mentions_memory(sql: bytes) -> bool:
    """Tell whether a text can hold a call at all; costs next to nothing."""
    return _search_word(sql.lower()) is not None


@lru_cache(maxsize=256)
def find_calls(sql: str, *, backslash_escapes: bool = False) -> Calls:
    """Find the calls in one or more statements; none in a text that can't be tokenized."""
    tokenizer = _BackslashTokenizer() if backslash_escapes else _Tokenizer()
    try:
        tokens = tokenizer.tokenize(_MASKED.sub("_", sql))
    except TokenError:
        return Calls()
    words = [_word(sql, token) for token in tokens]
    highest = max((_parameter(word) or 0 for word in words), default=0)
    calls: list[Call] = []
    for statement in _statements(words):
        calls += _calls_in(statement, backslash_escapes)
    return Calls(tuple(calls), highest)


def splice(sql: str, insertions: Iterable[Insertion]) -> str:
    """Return the text with the insertions made; they come from left to right."""
    parts: list[str] = []
    position = 0
    for offset, text in insertions:
        parts += (sql[position:offset], text)
        position = offset
    return "".join((*parts, sql[position:]))


def original_position(position: int, insertions: Sequence[Insertion]) -> int:
    """Return where a 1-based character of the spliced text stands in the original."""
    shift = 0
    for offset, text in insertions:
        start = offset + shift
        if position <= start:
            break
        if position <= start + len(text):
            return offset + 1
        shift += len(text)
    return position - shift


def embedding_argument(embedding: str) -> str:
    """Write an embedding as one more argument, a literal that no setting can misread."""
    quoted = embedding.replace("\x00", "").replace("'", "''")
    if "\\" in quoted:
        return f", {ARGUMENT} => E'{quoted.replace(chr(92), chr(92) * 2)}'"
    return f", {ARGUMENT} => '{quoted}'"


def parameter_argument(number: int) -> str:
    """Write a parameter as one more argument."""
    return f", {ARGUMENT} => ${number}"


def _word(sql: str, token: Token) -> Word:
    text = sql[token.start : token.end + 1]
    if token.token_type is TokenType.IDENTIFIER:
        return Word(token.token_type, token.text, token.start, token.end + 1)
    if token.token_type not in _STRINGS:
        text = text.upper()
    return Word(token.token_type, text, token.start, token.end + 1)


def _parameter(word: Word) -> int | None:
    match = _PARAMETER.fullmatch(word.text) if word.text.startswith("$") else None
    if match is None or word.kind in _STRINGS or word.kind is TokenType.IDENTIFIER:
        return None
    return int(match[1])


def _statements(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Cut at the semicolons that end a statement: not those of a BEGIN ATOMIC body."""
    start = 0
    atomic_depth = 0
    for index, word in enumerate(words):
        if word.kind is TokenType.IDENTIFIER:
            continue
        if word.text == "ATOMIC" and index and words[index - 1].text == "BEGIN":
            atomic_depth = 1
        elif atomic_depth and word.text == "CASE":
            atomic_depth += 1
        elif atomic_depth and word.text == "END":
            atomic_depth -= 1
        elif word.text == ";" and not atomic_depth:
            yield words[start:index]
            start = index + 1
    yield words[start:]


def _is_definition(statement: Sequence[Word]) -> bool:
    """Tell whether a statement defines something; CREATE TABLE … AS runs its query at once."""
    if not statement or statement[0].text not in _DEFINITIONS:
        return False
    kinds = [word.text for word in statement[1:4]]
    makes_table = statement[0].text == "CREATE" and "TABLE" in kinds
    return not (makes_table and any(word.text == "AS" for word in statement))


def _calls_in(statement: Sequence[Word], backslash_escapes: bool) -> Iterator[Call]:
    if _is_definition(statement):
        return
    takes_parameters = not any(word.text in _WITHOUT_PARAMETERS for word in statement[:1])
    for index in range(len(statement) - 1):
        text = _function_at(statement, index)
        if text is None or statement[index + 1].text != "(":
            continue
        close = _closing(statement, index + 1)
        if close is None:
            return
        argument = _text_argument(text, statement[index + 2 : close], backslash_escapes)
        if argument is None or (isinstance(argument, int) and not takes_parameters):
            continue
        yield Call(text.function, statement[close].start, argument)


def _function_at(statement: Sequence[Word], index: int) -> TextArgument | None:
    word = statement[index]
    if word.kind in _STRINGS:
        return None
    name = word.text if word.kind is TokenType.IDENTIFIER else word.text.lower()
    text = TEXT_ARGUMENTS.get(name)
    if text is None:
        return None
    before = statement[index - 1] if index else None
    if before is not None and before.text == ".":
        schema = statement[index - 2] if index > 1 else None
        if schema is None or not _is_name(schema, SCHEMA):
            return None
    elif before is not None and _is_keyword(before, _NO_CALL_AFTER):
        return None
    return text


def _is_keyword(word: Word, keywords: Container[str]) -> bool:
    return word.text in keywords and word.kind is not TokenType.IDENTIFIER


def _is_name(word: Word, name: str) -> bool:
    if word.kind is TokenType.IDENTIFIER:
        return word.text == name
    return word.kind not in _STRINGS and word.text.lower() == name


def _closing(statement: Sequence[Word], opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(statement)):
        if statement[index].text in ("(", "["):
            depth += 1
        elif statement[index].text in (")", "]"):
            depth -= 1
            if depth == 0:
                return index
    return None


def _text_argument(
    text: TextArgument, words: Sequence[Word], backslash_escapes: bool
) -> str | int | None:
    """Return the literal's text or the parameter's number; None when it's neither, or no need."""
    found: Sequence[Word] | None = None
    positional = 0
    for argument in _arguments(words):
        name = _argument_name(argument)
        if name is None:
            positional += 1
            if positional == text.position:
                found = argument
        elif name == ARGUMENT:
            return None
        elif name == text.name:
            found = argument[2:]
    if not found or positional > _MAX_POSITIONAL:
        return None
    return _constant(_bare(found), backslash_escapes)


def _arguments(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    start = depth = 0
    for index, word in enumerate(words):
        if word.text in ("(", "["):
            depth += 1
        elif word.text in (")", "]"):
            depth -= 1
        elif word.text == "," and not depth:
            yield words[start:index]
            start = index + 1
    if words:
        yield words[start:]


def _argument_name(argument: Sequence[Word]) -> str | None:
    if len(argument) < 2 or argument[1].text not in ("=>", ":="):
        return None
    name = argument[0]
    return name.text if name.kind is TokenType.IDENTIFIER else name.text.lower()


def _bare(words: Sequence[Word]) -> Sequence[Word]:
    """Take away parentheses and casts to text around an expression."""
    while True:
        if len(words) > 2 and words[0].text == "(" and _closing(words, 0) == len(words) - 1:
            words = words[1:-1]
        elif (inner := _without_cast(words)) is not None:
            words = inner
        else:
            return words


def _without_cast(words: Sequence[Word]) -> Sequence[Word] | None:
    texts = [word.text for word in words]
    for type_name in _TEXT_TYPES:
        size = len(type_name)
        if texts[-size - 1 :] == ["::", *type_name]:
            return words[: -size - 1]
        is_cast = texts[:2] == ["CAST", "("] and texts[-size - 2 :] == ["AS", *type_name, ")"]
        if is_cast and _closing(words, 1) == len(words) - 1:
            return words[2 : -size - 2]
        if texts[:size] == [*type_name] and words[size:] and words[size].kind in _STRINGS:
            return words[size:]
    return None


def _constant(words: Sequence[Word], backslash_escapes: bool) -> str | int | None:
    if len(words) == 1 and (number := _parameter(words[0])) is not None:
        return number if 0 < number <= MAX_PARAMETERS else None
    try:
        return literal_text([word.text for word in words], backslash_escapes=backslash_escapes)
    except LiteralError:
        return None
