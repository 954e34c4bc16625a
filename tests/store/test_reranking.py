"""A memory's worth moves its relevance within bounds, and explain_recall() says by how much."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sql.acting import act_as
from sql.errors import InvalidInput
from sql.records import NewMemory
from tests.store.conftest import contents

BOUND = 1.2
FACTORS = ("importance_factor", "confidence_factor", "pinned_factor", "recency_factor")
KINDS = ["episodic", "semantic", "procedural", "resource", "strategic", "identity"]


def ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


@pytest.fixture
def explain(pool, ada):
    """`await explain("query", weights=[1, 1, 1, 0])`: rows of explain_recall() as ada, by words."""

    async def run(query: str, **options: Any) -> list[asyncpg.Record]:
        named = {"mode": "lexical", **options}
        given_by_name = "".join(f", {name} => ${n}" for n, name in enumerate(named, start=2))
        async with pool.acquire() as connection, connection.transaction():
            await act_as(connection, ada)
            return await connection.fetch(
                f"select * from memory.explain_recall($1{given_by_name})", query, *named.values()
            )

    return run


async def factors(
    pool: asyncpg.Pool, at: datetime | None = None, **fields: Any
) -> dict[str, float]:
    about = {
        "importance": 0.5,
        "confidence": 0.8,
        "pinned": False,
        "kind": "semantic",
        "metadata": {},
        "happened_at": at or datetime.now(UTC),
        **fields,
    }
    row = await pool.fetchrow(
        "select (f).* from (select pgrecall.ranking_factors($1, $2, $3, $4, $5, $6, $7) f) x",
        *about.values(),
        at or datetime.now(UTC),
    )
    return dict(row)


async def product(pool: asyncpg.Pool, **fields: Any) -> float:
    named = await factors(pool, **fields)
    return named["importance"] * named["confidence"] * named["pinned"] * named["recency"]


async def test_what_says_nothing_of_its_worth_keeps_its_relevance(remember, explain):
    await remember("deploy on Friday")

    (row,) = await explain("deploy")
    assert [row[name] for name in FACTORS] == [1, 1, 1, 1]
    assert row["score"] == row["fused"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"importance": 0.9}, {"importance": 0.2}),
        ({"confidence": 1}, {"confidence": 0.1}),
        ({"pinned": True}, {}),
        ({"event_at": ago(1)}, {"event_at": ago(2000)}),
        ({"event_at": ago(400), "pinned": True}, {"event_at": ago(400)}),
        ({"event_at": ago(400), "kind": "identity"}, {"event_at": ago(400), "kind": "episodic"}),
        (
            {"event_at": ago(90), "metadata": {"half_life_days": 3650}},
            {"event_at": ago(90), "metadata": {"half_life_days": 1.5}},
        ),
    ],
)
@pytest.mark.parametrize("first", [True, False])
async def test_near_ties_go_by_worth(remember, recall, better, worse, first):
    # Twenty alike stand before them, so that these two are a near-tie.
    for n in range(20):
        await remember(f"deploy deploy number {n}")
    for about in (better, worse) if first else (worse, better):
        await remember(f"a deploy {'better' if about is better else 'worsen'} here", **about)

    found = contents(await recall("deploy", mode="lexical", k=22))
    assert found.index("a deploy better here") < found.index("a deploy worsen here")


async def test_relevance_is_never_swamped(remember, recall):
    await remember(
        "rollback of the billing deploy",
        importance=0,
        confidence=0,
        event_at=ago(5000),
        kind="episodic",
    )
    await remember("the office has a billing address", importance=1, confidence=1, pinned=True)

    answer = await recall("rollback of the billing deploy", mode="lexical", rrf_k=1)
    assert answer.results[0].content == "rollback of the billing deploy"


@settings(
    max_examples=200,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    importance=st.floats(0, 1),
    confidence=st.floats(0, 1),
    pinned=st.booleans(),
    kind=st.sampled_from(KINDS),
    metadata=st.sampled_from(
        [{}, {"half_life_days": 0.01}, {"half_life_days": 36500}, {"half_life_days": 1e300}]
    ),
    happened_at=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)),
)
async def test_the_factors_lie_between_0_901_and_1_080(pool, **about):
    assert 0.901 <= await product(pool, **about) <= 1.080


async def test_the_bounds_reach_no_further_than_they_say(pool):
    most = await product(pool, importance=1, confidence=1, pinned=True)
    least = await product(pool, importance=0, confidence=0, happened_at=ago(36500))

    assert 1.19 < most / least < BOUND


PERCENT = st.integers(0, 100).map(lambda percent: percent / 100)
WORTH = st.fixed_dictionaries(
    {
        "importance": PERCENT,
        "confidence": PERCENT,
        "pinned": st.booleans(),
        "kind": st.sampled_from(KINDS),
        "event_at": st.sampled_from([0, 1, 30, 400, 5000]).map(ago),
    }
)
WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=1, max_size=4).map(" ".join)


@settings(
    max_examples=25,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(written=st.lists(st.tuples(WORDS, WORTH), min_size=2, max_size=25), k=st.integers(1, 30))
async def test_what_is_more_than_the_bound_more_relevant_is_never_put_below(
    pool, store, ada, explain, written, k
):
    await pool.execute("truncate pgrecall.memories cascade")
    await store.remember_many(
        ada,
        [NewMemory(content=f"{words} {n}", **about) for n, (words, about) in enumerate(written)],
    )

    rows = await explain("alpha beta", k=30)
    for above, below in combinations(rows, 2):
        assert below["fused"] <= BOUND * above["fused"]
    for row in rows:
        weighed = row["fused"]
        for factor in FACTORS:
            weighed *= row[factor]
        assert row["score"] == pytest.approx(weighed, rel=1e-5)
    # Only the best are weighed at all; it must not show.
    assert [row["id"] for row in await explain("alpha beta", k=k)] == [r["id"] for r in rows[:k]]


async def test_what_was_written_in_one_bulk_is_of_one_age(store, ada, explain, pool):
    await store.remember_many(ada, [NewMemory(content=f"deploy {n}") for n in range(50)])

    rows = await explain("deploy", k=50)
    assert {row["recency_factor"] for row in rows} == {1}
    assert [row["fused"] for row in rows] == sorted((row["fused"] for row in rows), reverse=True)


@pytest.mark.parametrize(
    ("kind", "half_life"),
    [
        ("episodic", 30),
        ("resource", 180),
        ("semantic", 365),
        ("strategic", 365),
        ("procedural", 730),
    ],
)
async def test_recency_halves_by_kind(pool, kind, half_life):
    now = datetime.now(UTC)
    aged = await factors(pool, now, kind=kind, happened_at=now - timedelta(days=half_life))

    assert aged["recency"] == pytest.approx(0.985)


@pytest.mark.parametrize("at", ["infinity", "-infinity", "2020-01-01"])
@pytest.mark.parametrize("kind", KINDS)
async def test_ages_are_those_at_as_of_however_far_that_is(pool, at, kind):
    recency = await pool.fetchval(
        "select (pgrecall.ranking_factors(0.5, 0.8, false, $1, '{}', '2020-01-01',"
        " $2::text::timestamptz)).recency",
        kind,
        at,
    )
    assert recency == pytest.approx(
        0.97 if at == "infinity" and kind != "identity" else 1, abs=1e-4
    )


@pytest.mark.parametrize("half_life", [0, -1, 0.001, 36501, "30", True, [30], {}, 1e308])
async def test_a_half_life_that_is_no_number_of_days_is_refused(remember, half_life):
    with pytest.raises(InvalidInput, match="half_life_days must be a number from"):
        await remember("x", metadata={"half_life_days": half_life})


async def test_a_half_life_may_be_null_again(remember, pool):
    await remember("x", metadata={"half_life_days": None})


async def test_being_recalled_changes_no_rank(remember, recall, explain, pool):
    for n in range(5):
        await remember(f"deploy {n}")
    before = await explain("deploy")
    for _ in range(3):
        await recall("deploy", k=1)
    await pool.execute(
        "insert into pgrecall.usage select space, id, 1000, now() from pgrecall.memories"
    )

    assert await explain("deploy") == before


async def test_the_recency_leg_ranks_what_the_others_found(remember, explain):
    await remember("old deploy", event_at=ago(300))
    await remember("new deploy", event_at=ago(3))
    await remember("lunch")

    assert {row["recency_rank"] for row in await explain("deploy")} == {None}
    rows = await explain("deploy", weights=[0.01, 1, 10, 0])
    assert [row["recency_rank"] for row in rows] == [1, 2]


async def test_the_explanation_has_the_order_and_scores_of_the_answer(remember, recall, explain):
    for n in range(30):
        await remember(f"deploy {n % 7} at {n}", importance=n / 30, pinned=n % 3 == 0)

    options = {"weights": [1, 1, 0.5, 0.5], "k": 10, "skip": 5, "min_importance": 0.1}
    answer = await recall("deploy 3", mode="lexical", **options)
    assert [(r.rank, r.id, pytest.approx(r.score, rel=1e-4)) for r in answer.results] == [
        (row["rank"], row["id"], row["score"]) for row in await explain("deploy 3", **options)
    ]
