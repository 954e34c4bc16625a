"""Listening on a connection that dies."""

import asyncio

import asyncpg
import psycopg
import pytest

from embedding.listening import listening
from sql.errors import Unavailable
from tests.conftest import Database


async def listen_until_it_dies(database: Database, pool: asyncpg.Pool) -> None:
    async with listening(pool, "anything", print) as listener:
        pid = listener.get_server_pid()
        # Blocking, so that the loop can't see the connection end before the listener does.
        with psycopg.connect(database.superuser_dsn) as killer:
            killer.execute("select pg_terminate_backend(%s, 5000)", [pid])


async def test_a_connection_that_dies_unnoticed_goes_back_to_the_pool(
    database: Database, pool: asyncpg.Pool
) -> None:
    with pytest.raises(Unavailable):
        await listen_until_it_dies(database, pool)

    async with asyncio.timeout(30):
        await pool.close()
