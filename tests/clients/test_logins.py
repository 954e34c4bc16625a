"""Who gets in: what Postgres says of a role holds at the gateway too, and nothing else is told."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from functools import partial

import asyncpg
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from embedding.queries import QueryEmbeddings
from gateway import GatewayConfig, serve
from gateway.protocol import backend, frontend
from gateway.protocol.scram import MECHANISM
from gateway.protocol.startup import StartupMessage
from sql.agents import rotate
from sql.logins import LoginSecret, login_secret
from tests.clients.conftest import Road, upstream_of
from tests.clients.wire import Dial
from tests.conftest import Database, as_superuser


async def said_by(road: Road, **change: str) -> str:
    """What a refused client is told, without where."""
    with pytest.raises(psycopg.OperationalError) as refused:
        await road.connect(**change)
    return str(refused.value).rpartition("FATAL:")[2].strip()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("valid until 'yesterday'", "password authentication failed"),
        ("nologin", "is not permitted to log in"),
        ("connection limit 0", "too many connections for role"),
        ("password null", "password authentication failed"),
    ],
)
async def test_what_postgres_refuses_a_role_the_gateway_refuses_in_the_same_words(
    road: Road, direct: Road, database: Database, change: str, words: str
) -> None:
    await as_superuser(database.server, f"alter role {road.user} {change}")
    told = await said_by(road)
    assert words in told
    assert told == await said_by(direct)


async def test_a_login_that_has_expired_in_the_gateways_own_record_is_refused(
    road: Road, pool: asyncpg.Pool
) -> None:
    await pool.execute(
        "update pgrecall.sql_logins set valid_until = now() where agent = $1", road.user
    )
    assert "password authentication failed" in await said_by(road)


async def test_a_new_password_holds_from_the_next_login_on(road: Road, pool: asyncpg.Pool) -> None:
    async with await road.connect() as before:
        made = await rotate(pool, road.user)
        assert made.password is not None
        assert "password authentication failed" in await said_by(road)
        async with await replace(road, password=made.password).connect() as after:
            for connection in (before, after):
                assert await (await connection.execute("select 1")).fetchone() == (1,)


async def test_an_option_that_postgres_does_not_know_is_refused_in_its_words(
    road: Road, direct: Road
) -> None:
    for options in ("-c nosuch=1", "-c geqo=perhaps", "--nosuch"):
        assert await said_by(road, options=options) == await said_by(direct, options=options)


async def test_no_setting_of_the_clients_reaches_what_the_gateway_asks(
    road: Road, database: Database, remembered: tuple[str, ...]
) -> None:
    admin = await asyncpg.connect(database.superuser_dsn)
    await admin.execute(
        f"create schema evil authorization {road.user};"
        " create function evil.to_regtype(text) returns regtype language sql"
        " as $$ select 'int4'::regtype $$;"
        f" alter function evil.to_regtype owner to {road.user}"
    )
    await admin.close()
    async with await road.connect(options="-c search_path=evil,memory") as connection:
        rows = await connection.execute("select vector_rank from recall(%s)", [remembered[0]])
        assert await rows.fetchone() == (1,)
    admin = await asyncpg.connect(database.superuser_dsn)
    await admin.execute("drop schema evil cascade")
    await admin.close()


@pytest.mark.parametrize("password", ["I\u00adX", "пароль", "\u2168", "a\u00a0b", "\x07bell"])
async def test_a_password_of_any_characters_is_prepared_as_postgres_prepares_it(
    road: Road, database: Database, password: str
) -> None:
    admin = await asyncpg.connect(database.superuser_dsn)
    await admin.execute(f"alter role {road.user} password '{password}'")
    secret = await admin.fetchval("select rolpassword from pg_authid where rolname = $1", road.user)
    await admin.close()

    async def from_postgres(role: str) -> LoginSecret | None:
        return LoginSecret(secret, None)

    config = GatewayConfig(upstream=upstream_of(database), port=0)
    gateway = await serve(config, from_postgres, QueryEmbeddings(None))
    through = replace(road, port=gateway.port, password=password)
    async with await through.connect() as connection:
        assert await (await connection.execute("select 1")).fetchone() == (1,)
    await gateway.close()


async def first_message(road: Road, dial: Dial, user: str) -> str:
    """What a role's exchange begins with, but for the nonce, which is new each time."""
    wire = await dial(road)
    wire.send(StartupMessage(0, {b"user": user.encode()}))
    await wire.message()
    wire.send(frontend.SASLInitialResponse(MECHANISM, b"n,,n=,r=abc"))
    step = backend.Authentication.decode((await wire.message())[1])
    return re.sub("r=[^,]+", "", step.payload.decode())


async def test_nothing_tells_a_role_that_is_from_one_that_is_not(
    road: Road, pool: asyncpg.Pool, dial: Dial, database: Database
) -> None:
    """The salt stays a role's own, over restarts too, and looks like any other; so the count."""
    config = GatewayConfig(upstream=upstream_of(database), port=0, mock_secret=b"kept")
    told: dict[str, set[str]] = {}
    for _ in range(2):
        gateway = await serve(config, partial(login_secret, pool), QueryEmbeddings(None))
        for user in (road.user, "nobody", "no body's", "postgres"):
            for _ in range(2):
                message = await first_message(replace(road, port=gateway.port), dial, user)
                told.setdefault(user, set()).add(message)
        await gateway.close()
    assert [len(messages) for messages in told.values()] == [1] * 4
    alike = {re.sub("s=([^,]+)", lambda salt: f"s={len(salt[1])}", *one) for one in told.values()}
    assert len(alike) == 1
    assert len({message for one in told.values() for message in one}) == 4


async def test_a_storm_of_logins_lets_everyone_in_and_an_open_session_answers_meanwhile(
    road: Road,
) -> None:
    async with await road.connect() as before:
        storm = [asyncio.create_task(road.connect()) for _ in range(40)]
        answered = 0
        while not all(one.done() for one in storm):
            await before.execute("select 1")
            answered += 1
        assert answered > 3
        for one in storm:
            await (await one).close()


async def test_the_role_that_reads_the_secrets_is_no_login_of_the_gateway(
    road: Road, database: Database
) -> None:
    """Its own secret is not looked up by itself, which locked pgbouncer's auth_user out."""
    own = conninfo_to_dict(database.dsn)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await road.connect(user=own["user"], password=own["password"])
    async with await road.connect() as connection:
        assert (await (await connection.execute("select 1")).fetchone()) == (1,)
