"""What some models want before a query and before a passage; without it they rank badly."""

from __future__ import annotations

import re

# From the models' cards. The first pattern that is found in the model's name counts.
_PREFIXES: tuple[tuple[str, tuple[str, str]], ...] = (
    (r"\be5\b(?!.*instruct)", ("query: ", "passage: ")),
    (r"nomic-embed-text", ("search_query: ", "search_document: ")),
    (
        r"mxbai-embed|snowflake-arctic-embed",
        ("Represent this sentence for searching relevant passages: ", ""),
    ),
    (r"embeddinggemma", ("task: search result | query: ", "title: none | text: ")),
)


def prefixes_for(model: str) -> tuple[str, str]:
    """Return what stands before a query and before a passage for this model; mostly nothing."""
    lowered = model.lower()
    return next((both for name, both in _PREFIXES if re.search(name, lowered)), ("", ""))
