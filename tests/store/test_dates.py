"""Which span of time a query names, and what is left of its text."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from embedding.backfill import Backfill
from tests.store.conftest import contents

# A Wednesday.
NOW = "2026-03-18 14:30"


@dataclass(frozen=True, slots=True)
class Case:
    """`since` and `until` on the clock of `zone`; None where the span is open."""

    query: str
    since: str | None
    until: str | None
    rest: str = ""
    now: str = NOW
    zone: str = "UTC"


ENGLISH = [
    Case("today", "2026-03-18", "2026-03-19"),
    Case("what did we ship yesterday?", "2026-03-17", "2026-03-18", "what did we ship?"),
    Case("Yesterday's standup", "2026-03-17", "2026-03-18", "standup"),
    Case("tomorrow", "2026-03-19", "2026-03-20"),
    Case("the day before yesterday", "2026-03-16", "2026-03-17"),
    Case("day after tomorrow", "2026-03-20", "2026-03-21"),
    Case("yesterday morning deploy", "2026-03-17", "2026-03-18", "deploy"),
    Case("outage this morning", "2026-03-18", "2026-03-19", "outage"),
    Case("deploy last night", "2026-03-17", "2026-03-19", "deploy"),
    Case("last week", "2026-03-09", "2026-03-16"),
    Case("incidents of this week", "2026-03-16", "2026-03-23", "incidents"),
    Case("next week", "2026-03-23", "2026-03-30"),
    Case("last month's incidents", "2026-02-01", "2026-03-01", "incidents"),
    Case("billing this month", "2026-03-01", "2026-04-01", "billing"),
    Case("next month", "2026-04-01", "2026-05-01"),
    Case("last quarter", "2025-10-01", "2026-01-01"),
    Case("this quarter", "2026-01-01", "2026-04-01"),
    Case("next quarter", "2026-04-01", "2026-07-01"),
    Case("last year", "2025-01-01", "2026-01-01"),
    Case("this year", "2026-01-01", "2027-01-01"),
    Case("next year", "2027-01-01", "2028-01-01"),
    Case("previous month", "2026-02-01", "2026-03-01"),
    Case("last 3 days", "2026-03-15", "2026-03-19"),
    Case("in the last three days", "2026-03-15", "2026-03-19"),
    Case("over the past 2 weeks", "2026-03-04", "2026-03-19"),
    Case("deploys in the last 6 months", "2025-09-18", "2026-03-19", "deploys"),
    Case("the past week", "2026-03-11", "2026-03-19"),
    Case("errors in the last week", "2026-03-11", "2026-03-19", "errors"),
    Case("for the last month", "2026-02-18", "2026-03-19"),
    Case("last 2 hours", "2026-03-18 12:30", "2026-03-19"),
    Case("next 3 days", "2026-03-18", "2026-03-22"),
    Case("3 days ago", "2026-03-15", "2026-03-16"),
    Case("what broke two weeks ago", "2026-03-02", "2026-03-09", "what broke"),
    Case("a week ago", "2026-03-09", "2026-03-16"),
    Case("2 months ago", "2026-01-01", "2026-02-01"),
    Case("a year ago", "2025-01-01", "2026-01-01"),
    Case("since Monday", "2026-03-16", None),
    Case("since Wednesday", "2026-03-18", None),
    Case("on Monday", "2026-03-16", "2026-03-17"),
    Case("what did Ann say on Friday?", "2026-03-13", "2026-03-14", "what did Ann say?"),
    Case("on wed", "2026-03-18", "2026-03-19"),
    Case("last Monday", "2026-03-16", "2026-03-17"),
    Case("last Wednesday", "2026-03-11", "2026-03-12"),
    Case("this Friday", "2026-03-20", "2026-03-21"),
    Case("next Wednesday", "2026-03-25", "2026-03-26"),
    Case("Friday next week", "2026-03-27", "2026-03-28"),
    Case("on Friday of last week", "2026-03-13", "2026-03-14"),
    Case("on the 9th of this month", "2026-03-09", "2026-03-10"),
    Case("the 28th of last month", "2026-02-28", "2026-03-01"),
    Case("before Monday", None, "2026-03-16"),
    Case("in March", "2026-03-01", "2026-04-01"),
    Case("in May", "2025-05-01", "2025-06-01"),
    Case("what changed in may", "2025-05-01", "2025-06-01", "what changed"),
    Case("in March 2025", "2025-03-01", "2025-04-01"),
    Case("March 2025 incidents", "2025-03-01", "2025-04-01", "incidents"),
    Case("May 2024", "2024-05-01", "2024-06-01"),
    Case("in early March 2025", "2025-03-01", "2025-04-01"),
    Case("outages in mid-February", "2026-02-01", "2026-03-01", "outages"),
    Case("last May", "2025-05-01", "2025-06-01"),
    Case("last March", "2025-03-01", "2025-04-01"),
    Case("next March", "2027-03-01", "2027-04-01"),
    Case("3 May", "2025-05-03", "2025-05-04"),
    Case("3 may", "2025-05-03", "2025-05-04"),
    Case("May 3rd", "2025-05-03", "2025-05-04"),
    Case("May 3rd, 2025: billing", "2025-05-03", "2025-05-04", "billing"),
    Case("the 3rd of May 2024", "2024-05-03", "2024-05-04"),
    Case("on 3 May 2025", "2025-05-03", "2025-05-04"),
    Case("deploy on Feb 12", "2026-02-12", "2026-02-13", "deploy"),
    Case("12 Sept 2024", "2024-09-12", "2024-09-13"),
    Case("2025-05-03 outage", "2025-05-03", "2025-05-04", "outage"),
    Case("since 2025-05-03", "2025-05-03", None),
    Case("in 2025-05", "2025-05-01", "2025-06-01"),
    Case("03.05.2025", "2025-05-03", "2025-05-04"),
    Case("between 3 and 10 May", "2025-05-03", "2025-05-11"),
    Case("from the 3rd to the 10th of May 2024", "2024-05-03", "2024-05-11"),
    Case("3-10 May 2025", "2025-05-03", "2025-05-11"),
    Case("May 3-10", "2025-05-03", "2025-05-11"),
    Case("between 3 May and 10 June", "2025-05-03", "2025-06-11"),
    Case("3 May to 10 June 2024", "2024-05-03", "2024-06-11"),
    Case("from 3 May 2024 to 10 June", "2024-05-03", "2024-06-11"),
    Case("from March to June 2024", "2024-03-01", "2024-07-01"),
    Case("between March and May", "2025-03-01", "2025-06-01"),
    Case("from November to February", "2025-11-01", "2026-03-01"),
    Case("from December to January 2025", "2024-12-01", "2025-02-01"),
    Case("costs between 2022 and 2024", "2022-01-01", "2025-01-01", "costs"),
    Case("between 2025-05-03 and 2025-05-10", "2025-05-03", "2025-05-11"),
    Case("from last Monday to yesterday", "2026-03-16", "2026-03-18"),
    Case("Q2 2024", "2024-04-01", "2024-07-01"),
    Case("Q2 of 2024 revenue", "2024-04-01", "2024-07-01", "revenue"),
    Case("2024-Q2", "2024-04-01", "2024-07-01"),
    Case("in Q2", "2025-04-01", "2025-07-01"),
    Case("in the second quarter of 2024", "2024-04-01", "2024-07-01"),
    Case("in 2023", "2023-01-01", "2024-01-01"),
    Case("in 2023 we moved", "2023-01-01", "2024-01-01", "we moved"),
    Case("in late 2023", "2023-01-01", "2024-01-01"),
    Case("since 2023", "2023-01-01", None),
    Case("before 3 May", None, "2025-05-03"),
    Case("after May 3rd", "2025-05-04", None),
    Case("until 3 May", None, "2025-05-04"),
    Case("after last week", "2026-03-16", None),
    Case("since yesterday", "2026-03-17", None),
    Case("the week of 3 May 2025", "2025-04-28", "2025-05-05"),
    Case("in the last week of August 2023", "2023-08-01", "2023-09-01", "in the last"),
    Case("what was Ann hired for on 3 May", "2025-05-03", "2025-05-04", "what was Ann hired for"),
    Case("report for last week", "2026-03-09", "2026-03-16", "report"),
    Case("logs for 3 May 2025", "2025-05-03", "2025-05-04", "logs"),
    Case("In March 2025, what did we decide?", "2025-03-01", "2025-04-01", "what did we decide?"),
    Case("deploys (last week)", "2026-03-09", "2026-03-16", "deploys ()"),
]

RUSSIAN = [
    Case("вчера", "2026-03-17", "2026-03-18"),
    Case("Вчера вечером упал биллинг", "2026-03-17", "2026-03-18", "упал биллинг"),
    Case("позавчера", "2026-03-16", "2026-03-17"),
    Case("что решили сегодня", "2026-03-18", "2026-03-19", "что решили"),
    Case("завтра", "2026-03-19", "2026-03-20"),
    Case("послезавтра", "2026-03-20", "2026-03-21"),
    Case("на прошлой неделе", "2026-03-09", "2026-03-16"),
    Case("выкладки на этой неделе", "2026-03-16", "2026-03-23", "выкладки"),
    Case("на следующей неделе", "2026-03-23", "2026-03-30"),
    Case("в прошлом месяце", "2026-02-01", "2026-03-01"),
    Case("в этом месяце", "2026-03-01", "2026-04-01"),
    Case("в прошлом году", "2025-01-01", "2026-01-01"),
    Case("в прошлом квартале", "2025-10-01", "2026-01-01"),
    Case("в марте", "2026-03-01", "2026-04-01"),
    Case("в мае", "2025-05-01", "2025-06-01"),
    Case("что сломалось в марте 2025?", "2025-03-01", "2025-04-01", "что сломалось?"),
    Case("в марте 2025 года", "2025-03-01", "2025-04-01"),
    Case("в начале марта 2025 г.", "2025-03-01", "2025-04-01"),
    Case("отчёт за апрель 2025", "2025-04-01", "2025-05-01", "отчёт"),
    Case("3 мая", "2025-05-03", "2025-05-04"),
    Case("3-го мая", "2025-05-03", "2025-05-04"),
    Case("3 мая 2025 года", "2025-05-03", "2025-05-04"),
    Case("выкладка 3 марта", "2026-03-03", "2026-03-04", "выкладка"),
    Case("между 3 и 10 мая", "2025-05-03", "2025-05-11"),
    Case("с 3 по 10 мая", "2025-05-03", "2025-05-11"),
    Case("со 2 по 5 июня 2024 года", "2024-06-02", "2024-06-06"),
    Case("3–10 мая", "2025-05-03", "2025-05-11"),
    Case("с 3 мая по 10 июня", "2025-05-03", "2025-06-11"),
    Case("с марта по июнь 2024", "2024-03-01", "2024-07-01"),
    Case("между мартом и маем", "2025-03-01", "2025-06-01"),
    Case("за последние 3 дня", "2026-03-15", "2026-03-19"),
    Case("ошибки за последнюю неделю", "2026-03-11", "2026-03-19", "ошибки"),
    Case("неделю назад", "2026-03-09", "2026-03-16"),
    Case("5 дней назад", "2026-03-13", "2026-03-14"),
    Case("год назад", "2025-01-01", "2026-01-01"),
    Case("два месяца назад", "2026-01-01", "2026-02-01"),
    Case("2 года назад", "2024-01-01", "2025-01-01"),
    Case("во втором квартале 2024", "2024-04-01", "2024-07-01"),
    Case("в 3 квартале 2025 года", "2025-07-01", "2025-10-01"),
    Case("в 2023 году", "2023-01-01", "2024-01-01"),
    Case("расходы за 2023 год", "2023-01-01", "2024-01-01", "расходы"),
    Case("до 3 мая", None, "2025-05-03"),
    Case("после 3 мая", "2025-05-04", None),
    Case("до марта", None, "2026-03-01"),
    Case("с понедельника", "2026-03-16", None),
    Case("в понедельник", "2026-03-16", "2026-03-17"),
    Case("во вторник", "2026-03-17", "2026-03-18"),
    Case("в пятницу на прошлой неделе", "2026-03-13", "2026-03-14"),
    Case("в прошлую пятницу", "2026-03-13", "2026-03-14"),
    Case("03.05.2025 авария", "2025-05-03", "2025-05-04", "авария"),
    Case("В МАРТЕ 2025", "2025-03-01", "2025-04-01"),
]

EDGES = [
    Case("in December", "2025-12-01", "2026-01-01", now="2026-01-05 09:00"),
    Case("31 December", "2025-12-31", "2026-01-01", now="2026-01-01 00:00"),
    Case("yesterday", "2025-12-31", "2026-01-01", now="2026-01-01 00:00"),
    Case("last week", "2025-12-22", "2025-12-29", now="2026-01-01 00:00"),
    Case("last month", "2025-12-01", "2026-01-01", now="2026-01-31 23:59"),
    Case("last month", "2026-02-01", "2026-03-01", now="2026-03-31 12:00"),
    Case("next month", "2026-02-01", "2026-03-01", now="2026-01-31 12:00"),
    Case("last quarter", "2025-10-01", "2026-01-01", now="2026-01-01 00:00"),
    Case("1 month ago", "2026-02-01", "2026-03-01", now="2026-03-31 12:00"),
    Case("29 February", "2024-02-29", "2024-03-01"),
    Case("29 February", "2028-02-29", "2028-03-01", now="2028-02-29 12:00"),
    Case("3 May", "2026-05-03", "2026-05-04", now="2026-05-03 00:00"),
    Case("on Sunday", "2026-03-22", "2026-03-23", now="2026-03-22 23:59"),
    Case("last Sunday", "2026-03-15", "2026-03-16", now="2026-03-22 23:59"),
    Case("this week", "2026-03-16", "2026-03-23", now="2026-03-22 23:59"),
    Case("between 28 December and 3 January", "2025-12-28", "2026-01-04"),
    Case("yesterday", "2026-03-18", "2026-03-19", now="2026-03-19 00:30", zone="Asia/Tokyo"),
    Case("today", "2026-03-18", "2026-03-19", zone="America/Los_Angeles"),
    Case("yesterday", "2026-03-29", "2026-03-30", now="2026-03-30 08:00", zone="Europe/Berlin"),
    Case("today", "2026-10-25", "2026-10-26", now="2026-10-25 08:00", zone="Europe/Berlin"),
    Case("in March", "2026-03-01", "2026-04-01", zone="Europe/Berlin"),
    Case("3 days ago", "2026-03-28", "2026-03-29", now="2026-03-31 00:30", zone="Europe/Berlin"),
    Case("last week", "2026-03-23", "2026-03-30", now="2026-03-30 12:00", zone="Europe/Berlin"),
    Case("в марте", "2026-03-01", "2026-04-01", zone="Europe/Moscow"),
    # Several spans: what they share, or else everything from the first to the last.
    Case("last week on 12 March", "2026-03-12", "2026-03-13"),
    Case("since 2 March before 9 March", "2026-03-02", "2026-03-09"),
    Case("compare March 2025 and May 2025", "2025-03-01", "2025-06-01", "compare and"),
]

NO_DATES = [
    "on 122 4th Street",
    *("what did he paint years ago", "a few years ago", "несколько лет назад", "as of March 2025"),
    *("two weeks before 11 August 2023", "the weekend before 4 October", "the week after 3 May"),
    *("the Saturday after October 28, 2023", "what is planned for next year"),
    *("", "   ", "?!", "port 5432", "in 404", "may", "May I deploy on prod?", "who may deploy"),
    *("agents may 3 times retry", "only 3 may write", "May 3 agents share a space?", "march on"),
    *("marching orders", "version 2024.1", "release 2024.1.3", "version 1.2.2025", "v2024"),
    *("second", "give me a second", "10-12 workers", "between 10 and 12 workers", "ERR-2023"),
    *("Q2 results of tests", "Q2", "sun", "mon", "monitor the sunset", "sat solver", "wednesdays"),
    *("192.168.20.24", "2023", "id 2023", "issue 2023", "#2023", "$2024", "2023%", "in 2023ms"),
    *("in 2048 bytes", "in 2000 rows", "since 2000 requests", "before 2048 tokens", "in 1066"),
    *("in 2150", "order 2025-13-45", "31.02.2025", "30 February", "2025-05-03T10:00:00Z"),
    *("550e8400-e29b-41d4-a716-446655442023", "a/2025-05-03.log", "backup_2024-05-03.sql"),
    *(
        "retention is 30 days",
        "every 3 days",
        "5 дней отпуска",
        "last 3 commits",
        "last year's_file",
    ),
    *("the last day of the sprint", "Марта уволилась", "письмо от Марты", "в Марте что-то есть"),
    *("Мая пишет тесты", "мая", "год", "час пик", "неделя", "weekly sync", "month", "today()"),
    *(
        '"last week" report',
        "отчёт «за март 2025»",
        "Tuesday Weld",
        "Friday",
        "april",
        "June Carter",
    ),
    *("letter from June", "message from April", "budget for 2024", "plan for Q2 2024"),
    *("plans for tomorrow", "планы на завтра", "бюджет на 2025 год", "due 3 May", "by Monday"),
    *("error 3 May", "step 2 may fail", "1.2.3", "10.0.0.1", "2024x2025", "A-2024-05-03-B"),
    *("/api/2024-05-03/may", "decade", "daylight saving", "year-end close", "ночной режим"),
    *("2013年", "昨天", "порт 2024", "sec 3", "dec 0x1f", "oct(8)", "mar", "jan", "May the force"),
    "may 2 pods run while 3 wait, and is it a problem? " * 12 + "last week",
]


async def read(
    pool: asyncpg.Pool, cases: list[Case]
) -> list[tuple[Case, datetime | None, datetime | None, str]]:
    """Ask for all cases of a time zone at once."""
    by_zone = defaultdict(list)
    for case in cases:
        by_zone[case.zone].append(case)
    read_cases = []
    async with pool.acquire() as connection:
        for zone, group in by_zone.items():
            await connection.execute("select set_config('TimeZone', $1, false)", zone)
            rows = await connection.fetch(
                "select d.* from unnest($1::text[], $2::text[]) with ordinality as c(query, now, n)"
                " cross join lateral pgrecall.dates_in(c.query, c.now::timestamptz) d order by c.n",
                [case.query for case in group],
                [case.now for case in group],
            )
            read_cases += [(case, *row) for case, row in zip(group, rows, strict=True)]
    return read_cases


def moment(said: str | None, zone: str) -> datetime | None:
    return said and datetime.fromisoformat(said).replace(tzinfo=ZoneInfo(zone))


async def test_a_query_names_its_span_and_keeps_its_other_words(pool):
    cases = [*ENGLISH, *RUSSIAN, *EDGES]
    assert len(cases) >= 120

    wrong = [
        (case, since and since.isoformat(), until and until.isoformat(), rest)
        for case, since, until, rest in await read(pool, cases)
        if (since, until, rest)
        != (moment(case.since, case.zone), moment(case.until, case.zone), case.rest)
    ]

    assert wrong == []


async def test_what_only_looks_like_a_date_is_left_alone(pool):
    wrong = [
        (case.query, since and since.isoformat(), until and until.isoformat(), rest)
        for case, since, until, rest in await read(pool, [Case(q, None, None) for q in NO_DATES])
        if (since, until, rest) != (None, None, case.query)
    ]

    assert wrong == []


@pytest.fixture
async def deploys(remember, pool, embedder) -> datetime:
    """Four memories by their event time, relative to today's noon, which is returned."""
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    await remember("Deploy of billing, today", event_at=noon)
    await remember("Deploy of search, yesterday", event_at=noon - timedelta(days=1))
    await remember("Lunch, yesterday", event_at=noon - timedelta(days=1, hours=1))
    await remember("Deploy of mail in May 2024", event_at=datetime(2024, 5, 3, 12, tzinfo=UTC))
    backfill = Backfill(pool, embedder)
    await backfill.use_model()
    await backfill.drain()
    return noon


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector"])
@pytest.mark.parametrize(
    ("query", "first", "others"),
    [
        ("deploy yesterday", "Deploy of search, yesterday", {"Lunch, yesterday"}),
        ("which deploy in May 2024", "Deploy of mail in May 2024", set()),
        ("deploy в мае 2024 года", "Deploy of mail in May 2024", set()),
        ("deploy before 2025-01-01", "Deploy of mail in May 2024", set()),
    ],
)
async def test_dates_in_the_text_narrow_every_leg(deploys, recall, mode, query, first, others):
    found = contents(await recall(query, mode=mode))

    assert found[0] == first
    assert set(found[1:]) <= others


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector"])
@pytest.mark.parametrize("query", ["yesterday", "What was it yesterday?", "вчера", "1 day ago"])
async def test_a_query_of_only_dates_lists_the_span_newest_first(deploys, recall, mode, query):
    answer = await recall(query, mode=mode)

    assert contents(answer) == ["Deploy of search, yesterday", "Lunch, yesterday"]
    assert answer.degraded is None
    paged = await recall(query, mode=mode, k=1, skip=1)
    assert contents(paged) == ["Lunch, yesterday"]


