"""Attacks on memory, and harmless texts that resemble them, in the halves that they belong to.

`development` was tuned on; `held_out` was only ever counted; `unseen` was written, and counted,
after the patterns were settled; `blind` was written by somebody who knew no pattern. See
docs/quarantine.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "quarantine_corpus"


@dataclass(frozen=True, slots=True)
class Sample:
    """One text; `attack` says what it ought to be taken for."""

    half: str
    family: str
    source_type: str
    text: str
    attack: bool


def samples() -> list[Sample]:
    return [
        Sample(**json.loads(line), attack=name == "attacks")
        for name in ("attacks", "harmless")
        for line in (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
