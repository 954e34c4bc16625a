"""An entity goes by several names, and whichever a query uses finds it."""

import pytest

from sql.entities import add_alias, aliases, remove_alias
from sql.errors import Forbidden, InvalidInput, NotFound
from sql.records import Alias, RecallQuery
from tests.store.conftest import contents


@pytest.mark.parametrize("asked", ["k8s", "K8S", "Kubernetes", "kubernétes", "куб"])
async def test_the_entity_filter_takes_any_name(pool, ada, remember, recall, asked):
    await remember("The cluster was upgraded", entity="Kubernetes")
    await remember("The cluster of grapes", entity="Fruit")
    await add_alias(pool, ada, "Kubernetes", "k8s")
    await add_alias(pool, ada, "K8s", "Куб")

    assert contents(await recall("cluster", entity=asked)) == ["The cluster was upgraded"]


async def test_accents_and_case_of_an_entity_do_not_count(remember, recall):
    await remember("visited on Monday", entity="Élodie  Ёлкина")

    assert len((await recall("visited", entity="elodie елкина")).results) == 1


@pytest.mark.parametrize("query", ["k8s news", "news of the orchestrator", '"K8s" news', "в куб"])
async def test_a_query_that_names_an_entity_lifts_its_memories(pool, ada, remember, recall, query):
    for number in range(3):
        await remember(f"News of the day number {number}")
    await remember("Upgrade planned for Friday", entity="Kubernetes")
    for alias in ("k8s", "the orchestrator", "Куб"):
        await add_alias(pool, ada, "Kubernetes", alias)

    assert contents(await recall(query, mode="lexical"))[0] == "Upgrade planned for Friday"


async def test_aliases_are_the_members_own(pool, ada, store, remember, add_agent):
    await remember(
        "Upgrade planned for Friday", entity="Kubernetes", space="infra", visibility="public"
    )
    await add_alias(pool, ada, "Kubernetes", "k8s", "infra")
    member = await add_agent("bob", reader=True, spaces=["infra"])
    stranger = await add_agent("eve")
    query = RecallQuery(query="k8s", mode="lexical")

    assert len((await store.recall(member, query)).results) == 1
    assert (await store.recall(stranger, query)).results == []
    assert await aliases(pool, member) == [Alias(space="infra", entity="Kubernetes", alias="k8s")]
    assert await aliases(pool, stranger) == []
    with pytest.raises(Forbidden):
        await add_alias(pool, stranger, "Kubernetes", "k8", "infra")


async def test_an_alias_can_be_taken_away(pool, ada, remember, recall):
    await remember("Upgrade planned", entity="Kubernetes")
    await add_alias(pool, ada, "Kubernetes", "k8s")
    await remove_alias(pool, ada, "K8S")

    assert (await recall("k8s", mode="lexical")).results == []
    with pytest.raises(NotFound, match="no alias 'K8S'"):
        await remove_alias(pool, ada, "K8S")


@pytest.mark.parametrize(("entity", "alias"), [("", "x"), ("x", " "), ("x", "X"), ("x", "y" * 201)])
async def test_a_name_that_names_nothing_is_refused(pool, ada, entity, alias):
    with pytest.raises(InvalidInput):
        await add_alias(pool, ada, entity, alias)