async def test_a_bare_date_without_memories_is_answered_with_nothing(deploys, recall):
    assert contents(await recall("3 days ago")) == []


async def test_a_date_without_memories_is_taken_as_words_and_said(deploys, recall):
    answer = await recall("deploy of mail in 2009", mode="lexical")

    assert contents(answer)[0] == "Deploy of mail in May 2024"
    assert answer.degraded == (
        "no memory is dated from 2009-01-01 00:00:00+00 before 2010-01-01 00:00:00+00,"
        " so all dates were searched"
    )


async def test_explicit_times_win_over_those_in_the_text(deploys, recall):
    found = contents(await recall("deploy yesterday", mode="lexical", since=deploys))

    assert found == ["Deploy of billing, today"]


async def test_dates_are_relative_to_as_of(deploys, recall, pool):
    await pool.execute("update pgrecall.memories set created_at = event_at")

    found = contents(await recall("deploy yesterday", as_of=datetime(2024, 5, 4, 9, tzinfo=UTC)))

    assert found == ["Deploy of mail in May 2024"]


async def test_exact_takes_dates_as_text(deploys, recall):
    assert contents(await recall("in May 2024", mode="exact")) == ["Deploy of mail in May 2024"]
    assert contents(await recall("yesterday", mode="exact")) == [
        "Deploy of search, yesterday",
        "Lunch, yesterday",
    ]


async def test_an_index_holds_a_span_in_the_order_in_which_it_is_listed(pool):
    async with pool.acquire() as connection, connection.transaction():
        # The store is too small for an index to be worth its while otherwise.
        await connection.execute("set local enable_seqscan = off")
        plan = await connection.fetch(
            "explain select m.id from pgrecall.memories m"
            " where m.happened_at >= now() - interval '1 day' and m.happened_at < now()"
            " order by m.happened_at desc, m.id, m.version limit 10"
        )

    lines = "".join(row[0] for row in plan)
    assert "memories_happened" in lines
    assert "Sort" not in lines
