"""What the string literals of Postgres's SQL say.

PostgreSQL manual, section "Lexical Structure: Constants".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

_DOLLAR_QUOTED = re.compile(r"(\$[^$]*\$)(.*)\1", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))", re.DOTALL
)
_CONTROL: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class LiteralError(ValueError):
    """Not a string literal, or one that Postgres would refuse."""


def literal_text(words: Sequence[str], *, backslash_escapes: bool) -> str:
    """Return the text of one literal, which may go on over several words.

    Raises LiteralError for anything else; escapes for single bytes above ASCII count as that,
    since what they mean depends on an encoding.
    """
    if not words:
        raise LiteralError("no literal")
    first, rest = words[0], list(words[1:])
    escape_character = "\\"
    if len(rest) >= 2 and rest[-2].upper() == "UESCAPE":
        escape_character = _quoted(rest[-1])
        rest = rest[:-2]
    if first.startswith("$"):
        match = _DOLLAR_QUOTED.fullmatch(first)
        if match is None or rest:
            raise LiteralError("not a dollar-quoted literal")
        return match[2]
    prefix, quoted = _prefix(first)
    body = quoted[1:-1] + "".join(_bare_continuation(word) for word in rest)
    return _checked(_decoder(prefix, escape_character, backslash_escapes)(body))


def _prefix(word: str) -> tuple[str, str]:
    for prefix in ("U&", "E", "N", ""):
        if word[: len(prefix)].upper() == prefix and word[len(prefix) : len(prefix) + 1] == "'":
            quoted = word[len(prefix) :]
            if len(quoted) >= 2 and quoted.endswith("'"):
                return prefix, quoted
    raise LiteralError("not a string literal")


def _quoted(word: str) -> str:
    prefix, quoted = _prefix(word)
    if prefix or len(quoted) != 3:
        raise LiteralError("invalid Unicode escape character")
    return quoted[1]


def _bare_continuation(word: str) -> str:
    prefix, quoted = _prefix(word)
    if prefix:
        raise LiteralError("a continued literal has no prefix of its own")
    return quoted[1:-1]


def _decoder(prefix: str, escape_character: str, backslash_escapes: bool) -> Callable[[str], str]:
    if prefix == "U&":
        return lambda body: _unicode_escapes(body.replace("''", "'"), escape_character)
    if prefix == "E" or backslash_escapes:
        return _backslash_escapes
    return lambda body: body.replace("''", "'")


def _backslash_escapes(body: str) -> str:
    # A quote after a backslash is no half of a doubled one, so both are read in one pass.
    parts = re.split(r"(\\.|'')", body, flags=re.DOTALL)
    if not any(part.startswith("\\") for part in parts):
        return body.replace("''", "'")
    undoubled = re.sub(r"(\\.)|''", lambda match: match[1] or "'", body, flags=re.DOTALL)
    return _joined_surrogates(_ESCAPE.sub(_unescaped, undoubled))


def _unescaped(match: re.Match[str]) -> str:
    short, long, hexadecimal, octal, plain = match.groups()
    if short or long:
        return _character(short or long)
    if hexadecimal or octal:
        code = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
        if not 0 < code < 0x80:
            raise LiteralError("an escaped byte that is no ASCII character")
        return chr(code)
    if plain in "uU":
        raise LiteralError("invalid Unicode escape")
    return _CONTROL.get(plain, plain)


def _unicode_escapes(body: str, escape_character: str) -> str:
    escape = re.escape(escape_character)
    pattern = rf"{escape}(?:([0-9A-Fa-f]{{4}})|\+([0-9A-Fa-f]{{6}})|({escape})|)"

    def character(match: re.Match[str]) -> str:
        if match[3]:
            return escape_character
        if not (match[1] or match[2]):
            raise LiteralError("invalid Unicode escape")
        return _character(match[1] or match[2])

    return _joined_surrogates(re.sub(pattern, character, body))


def _character(hexadecimal: str) -> str:
    code = int(hexadecimal, 16)
    if not 0 < code <= 0x10FFFF:
        raise LiteralError("invalid Unicode code point")
    return chr(code)


def _joined_surrogates(text: str) -> str:
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise LiteralError("invalid Unicode surrogate pair") from error


def _checked(text: str) -> str:
    if "\x00" in text:
        raise LiteralError("a text can't hold NUL")
    return text
