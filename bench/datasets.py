"""Retrieval test sets, read from a folder that is not part of the project."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "PGRECALL_BENCH_DATA"
SETS = ("locomo10_turns", "scifact_test", "koziev_ru_facts", "cranfield", "xquad_zh")

# Documents without a date follow each other by seconds, so that corpus order is time order.
_FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `group` is the conversation that it belongs to, if the set has any."""

    id: str
    title: str | None
    text: str
    group: str | None
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class Query:
    """One query, asked inside `group` where that is not None."""

    id: str
    text: str
    group: str | None
    category: int | None


@dataclass(frozen=True, slots=True)
class TestSet:
    """Documents, queries and judgements: query id to document id to relevance."""

    name: str
    documents: list[Document]
    queries: list[Query]
    judgements: dict[str, dict[str, int]]


def data_folder(given: Path | None = None) -> Path | None:
    """Return where the sets are: the argument, else PGRECALL_BENCH_DATA; None when neither."""
    folder = given or (Path(os.environ[FOLDER_VARIABLE]) if FOLDER_VARIABLE in os.environ else None)
    return folder if folder and (folder / "ir").is_dir() else None


def load(folder: Path, name: str) -> TestSet:
    """Read one set; scifact_train has the corpus of scifact_test."""
    home = folder / "ir" / name
    corpus = folder / "ir" / "scifact_test" if name == "scifact_train" else home
    return TestSet(
        name,
        [_document(number, row) for number, row in enumerate(_rows(corpus / "corpus.jsonl.gz"))],
        [_query(row) for row in _rows(home / "queries.jsonl.gz")],
        _judgements(home / "qrels.tsv"),
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _document(number: int, row: dict[str, Any]) -> Document:
    meta = row.get("meta") or {}
    # A turn is remembered as a transcript has it: who speaks, then the words.
    text = f"{meta['speaker']}: {row['text']}" if "speaker" in meta else row["text"]
    return Document(
        row["_id"],
        row.get("title") or None,
        text,
        meta.get("conv"),
        _moment(meta.get("date"), number),
    )


def _moment(date: str | None, number: int) -> datetime:
    if date is None:
        return _FIRST_MOMENT + timedelta(seconds=number)
    session = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return session + timedelta(milliseconds=number)


def _query(row: dict[str, Any]) -> Query:
    meta = row.get("meta") or {}
    return Query(row["_id"], row["text"], meta.get("conv"), meta.get("category"))


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as lines:
        for query, document, score in csv.reader(lines, delimiter="\t"):
            if score.isdigit():  # the first line may be a heading
                judged.setdefault(query, {})[document] = int(score)
    return judged
