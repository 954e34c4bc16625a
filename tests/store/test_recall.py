"""What recall() answers: the right memory first, all that is asked for, and nothing else."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from embedding.queries import QueryEmbeddings
from sql.records import NewMemory, RecallQuery
from sql.store import MemoryStore
from tests.store.conftest import contents


async def test_both_legs_find_what_the_question_is_about(remember, recall, embed):
    await remember("We rolled the billing deploy back with helm")
    await remember("The office coffee machine is broken again")
    await embed()

    answer = await recall("how was the billing deploy rolled back?")

    first = answer.results[0]
    assert first.content == "We rolled the billing deploy back with helm"
    assert (first.lexical_rank, first.vector_rank) == (1, 1)
    assert answer.degraded is None
    assert answer.legs.vector == 2


async def test_a_memory_without_its_vector_yet_is_found_by_its_words(remember, recall, embed):
    await remember("The invoice template lives in s3")

    answer = await recall("where is the invoice template")

    assert contents(answer) == ["The invoice template lives in s3"]
    assert answer.results[0].vector_rank is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Retry on ERR-4012 only", "ERR-4012"),
        ("Retry on ERR-4012 only", "what is error 4012"),
        ("parse_amount lives in billing/money.py", "billing/money.py"),
        ("parse_amount lives in billing/money.py", "money.py"),
        ("parse_amount lives in billing/money.py", "amount"),
        ("upgraded to v1.2.3 on Friday", "v1.2.3"),
        ("mail ann.lee@example.com about it", "ann.lee@example.com"),
        ("mail ann.lee@example.com about it", "example.com"),
        ("a well-known problem", "well-known"),
        ("a well-known problem", "known"),
        ("getUserName returns null", "user name"),
        ("Откатили выкладку биллинга", "как откатывали биллинг"),
        ("Всё работает как ёлка", "елка"),
        ("Élodie keeps the café budget", "elodie cafe"),
        ("数据库的端口是五四三二", "数据库端口"),
        ("The server’s name is Ünal", "unal"),
    ],
)
async def test_words_are_found_however_they_are_written(remember, recall, said, asked):
    await remember(said)
    await remember("Something else entirely, in other words")

    assert contents(await recall(asked, mode="lexical"))[0] == said


@pytest.mark.parametrize("query", ["", "   "])
async def test_a_blank_query_is_answered_with_nothing_and_a_reason(remember, recall, query):
    await remember("The bastion listens on 49222")

    answer = await recall(query)

    assert (answer.results, answer.degraded) == ([], "the query is blank")


@pytest.mark.parametrize("query", ["?!…", "the of and", "и в на", "%_'\\\"", "a & | ! <->"])
async def test_a_query_without_a_searchable_word_is_answered_by_the_vector_leg(
    remember, recall, embed, query
):
    await remember("The bastion listens on 49222")
    await embed()

    assert len((await recall(query)).results) == 1
    assert (await recall(query, mode="lexical")).results == []


async def test_user_text_is_never_query_syntax(remember, recall):
    await remember("it's a 'quoted' \\backslash & pipe | not ! <-> :* text")

    for query in (
        "it's text",
        "'quoted'",
        "\\backslash",
        "pipe | text",
        "text:*",
        "!text",
        "(text",
    ):
        assert len((await recall(query, mode="lexical")).results) == 1, query


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"space": "infra"}, {"one"}),
        ({"kinds": ["procedural"]}, {"two"}),
        ({"kinds": ["procedural", "semantic"]}, {"one", "two", "three"}),
        ({"entity": "BILLING"}, {"two"}),
        ({"tags": ["x"]}, {"two", "three"}),
        ({"tags": ["x", "y"]}, {"three"}),
        ({"since": datetime(2026, 2, 1, tzinfo=UTC)}, {"one", "three"}),
        ({"until": datetime(2026, 2, 1, tzinfo=UTC)}, {"two"}),
        ({"min_importance": 0.8}, {"three"}),
        ({"min_confidence": 0.9}, {"one"}),
        ({"space": "infra", "tags": ["x"]}, set()),
        ({"space": "no-such-space"}, set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector", "exact"])
async def test_every_leg_keeps_to_every_filter(remember, recall, embed, mode, filters, expected):
    await remember("deploy one", space="infra", confidence=0.95)
    await remember(
        "deploy two",
        kind="procedural",
        entity="Billing",
        tags=["x"],
        event_at=datetime(2026, 1, 15, tzinfo=UTC),
    )
    await remember("deploy three", tags=["x", "y"], importance=0.8)
    await embed()

    found = {
        content.removeprefix("deploy ")
        for content in contents(await recall("deploy", mode=mode, **filters))
    }

    assert found == expected


async def test_exact_takes_the_text_letter_by_letter(remember, recall):
    await remember("Discount is 50%_off until May")
    await remember("Discount is 50 percent off until May")

    assert contents(await recall("50%_OFF", mode="exact")) == ["Discount is 50%_off until May"]
    assert contents(await recall("scount", mode="exact")) != []


async def test_only_the_head_answers_unless_the_past_is_asked_for(remember, recall, embed):
    await remember("Bastion listens on 22", key="bastion.port")
    await embed()
    between = datetime.now(UTC)
    await remember("Bastion listens on 49222", key="bastion.port")
    await embed()

    assert contents(await recall("bastion port")) == ["Bastion listens on 49222"]
    assert contents(await recall("bastion port", as_of=between)) == ["Bastion listens on 22"]
    past = await recall("bastion port", include=["superseded"])
    assert sorted(result.version for result in past.results) == [1, 2]


async def test_as_of_goes_by_valid_time_where_it_was_given(remember, recall):
    march = datetime(2026, 3, 1, tzinfo=UTC)
    await remember("The CTO is Ann", key="cto", valid_from=march - timedelta(days=300))
    await remember("The CTO is Ben", key="cto", valid_from=march)

    assert contents(await recall("CTO", as_of=march - timedelta(days=1))) == ["The CTO is Ann"]
    assert contents(await recall("CTO", as_of=march)) == ["The CTO is Ben"]


async def test_expired_and_no_longer_valid_memories_do_not_answer(remember, recall, pool):
    await remember("token expires", ttl=timedelta(days=1))
    await pool.execute("update pgrecall.memories set expires_at = now() - interval '1 second'")
    await remember("token was valid", valid_until=datetime.now(UTC) - timedelta(days=1))

    assert (await recall("token")).results == []


async def test_k_is_filled_whenever_enough_memories_exist(store, ada, recall, embed):
    await store.remember_many(ada, [NewMemory(content=f"note {n} of many") for n in range(60)])
    await embed()

    for mode in ("hybrid", "lexical", "vector", "exact"):
        assert len((await recall("note", k=50, mode=mode)).results) == 50


async def test_pages_follow_each_other_without_gap_or_repeat(store, ada, recall, embed):
    await store.remember_many(ada, [NewMemory(content=f"note {n} of many") for n in range(45)])
    await embed()

    whole = (await recall("note many", k=45)).results
    pages = [(await recall("note many", k=10, skip=skip)).results for skip in (0, 10, 20, 30, 40)]

    assert [r.id for page in pages for r in page] == [r.id for r in whole]
    assert [r.rank for page in pages for r in page] == list(range(1, 46))


async def test_a_stranger_finds_nothing_and_a_member_what_is_shared(
    store, remember, embed, add_agent
):
    await remember("secret of ada")
    await remember("shared in infra", space="infra")
    await remember("known to all", space="infra", visibility="public")
    await remember("ada's own note in infra", space="infra", visibility="private")
    await embed()
    member = await add_agent("bob", reader=True, spaces=["infra"])
    stranger = await add_agent("eve")

    for mode in ("hybrid", "lexical", "vector"):
        query = RecallQuery(query="secret shared known note", mode=mode)
        assert set(contents(await store.recall(member, query))) == {
            "shared in infra",
            "known to all",
        }
        assert contents(await store.recall(stranger, query)) == ["known to all"]


async def test_a_dead_embedder_leaves_the_lexical_leg_and_is_said(pool, ada, remember):
    await remember("The bastion listens on 49222")
    store = MemoryStore(pool, QueryEmbeddings(None))

    answer = await store.recall(ada, RecallQuery(query="bastion"))

    assert contents(answer) == ["The bastion listens on 49222"]
    assert answer.degraded
    nothing = await store.recall(ada, RecallQuery(query="zebra"))
    assert (nothing.results, nothing.degraded) == ([], answer.degraded)


async def test_a_query_embedding_of_another_model_is_not_compared(pool, ada, remember, embed):
    await remember("The bastion listens on 49222")
    await embed()

    async def other_model(_: str) -> str:
        return "other [" + ",".join(["0.1"] * 384) + "]"

    answer = await MemoryStore(pool, other_model).recall(ada, RecallQuery(query="bastion"))

    assert (
        answer.degraded == "the query embedding is of model other, the memories' are of test-hash"
    )
    assert answer.results[0].vector_rank is None


async def test_a_degraded_recall_says_so_once_a_statement(pool, ada, remember):
    await remember("The bastion listens on 49222")
    notices: list[asyncpg.PostgresLogMessage] = []

    def listen(_: object, notice: asyncpg.PostgresLogMessage) -> None:
        notices.append(notice)

    async with pool.acquire() as connection:
        connection.add_log_listener(listen)
        async with connection.transaction():
            await connection.execute("set local pgrecall.agent = 'ada'")
            rows = await connection.fetch(
                "select r.degraded from generate_series(1, 5) n, lateral memory.recall('bastion') r"
            )
        await asyncio.sleep(0)  # listeners are called in the loop's next round
        connection.remove_log_listener(listen)
    assert [row["degraded"] for row in rows] == ["no query embedding"] * 5
    assert [notice.message for notice in notices] == [
        "recall() serves the lexical leg only: no query embedding"
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("'x', k => 0", "k must be between 1 and 1000, not 0"),
        ("'x', k => 1001", "k must be between 1 and 1000, not 1001"),
        ("'x', k => null", "k must be between 1 and 1000, not null"),
        ("null", "query must not be null"),
        ("'x', mode => 'fuzzy'", "mode must be hybrid, lexical, vector or exact, not 'fuzzy'"),
        ("'x', kinds => '{opinion}'", "kinds may hold"),
        ("'x', skip => -1", "skip must be between 0 and 10000, not -1"),
        ("'x', rrf_k => 0", "rrf_k must be between 1 and 10000, not 0"),
        ("'x', weights => '{1,-1}'", "weights must be one to four numbers"),
        ("'x', include => '{deleted}'", "include may hold superseded"),
        ("'x', branch => 'dev'", "branch 'dev' does not exist"),
    ],
)
async def test_arguments_out_of_range_are_refused_by_name(pool, ada, arguments, complaint):
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local pgrecall.agent = 'ada'")
        with pytest.raises(asyncpg.InvalidParameterValueError, match=complaint):
            await connection.execute(f"select * from memory.recall({arguments})")


async def test_weights_and_rrf_k_shift_the_order(remember, recall, embed):
    await remember("alpha alpha alpha")
    await remember("beta gamma delta")
    await embed()

    lexical_only = await recall("alpha", weights=[1, 0])
    assert lexical_only.results[0].content == "alpha alpha alpha"
    flat = await recall("alpha", rrf_k=10_000)
    assert flat.results[0].score < (await recall("alpha")).results[0].score
