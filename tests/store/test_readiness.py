"""Whether the database can serve is answered at once, even by a database that answers nothing."""

import asyncio

import asyncpg

from sql.readiness import readiness


async def test_a_database_that_hangs_is_told_from_one_that_serves(pool):
    assert (await readiness(pool)).database is True

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    hanging = await asyncpg.create_pool(
        f"postgresql://nobody:x@127.0.0.1:{port}/x?sslmode=disable", min_size=0, max_size=1
    )
    try:
        async with asyncio.timeout(10):
            now = await readiness(hanging)
        assert (now.database, now.migrated, now.embedding_backlog) == (False, False, None)
    finally:
        hanging.terminate()
        server.close()
