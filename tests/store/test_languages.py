"""Memories in other languages are found by their stems, beside those in the default one."""

import pytest

from sql.errors import InvalidInput
from tests.store.conftest import contents


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("french", "Les chevaux mangent", "cheval"),
        ("fr", "Nous avons annulé les déploiements", "déploiement annulée"),
        ("de-AT", "Die Katzen schlafen in den Häusern", "Haus Katze"),
        ("Spanish", "Los servidores fallaron", "servidor"),
        ("turkish", "Sunucular kapandı", "sunucu"),
        ("simple", "Serwery się zatrzymały", "serwery"),
    ],
)
async def test_a_query_is_stemmed_as_the_rows_are(remember, recall, language, said, asked):
    await remember(said, metadata={"language": language})
    await remember("Something else in English")

    assert contents(await recall(asked, mode="lexical")) == [said]


async def test_another_language_in_use_takes_nothing_from_the_default(remember, recall):
    await remember("Deploys pour in on Mondays")
    await remember("Откатили выкладку")
    before = [await recall(q, mode="lexical") for q in ("pouring deploy", "выкладка")]
    await remember("Les chevaux mangent", metadata={"language": "french"})

    after = [await recall(q, mode="lexical") for q in ("pouring deploy", "выкладка")]

    assert [contents(a) for a in before] == [contents(a) for a in after]
    assert all(len(contents(answer)) == 1 for answer in after)


async def test_a_phrase_is_found_in_a_row_of_another_language(remember, recall):
    await remember("Nous avons annulé les déploiements", metadata={"language": "french"})

    assert len((await recall('"annuler les déploiements"', mode="lexical")).results) == 1


async def test_a_language_that_nothing_stems_is_refused_by_name(remember):
    with pytest.raises(InvalidInput, match=r"metadata\.language must name .* not 'klingon'"):
        await remember("nuqneH", metadata={"language": "klingon"})


async def test_a_revision_may_change_the_language(remember, recall):
    await remember("Les chevaux", key="k")
    await remember("Les chevaux mangent", key="k", metadata={"language": "fr"})

    assert contents(await recall("cheval", mode="lexical")) == ["Les chevaux mangent"]
