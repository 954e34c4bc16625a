"""Quoted phrases: what a lexical hit must hold, and what comes after those that do."""

import pytest

from tests.store.conftest import contents


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("We rolled back the deploy", '"rolled back"'),
        ("We rolled back the deploy", "who “rolled back” it"),
        ("We rolled back the deploy", '"rolling back" deploys'),
        ("state of the art retrieval", '"state of the art"'),
        ("Мы всё откатили назад", "кто «откатил назад»"),
        ("Мы всё откатили назад", "„откатили назад“"),
        ("rates live in billing/tax/rates.py", '"billing/tax"'),
        ("see ERR-4012 for that", '"ERR-4012"'),
        ("数据库的端口是五四三二", '"数据库的端口"'),
        ("pgvector 数据库 on Friday", '"pgvector" "数据库"'),
        ("The café reopened", '"the cafe"'),
    ],
)
async def test_a_phrase_is_found_by_its_words_in_a_row(remember, recall, said, query):
    await remember(said)
    await remember("back and rolled, art of state, назад откатили, tax billing, 端口 数据")

    assert contents(await recall(query, mode="lexical")) == [said]


async def test_every_phrase_of_a_query_is_required(remember, recall):
    await remember("rolled back by the night shift")
    await remember("rolled back, then the shift of the night went home")

    answer = await recall('"rolled back" "night shift"', mode="lexical")

    assert contents(answer) == ["rolled back by the night shift"]


@pytest.mark.parametrize(
    "query", ['"deploy', 'the 5" deploy', '"" deploy', '"of the" deploy', '"&|!" deploy']
)
async def test_a_quote_that_quotes_nothing_asks_for_nothing(remember, recall, query):
    await remember("We deploy on Friday")

    assert contents(await recall(query, mode="lexical")) == ["We deploy on Friday"]


async def test_what_is_near_by_meaning_alone_comes_after_what_holds_the_phrase(
    remember, recall, embed
):
    phrase = "in passing somebody said that the change was rolled back which nobody had expected"
    await remember("back back rolled rolled")
    await remember("back rolled")
    await remember(phrase, importance=0)
    await embed()

    answer = await recall('"was rolled back"')

    assert contents(answer)[0] == phrase
    assert len(answer.results) == 3
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)


async def test_a_phrase_nobody_wrote_leaves_the_vector_leg(remember, recall, embed):
    await remember("back rolled")
    await embed()

    answer = await recall('"rolled back"')

    assert [(r.content, r.lexical_rank) for r in answer.results] == [("back rolled", None)]
