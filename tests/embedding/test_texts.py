"""How texts are made fit for a maker, and how long ones are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from embedding.texts import chunks, cleaned, estimated_tokens


def words(text: str) -> int:
    return len(text.split()) + 2


def test_nul_surrogates_and_blanks_never_reach_a_maker() -> None:
    assert cleaned("a\x00b") == "a b"
    assert cleaned("a\ud800b") == "a\ufffdb"
    assert cleaned("  вечер \n") == "вечер"


def test_a_text_of_nothing_becomes_something_that_a_maker_takes() -> None:
    assert cleaned(" \x00\n\t") == "."


def test_a_text_that_fits_stays_whole() -> None:
    assert chunks("One. Two. Three.", words, limit=5, overlap=1) == ["One. Two. Three."]


def test_chunks_end_with_sentences_and_begin_with_the_one_before() -> None:
    text = " ".join(f"This is sentence number {number}." for number in range(40))
    cut = chunks(text, words, limit=32, overlap=6)
    assert all(chunk.endswith(".") and chunk.startswith("This") for chunk in cut)
    for before, after in pairwise(cut):
        assert before.endswith(after.split(". ")[0] + ".")


def test_paragraphs_and_full_width_stops_are_borders() -> None:
    assert chunks("а б в\n\nг д е", words, limit=5, overlap=0) == ["а б в", "г д е"]
    cut = chunks("数据库坏了。" * 200, estimated_tokens, limit=100, overlap=10)
    assert all(chunk.endswith("。") for chunk in cut)


@given(st.text(max_size=3_000), st.integers(12, 60), st.integers(0, 5))
def test_no_chunk_is_too_long(text: str, limit: int, overlap: int) -> None:
    cut = chunks(cleaned(text), estimated_tokens, limit=limit, overlap=overlap)
    assert all(estimated_tokens(chunk) <= limit for chunk in cut)


@given(st.text(max_size=3_000), st.integers(12, 60))
def test_nothing_is_lost_between_chunks(text: str, limit: int) -> None:
    text = cleaned(text)
    cut = chunks(text, estimated_tokens, limit=limit, overlap=0)
    assert "".join("".join(cut).split()) == "".join(text.split())
