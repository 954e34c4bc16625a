"""The splice beside Postgres's own parser: the same calls, the same texts, the same bounds."""

from __future__ import annotations

import pytest

from gateway.splice import Insertion, embedding_argument, find_calls, splice

grammar = pytest.importorskip(
    "tests.protocol.sql_grammar", reason="postgast is not installed", exc_type=ImportError
)


def check(seed: int) -> bool:
    """Compare one random script; return whether the real parser took it."""
    sql = grammar.Grammar(seed).script()
    tree = grammar.parsed(sql)
    if tree is None:
        return False
    calls = find_calls(sql).calls
    ours = [(call.function, call.argument) for call in sorted(calls, key=lambda one: one.close)]
    assert sorted(map(str, ours)) == sorted(map(str, grammar.calls_in(tree))), (seed, sql)
    insertions = [
        Insertion(call.close, embedding_argument(grammar.SPLICED))
        for call in sorted(calls, key=lambda one: one.close)
    ]
    spliced = grammar.parsed(splice(sql, insertions))
    assert spliced is not None, (seed, sql)
    assert len(grammar.calls_in(spliced)) == 0, (seed, sql)
    assert grammar.without_locations(spliced) == grammar.without_locations(tree), (seed, sql)
    return True


def test_the_splice_agrees_with_the_real_parser() -> None:
    taken = sum(check(seed) for seed in range(800))
    assert taken > 400


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_the_splice_agrees_with_the_real_parser_a_hundred_thousand_times(part: int) -> None:
    first = 800 + part * 28_000
    assert sum(check(seed) for seed in range(first, first + 28_000)) > 25_000
