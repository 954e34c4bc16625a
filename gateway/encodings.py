"""Client encodings whose texts can be spliced, by Postgres's name for them.

Only those in which every byte of a multi-byte character lies above ASCII. In the others (SJIS,
BIG5, GBK, UHC, GB18030, JOHAB) a quote or a backslash may be half of a character.
"""

from __future__ import annotations

from typing import Final

_CODECS: Final = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",
    "EUC_CN": "gb2312",
    "EUC_JP": "euc_jp",
    "EUC_KR": "euc_kr",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
    "ISO_8859_5": "iso8859_5",
    "ISO_8859_6": "iso8859_6",
    "ISO_8859_7": "iso8859_7",
    "ISO_8859_8": "iso8859_8",
    **{f"LATIN{n}": f"latin{n}" for n in range(1, 11)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
}


def codec_for(client_encoding: bytes) -> str | None:
    """Return Python's codec for a value of client_encoding; None where nothing can be spliced."""
    return _CODECS.get(client_encoding.decode("ascii", "replace").upper())


def decoded(text: bytes, codec: str) -> str | None:
    """Return the text if it decodes, and encodes back to the very same bytes."""
    try:
        characters = text.decode(codec)
        return characters if characters.encode(codec) == text else None
    except UnicodeError:
        return None
