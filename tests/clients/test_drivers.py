"""Drivers by three roads: what they get from the gateway is what they get straight.

Each scenario returns everything that a program could see: rows, types, tags, notices, errors.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable
from io import StringIO
from typing import Any

import asyncpg
import psycopg
import pytest

from tests.clients.conftest import QUESTION, Road, Roads

Scenario = Callable[[Road], Awaitable[object]]
COLUMNS = "rank, content, lexical_rank, vector_rank, degraded"


async def same_by_every_road(scenario: Scenario, roads: Roads) -> object:
    straight = await scenario(roads.straight)
    assert await scenario(roads.gateway) == straight
    assert await scenario(roads.split) == straight
    return straight


# --- asyncpg


async def asyncpg_connect(road: Road, **more: Any) -> asyncpg.Connection:
    return await asyncpg.connect(
        host=road.host,
        port=road.port,
        user=road.user,
        password=road.password,
        database=road.database,
        ssl=False,
        **more,
    )


def of_error(error: asyncpg.PostgresError | psycopg.Error) -> dict[str, object]:
    """Every field that tells the same wherever the statement ran."""
    fields = error.as_dict() if isinstance(error, asyncpg.PostgresError) else vars(error.diag)
    return {name: value for name, value in fields.items() if value is not None}


async def asyncpg_types(road: Road) -> object:
    connection = await asyncpg_connect(road)
    statement = await connection.prepare(
        f"select {COLUMNS}, $2::int[] as numbers, $3::timestamptz as at"
        f" from recall($1{road.ready}, k => $4)"
    )
    described = [
        [(one.oid, one.name, one.schema) for one in statement.get_parameters()],
        [(one.name, one.type.oid) for one in statement.get_attributes()],
    ]
    now = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    rows = [tuple(row) for row in await statement.fetch(QUESTION, [1, 2, None], now, 2)]
    status = statement.get_statusmsg()
    await connection.close()
    return described, rows, status


async def asyncpg_without_cache(road: Road) -> object:
    connection = await asyncpg_connect(road, statement_cache_size=0)
    sql = f"select content, vector_rank from recall($1{road.ready})"
    found = [tuple(row) for _ in range(3) for row in await connection.fetch(sql, QUESTION)]
    await connection.close()
    return found


async def asyncpg_cursor_and_batches(road: Road) -> object:
    connection = await asyncpg_connect(road)
    await connection.execute("create temp table kept (id int primary key, said text)")
    await connection.executemany(
        "insert into kept values ($1, $2)", [(n, "x" * n) for n in range(50)]
    )
    seen: list[str] = []
    async with connection.transaction():
        sql = f"select content from recall($1{road.ready})"
        seen += [row["content"] async for row in connection.cursor(sql, QUESTION, prefetch=1)]
    copied = await connection.copy_records_to_table(
        "kept", records=[(n, None) for n in range(50, 60)]
    )
    out: list[bytes] = []

    async def take(chunk: bytes) -> None:
        out.append(chunk)

    status = await connection.copy_from_query("select * from kept order by id", output=take)
    await connection.close()
    return seen, copied, status, b"".join(out)


async def asyncpg_errors(road: Road) -> object:
    connection = await asyncpg_connect(road)
    told = []
    notices: list[object] = []
    connection.add_log_listener(lambda _, notice: notices.append(of_error(notice)))
    for sql, arguments in (
        ("select * from nowhere", ()),
        ("select 1/$1::int", (0,)),
        (f"select nothing from recall('{QUESTION}') as r", ()),
        ("do $$ begin raise notice 'recall(''x'')' using hint = 'h', detail = 'd'; end $$", ()),
        ("do $$ begin raise exception 'no' using errcode = 'P0042'; end $$", ()),
        ("selec recall('x')", ()),
    ):
        try:
            await connection.fetch(sql, *arguments)
        except asyncpg.PostgresError as error:
            told.append(of_error(error))
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute("select * from nowhere")
    except asyncpg.UndefinedTableError:
        await transaction.rollback()
    told.append({"after": await connection.fetchval("select 1")})
    await connection.close()
    return told, notices


async def asyncpg_notifications(road: Road) -> object:
    connection = await asyncpg_connect(road)
    arrived: asyncio.Queue[tuple[str, object]] = asyncio.Queue()
    channel = f"news_{road.port}"
    await connection.add_listener(channel, lambda _c, _p, _ch, load: arrived.put_nowait(load))
    other = await asyncpg_connect(road)
    await other.execute(f"select pg_notify('{channel}', 'hello')")
    async with asyncio.timeout(10):
        load = await arrived.get()
    with pytest.raises(TimeoutError):
        await other.fetch("select pg_sleep(60)", timeout=0.2)
    alive = await other.fetchval("select 1")
    await connection.close()
    await other.close()
    return load, alive


# --- psycopg


async def psycopg_binary_and_text(road: Road) -> object:
    told = []
    async with await road.connect() as connection:
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            await cursor.execute(
                f"select {COLUMNS}, %s::numeric, %s::jsonb from recall(%s{road.ready}, k => 2)",
                ["1.50", '{"a": [1]}', QUESTION],
            )
            assert cursor.description is not None
            told.append([(one.name, one.type_code) for one in cursor.description])
            told.append(await cursor.fetchall())
            told.append(cursor.statusmessage)
    return told


async def psycopg_client_cursor(road: Road) -> object:
    async with await psycopg.AsyncConnection.connect(
        road.conninfo(), autocommit=True, cursor_factory=psycopg.AsyncClientCursor
    ) as connection:
        cursor = await connection.execute(
            f"select {COLUMNS} from recall(%s{road.ready}); select 2", [QUESTION]
        )
        told = [await cursor.fetchall()]
        assert cursor.nextset()
        return [*told, await cursor.fetchall()]


async def psycopg_pipeline(road: Road) -> object:
    async with await road.connect() as connection:
        async with connection.pipeline():
            cursors = [
                await connection.execute(
                    f"select %s, content from recall(%s{road.ready})", [n, QUESTION]
                )
                for n in range(5)
            ]
        return [await cursor.fetchall() for cursor in cursors]


async def psycopg_settings(road: Road) -> object:
    async with await road.connect(application_name="x", options="-c geqo=off") as connection:
        await connection.execute("set datestyle = 'German'; set timezone = 'Asia/Tokyo'")
        names = ("DateStyle", "TimeZone", "application_name", "server_version", "client_encoding")
        status = [connection.pgconn.parameter_status(name.encode()) for name in names]
        shown = await connection.execute("select current_setting('geqo'), now()::date < 'infinity'")
        return status, await shown.fetchall()


async def psycopg_backslashes(road: Road) -> object:
    options = "-c standard_conforming_strings=off -c escape_string_warning=off"
    escaped = QUESTION.replace(" ", r"\040")
    told: list[object] = []
    async with await psycopg.AsyncConnection.connect(
        road.conninfo(options=options), autocommit=True, cursor_factory=psycopg.AsyncClientCursor
    ) as connection:
        for sql in (
            rf"select {COLUMNS} from recall('{escaped}'{road.ready})",
            rf"select 'it''s \'recall(\'', {COLUMNS} from recall('{escaped}'{road.ready}, k => 1)",
            f"select {COLUMNS} from recall(%s{road.ready})",
        ):
            arguments = [QUESTION] if "%s" in sql else None
            told.append(await (await connection.execute(sql, arguments)).fetchall())
        await connection.execute("set standard_conforming_strings = on")
        rows = await connection.execute(
            rf"select '\', content from recall('{QUESTION}'{road.ready})"
        )
        told.append(await rows.fetchall())
    return told


SCENARIOS: list[Scenario] = [
    psycopg_backslashes,
    asyncpg_types,
    asyncpg_without_cache,
    asyncpg_cursor_and_batches,
    asyncpg_errors,
    asyncpg_notifications,
    psycopg_binary_and_text,
    psycopg_client_cursor,
    psycopg_pipeline,
    psycopg_settings,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_a_driver_sees_the_same_by_every_road(scenario: Scenario, roads: Roads) -> None:
    assert await same_by_every_road(scenario, roads)


# --- drivers that block: each runs in a thread beside the gateway


def pg8000_native(road: Road) -> object:
    native = pytest.importorskip("pg8000.native", reason="pg8000 is not installed")
    told: list[object] = []
    where = (
        {"unix_sock": f"{road.host}/.s.PGSQL.{road.port}"}
        if "/" in road.host
        else {
            "host": road.host,
            "port": road.port,
        }
    )
    with native.Connection(
        road.user, password=road.password, database=road.database, **where
    ) as one:
        told.append(one.run(f"select {COLUMNS} from recall(:q{road.ready})", q=QUESTION))
        told.append(one.columns)
        prepared = one.prepare(f"select content from recall(:q{road.ready}, k => 1)")
        told += [prepared.run(q=QUESTION) for _ in range(3)]
        prepared.close()
        one.run("create temp table kept (id int, said text)")
        one.run("copy kept from stdin", stream=StringIO("1\tone\n2\ttwo\n"))
        out = StringIO()
        one.run("copy kept to stdout", stream=out)
        told.append(out.getvalue())
        try:
            one.run("select nothing")
        except native.DatabaseError as error:
            told.append(error.args)
    return told


def sqlalchemy_and_pandas(road: Road) -> object:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    url = sqlalchemy.URL.create("postgresql+psycopg", road.user, road.password)
    query = {"host": road.host, "port": str(road.port), "dbname": road.database}
    engine = sqlalchemy.create_engine(url.update_query_dict(query))
    told: list[object] = []
    with engine.connect() as connection:
        inspector = sqlalchemy.inspect(connection)
        told.append(sorted(inspector.get_view_names("memory")))
        told.append([str(column) for column in inspector.get_columns("memories", "memory")])
        told.append(connection.dialect.server_version_info)
        text = sqlalchemy.text(f"select {COLUMNS} from recall(:q{road.ready})")
        told.append(connection.execute(text, {"q": QUESTION}).fetchall())
        frame = pandas.read_sql(text, connection, params={"q": QUESTION})
        told.append(frame.to_csv())
        told.append([str(kind) for kind in frame.dtypes])
        literal = pandas.read_sql(
            sqlalchemy.text(
                f"select degraded, count(*) from recall('{QUESTION}'{road.ready}) group by 1"
            ),
            connection,
        )
        told.append(literal.to_csv())
    engine.dispose()
    return told


def pgcli_completion(road: Road) -> object:
    pgexecute = pytest.importorskip("pgcli.pgexecute", reason="pgcli is not installed")
    one = pgexecute.PGExecute(road.database, road.user, road.password, road.host, road.port)
    told = [
        sorted(one.schemata()),
        sorted(one.views()),
        sorted(map(str, one.functions())),
        sorted(map(str, one.view_columns())),
        sorted(one.databases()),
        one.search_path(),
    ]
    for title, rows, headers, status, *_ in one.run(
        f"select content from recall('{QUESTION}'{road.ready}, k => 1)"
    ):
        told.append((title, list(rows or []), headers, status))
    one.conn.close()
    return told


def odbc(road: Road) -> object:
    pyodbc = pytest.importorskip("pyodbc", reason="no pyodbc or unixODBC", exc_type=ImportError)
    if "PostgreSQL Unicode" not in pyodbc.drivers():
        pytest.skip("psqlodbc is not installed")
    told: list[object] = []
    for fetch in (0, 1):
        connection = pyodbc.connect(
            f"Driver=PostgreSQL Unicode;Server={road.host};Port={road.port};Uid={road.user};"
            f"Pwd={road.password};Database={road.database};SSLmode=disable;"
            f"UseDeclareFetch={fetch};Fetch=2;UseServerSidePrepare=1"
        )
        cursor = connection.cursor()
        cursor.execute(f"select rank, content, vector_rank from recall('{QUESTION}'{road.ready})")
        told.append([tuple(row) for row in cursor.fetchall()])
        cursor.execute(f"select content from recall(?{road.ready})", QUESTION)
        told.append([tuple(row) for row in cursor.fetchall()])
        told.append(sorted(tuple(row) for row in cursor.tables(schema="memory")))
        told.append(sorted(map(str, cursor.columns(table="memories", schema="memory"))))
        connection.close()
    return told


BLOCKING = [pg8000_native, sqlalchemy_and_pandas, pgcli_completion, odbc]


@pytest.mark.parametrize("scenario", BLOCKING, ids=lambda scenario: scenario.__name__)
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
async def test_a_blocking_driver_sees_the_same_by_every_road(
    scenario: Callable[[Road], object], roads: Roads
) -> None:
    async def in_a_thread(road: Road) -> object:
        return await asyncio.to_thread(scenario, road)

    assert await same_by_every_road(in_a_thread, roads)
