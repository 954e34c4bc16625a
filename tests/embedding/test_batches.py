"""Which texts are computed together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from embedding.batches import batches


@given(st.lists(st.integers(1, 600), max_size=200))
def test_each_text_is_in_one_batch_and_no_batch_is_padded_beyond_the_limit(
    lengths: list[int],
) -> None:
    groups = batches(lengths, 512)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or max(lengths[index] for index in group) * len(group) <= 512


def test_texts_of_like_length_are_together() -> None:
    assert batches([10, 300, 12, 290, 11], 600) == [[0, 4, 2], [3, 1]]
