"""Which texts are computed together."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Group texts of like length, by index; a group with its padding has at most `most` tokens.

    A text longer than that is a group of its own.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and lengths[index] * (len(groups[-1]) + 1) <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
