"""An entity goes by several names, and whichever a query uses finds it."""

import pytest

from sql.entities import add_alias, aliases, remove_alias
from sql.errors import Forbidden, InvalidInput, NotFound
from sql.listing import ListQuery, list_memories
from sql.records import Alias, NewMemory, RecallQuery
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


@pytest.mark.parametrize(
    "query",
    [
        'what did "Halcyon Bikes" ask',
        "what did “halcyon  bikes” ask",
        "what did Halcyon Bikes ask?",
        "HALCYON BIKES: what did they ask",
        "what was asked by (Hálcyon Bikes), again",
        'who are "Halcyon Bikes"',
    ],
)
async def test_what_is_of_an_entity_comes_before_what_speaks_of_it(remember, recall, embed, query):
    for number in range(5):
        await remember(f"A courier was asked about Halcyon Bikes {number}", entity="Couriers")
    await remember("A refund for two frames was wanted", entity="Halcyon Bikes")
    await embed()

    for mode in ("lexical", "hybrid"):
        answer = await recall(query, mode=mode)
        assert contents(answer)[0] == "A refund for two frames was wanted"
    assert len(answer.results) == 6


async def test_a_quoted_entity_comes_before_what_speaks_of_it_however_often(
    remember, recall, embed
):
    for number in range(5):
        await remember(
            f"Halcyon Bikes ask and ask, what did Halcyon Bikes ask {number}", entity="Gossip"
        )
    await remember("A refund for two frames was wanted", entity="Halcyon Bikes")
    await embed()

    for mode in ("lexical", "hybrid"):
        answer = await recall('what did "Halcyon Bikes" ask', mode=mode)
        assert contents(answer)[0] == "A refund for two frames was wanted"


async def test_entities_are_named_in_chinese_too(remember, recall):
    for number in range(3):
        await remember(f"天气很好，红星公司的故事红星公司 {number}")
    await remember("退款两辆", entity="红星公司")

    assert contents(await recall("红星公司要求什么", mode="lexical"))[0] == "退款两辆"


@pytest.mark.parametrize("name", ["a'b", "x\\y", "a & b | !c", "':B", "<-> z", "50% off_", "C++"])
async def test_no_entitys_name_is_query_syntax(remember, recall, name):
    await remember("first note", entity=name)
    await remember("second note", entity="plain")

    for query in (f'what of "{name}" note', f"what of {name} note"):
        assert contents(await recall(query, mode="lexical"))[0] == "first note"


async def test_what_others_keep_of_an_entity_changes_nothing(store, remember, recall, add_agent):
    await remember("Halcyon Bikes wrote")
    alone = await recall("Halcyon Bikes", mode="lexical")
    eve = await add_agent("eve")
    await store.remember(eve, NewMemory(content="secret", entity="Halcyon Bikes"))

    assert contents(await recall("Halcyon Bikes", mode="lexical")) == contents(alone)


@pytest.mark.parametrize("asked", ["k8s", "KUBERNETES", "kubernétes"])
async def test_listing_takes_any_name_of_an_entity(pool, ada, store, remember, add_agent, asked):
    await remember("The cluster was upgraded", entity="Kubernetes")
    await remember("The cluster of grapes", entity="Fruit")
    await add_alias(pool, ada, "Kubernetes", "k8s")
    eve = await add_agent("eve")
    await store.remember(eve, NewMemory(content="eve's", entity="Kubernetes"))

    for query in (ListQuery(entity=asked), ListQuery(entity=asked, space="~ada")):
        page = await list_memories(pool, ada, query)
        assert [memory.content for memory in page.memories] == ["The cluster was upgraded"]
    assert (await list_memories(pool, ada, ListQuery(entity=asked, space="infra"))).memories == []
