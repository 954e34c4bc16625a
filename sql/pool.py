"""The connection pool that every front shares, with the codecs that our tables need."""

from __future__ import annotations

import json
from typing import TypeAlias

import asyncpg

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Connection: TypeAlias = (
    "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
)


async def create_pool(dsn: str, *, min_size: int = 1, max_size: int = 10) -> Pool:
    """Open a pool as the app role.

    A connection that has been idle for a minute is closed; `jsonb` travels as Python objects.
    """
    return await asyncpg.create_pool(
        dsn,
        min_size=min_size,
        max_size=max_size,
        max_inactive_connection_lifetime=60,
        command_timeout=60,
        init=_prepare,
        server_settings={"application_name": "pgrecall"},
    )


async def _prepare(connection: Connection) -> None:
    for name in ("json", "jsonb"):
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=json.dumps, decoder=json.loads
        )
