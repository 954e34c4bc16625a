"""psycopg through the gateway, doing what it does against Postgres."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg import errors
from psycopg.rows import tuple_row

from tests.clients.conftest import Road

QUESTION = "billing deploy rolled back"
BY_PARAMETER = "select content, vector_rank, degraded from recall(%s)"


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
async def connection(road: Road, notices: list[str]):
    async with await road.connect() as made:
        made.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        yield made


async def test_a_literal_and_a_parameter_recall_by_both_legs(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...], notices: list[str]
) -> None:
    by_literal = await connection.execute(
        f"select content, vector_rank, degraded from recall('{QUESTION}')"
    )
    first = await by_literal.fetchall()
    by_parameter = await connection.execute(BY_PARAMETER, [QUESTION])
    assert await by_parameter.fetchall() == first
    assert first[0] == (remembered[0], 1, None)
    assert notices == []


async def test_a_prepared_statement_recalls_anew_with_every_execution(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    for question, answer in ((QUESTION, 0), ("short answers", 1), ("ERR-4012 token", 2)) * 3:
        rows = await connection.execute(BY_PARAMETER, [question], prepare=True)
        assert (await rows.fetchone())[:2] == (remembered[answer], 1)


async def test_a_pipeline_of_recalls_and_errors_answers_each_in_its_turn(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    answered = []

    async def recall_then_fail() -> None:
        async with connection.pipeline() as pipeline:
            answered.append(await connection.execute(BY_PARAMETER, [QUESTION]))
            await pipeline.sync()
            await connection.execute("select * from nowhere")

    with pytest.raises(errors.UndefinedTable):
        await recall_then_fail()
    async with connection.pipeline():
        after = [await connection.execute(BY_PARAMETER, [q]) for q in (QUESTION, "short answers")]
    assert (await answered[0].fetchone())[0] == remembered[0]
    assert [(await cursor.fetchone())[0] for cursor in after] == list(remembered[:2])


async def test_executemany_remembers_each_text(connection: psycopg.AsyncConnection) -> None:
    cursor = connection.cursor()
    texts = [(f"fact number {n}",) for n in range(20)]
    await cursor.executemany("select remember(%s)", texts)
    counted = await connection.execute("select count(*), count(distinct id) from memories")
    assert await counted.fetchone() == (20, 20)


async def test_a_server_side_cursor_recalls(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    async with connection.transaction(), connection.cursor("pages", row_factory=tuple_row) as pages:
        await pages.execute(BY_PARAMETER, [QUESTION])
        assert (await pages.fetchone())[:2] == (remembered[0], 1)
        assert len(await pages.fetchall()) == len(remembered) - 1


async def test_copy_goes_both_ways(connection: psycopg.AsyncConnection) -> None:
    await connection.execute("create temp table numbers (n int, said text)")
    rows = [(n, "тест\t\\" * (n % 50)) for n in range(5000)]
    async with connection.cursor() as cursor:
        async with cursor.copy("copy numbers from stdin") as copy:
            for row in rows:
                await copy.write_row(row)
        async with cursor.copy("copy (select * from numbers order by n) to stdout") as copy:
            copy.set_types(["int4", "text"])
            assert [row async for row in copy.rows()] == rows


async def test_recall_inside_copy_is_hybrid(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...], notices: list[str]
) -> None:
    statement = f"copy (select content, vector_rank from recall('{QUESTION}')) to stdout"
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        lines = [bytes(line) async for line in copy]
    assert lines[0] == f"{remembered[0]}\t1\n".encode()
    assert notices == []


async def test_a_copy_that_fails_leaves_the_session_usable(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    await connection.execute("create temp table numbers (n int)")
    with pytest.raises(errors.InvalidTextRepresentation):
        async with connection.cursor() as cursor, cursor.copy("copy numbers from stdin") as copy:
            await copy.write("1\nnot a number\n")
    rows = await connection.execute(BY_PARAMETER, [QUESTION])
    assert (await rows.fetchone())[0] == remembered[0]


async def test_a_notification_arrives_while_the_session_is_idle(
    connection: psycopg.AsyncConnection, road: Road
) -> None:
    await connection.execute("listen news")
    async with await road.connect() as other:
        await other.execute("select pg_notify('news', 'hello')")
    async for notification in connection.notifies(timeout=5, stop_after=1):
        assert notification.payload == "hello"
        break
    else:
        pytest.fail("no notification came")


async def test_cancel_ends_a_running_query(connection: psycopg.AsyncConnection) -> None:
    running = asyncio.create_task(connection.execute("select pg_sleep(60)"))
    pid = connection.info.backend_pid
    async with await psycopg.AsyncConnection.connect(
        connection.info.dsn, password=connection.info.password
    ) as other:
        while True:
            active = await other.execute(
                "select 1 from pg_stat_activity where pid = %s and wait_event = 'PgSleep'", [pid]
            )
            if await active.fetchone():
                break
            await other.commit()
    await connection.cancel_safe()
    with pytest.raises(errors.QueryCanceled):
        await running


async def test_the_backend_pid_is_postgres_own(connection: psycopg.AsyncConnection) -> None:
    told = await connection.execute("select pg_backend_pid()")
    assert await told.fetchone() == (connection.info.backend_pid,)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("select nowhere from recall('a long enough question')", "nowhere"),
        ("select 1 from recall('a question') as r where r.nothing = 1", "r.nothing"),
        ("select 'тест', 1 from recall('вопрос') as r where r.ничего = 1", "r.ничего"),
        ("select 1 from recall('a') union all select 2 from recall('b') as r where r.x = 1", "r.x"),
        ("select 1 from recall('a question') as r wher", "wher"),
    ],
)
async def test_an_error_position_points_at_the_clients_own_text(
    connection: psycopg.AsyncConnection, statement: str, word: str
) -> None:
    with pytest.raises(psycopg.Error) as simple:
        await connection.execute(statement)
    position = int(simple.value.diag.statement_position or 0)
    assert statement[position - 1 :].startswith(word)


async def test_an_error_position_behind_a_hidden_parameter_is_the_clients_own(
    connection: psycopg.AsyncConnection,
) -> None:
    statement = "select 1 from recall($1) as r where r.nothing = $2"
    cursor = psycopg.AsyncRawCursor(connection)
    with pytest.raises(errors.UndefinedColumn) as raised:
        await cursor.execute(statement, ["question", 1])
    position = int(raised.value.diag.statement_position or 0)
    assert statement[position - 1 :].startswith("r.nothing")


async def test_a_statement_timeout_and_a_failed_transaction_are_postgres_own(
    connection: psycopg.AsyncConnection,
) -> None:
    await connection.execute("begin")
    with pytest.raises(errors.UndefinedTable):
        await connection.execute("select * from nowhere")
    with pytest.raises(errors.InFailedSqlTransaction):
        await connection.execute(BY_PARAMETER, ["anything"])
    await connection.execute("rollback")
    assert await (await connection.execute("select 1")).fetchone() == (1,)


async def test_a_null_text_recalls_nothing_worse_than_postgres_does(
    connection: psycopg.AsyncConnection, road: Road, direct: Road
) -> None:
    async def outcome(road: Road) -> object:
        async with await road.connect() as made:
            try:
                return await (
                    await made.execute("select * from recall(%s::text)", [None])
                ).fetchall()
            except psycopg.Error as error:
                return error.sqlstate

    assert await outcome(road) == await outcome(direct)


async def test_a_users_own_embedding_parameter_is_described_as_it_is(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    await connection.execute(BY_PARAMETER, [QUESTION], prepare=True)
    pgconn = connection.pgconn
    pgconn.send_prepare(b"own", b"select 1 from recall($1, query_embedding => $2)")
    while True:
        await asyncio.sleep(0)
        pgconn.consume_input()
        if not pgconn.is_busy():
            break
    while pgconn.get_result():
        pass
    pgconn.send_describe_prepared(b"own")
    while pgconn.is_busy():
        await asyncio.sleep(0)
        pgconn.consume_input()
    described = pgconn.get_result()
    assert described is not None
    assert described.nparams == 2
    while pgconn.get_result():
        pass


async def test_wrong_passwords_and_unknown_roles_read_alike(road: Road) -> None:
    said = []
    for change in ({"password": "wrong"}, {"user": "nobody"}, {"user": "postgres"}):
        with pytest.raises(psycopg.OperationalError) as refused:
            await road.connect(**change)
        said.append(str(refused.value).replace(change.get("user", road.user), "ROLE"))
    assert len(set(said)) == 1
    assert 'password authentication failed for user "ROLE"' in said[0]


async def test_startup_options_reach_postgres(road: Road) -> None:
    options = "-c search_path=memory,pg_catalog -c extra_float_digits=2"
    async with await road.connect(options=options, application_name="тест") as connection:
        shown = await connection.execute(
            "select current_setting('search_path'), current_setting('extra_float_digits')"
        )
        assert await shown.fetchone() == ("memory,pg_catalog", "2")


async def test_a_missing_database_is_refused_in_postgres_words(road: Road, direct: Road) -> None:
    said = []
    for one in (road, direct):
        with pytest.raises(psycopg.OperationalError, match="does not exist") as refused:
            await one.connect(dbname="nowhere")
        said.append(str(refused.value).rpartition("FATAL:")[2])
    assert said[0] == said[1]


async def test_a_client_that_names_no_database_gets_the_gateways(
    road: Road, remembered: tuple[str, ...]
) -> None:
    async with await road.connect(dbname=road.user) as connection:
        rows = await connection.execute(BY_PARAMETER, [QUESTION])
        assert (await rows.fetchone())[0] == remembered[0]


async def test_latin1_text_is_embedded_as_what_it_says(
    road: Road, remembered: tuple[str, ...]
) -> None:
    async with await road.connect(client_encoding="latin1") as connection:
        rows = await connection.execute(
            "select content, vector_rank from recall('déjà billing deploy')"
        )
        assert (await rows.fetchone()) == (remembered[0], 1)


async def test_an_encoding_that_hides_quotes_is_served_by_the_lexical_leg(
    road: Road, remembered: tuple[str, ...]
) -> None:
    async with await road.connect(client_encoding="sjis") as connection:
        rows = await connection.execute(
            f"select content, degraded is null from recall('{QUESTION}')"
        )
        assert (await rows.fetchone()) == (remembered[0], False)


async def test_a_result_of_many_megabytes_arrives_whole(
    connection: psycopg.AsyncConnection,
) -> None:
    rows = await connection.execute("select repeat('x', 1000) from generate_series(1, 50000)")
    assert sum(len(row[0]) for row in await rows.fetchall()) == 50_000_000


async def test_a_change_of_encoding_is_followed(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    for encoding in ("koi8r", "win1251", "utf8"):
        await connection.execute(f"set client_encoding = '{encoding}'")
        rows = await connection.execute(
            "select content, vector_rank from recall(%s)", [f"как {QUESTION}"]
        )
        assert await rows.fetchone() == (remembered[0], 1)


async def test_a_prepared_recall_survives_a_change_to_an_encoding_without_splices(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    for encoding in ("utf8", "sjis", "utf8"):
        await connection.execute(f"set client_encoding = '{encoding}'")
        rows = await connection.execute(BY_PARAMETER, [QUESTION], prepare=True)
        assert (await rows.fetchone())[0] == remembered[0]


async def test_deallocating_and_preparing_anew_goes_together(
    connection: psycopg.AsyncConnection, remembered: tuple[str, ...]
) -> None:
    connection.prepare_threshold = 0
    connection.prepared_max = 2
    for n in range(8):
        rows = await connection.execute(f"select content, {n} from recall(%s)", [QUESTION])
        assert await rows.fetchone() == (remembered[0], n)
    await connection.execute("discard all")
    await connection.execute("deallocate all")
    rows = await connection.execute("select content from recall(%s, k => %s)", [QUESTION, 1])
    assert await rows.fetchall() == [(remembered[0],)]
