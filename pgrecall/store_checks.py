"""What `pgrecall doctor` asks a migrated store: are its indexes there, used, clean and true."""

from __future__ import annotations

import ssl
from typing import Any

import asyncpg

from pgrecall.checks import Check

_NEIGHBOURS = 10
_SAMPLE = 20
_ENOUGH_VECTORS = 1_000
_WELL = 0.95
_DEAD_ROWS = 1_000
_DEAD_SHARE = 0.2
# From here on a lexical leg that leaves its index can't be luck.
_MANY_ROWS = 10_000

_INDEXES = """
SELECT c.relname AS name, x.indisvalid AS valid, coalesce(s.idx_scan, 0) AS scans,
       pg_relation_size(c.oid) / 1048576 AS mebibytes
  FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
  LEFT JOIN pg_stat_user_indexes s ON s.indexrelid = c.oid
 WHERE x.indrelid IN ('pgrecall.memories'::regclass, 'pgrecall.embeddings'::regclass)
 ORDER BY c.relname
"""
_TABLES = """
SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead, seq_scan AS scans
  FROM pg_stat_user_tables
 WHERE schemaname = 'pgrecall' AND relname IN ('memories', 'embeddings') ORDER BY relname
"""
_MODEL = "SELECT model, dimension FROM pgrecall.embedding_models WHERE current"
_ENOUGH = """
SELECT count(*) FROM (SELECT FROM pgrecall.embeddings WHERE head AND model = $1 LIMIT $2) AS seen
"""
# Written by the server, because only a literal model meets the partial index.
_NEAREST = """
SELECT format(
    'SELECT array(
         SELECT (e.embedding::public.halfvec(%1$s) <=> $1::text::public.halfvec(%1$s))::float8
           FROM pgrecall.embeddings e WHERE e.head AND e.model = %2$L
          ORDER BY e.embedding::public.halfvec(%1$s) <=> $1::text::public.halfvec(%1$s)
          LIMIT %3$s)', $1::int, $2::text, $3::int)
"""
_DRAWN = """
SELECT embedding::text FROM pgrecall.embeddings
 WHERE head AND model = $1 ORDER BY md5(id::text) LIMIT $2
"""
_BY_INDEX = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_indexscan = on"
)
_BY_MEASURING = (
    "SET LOCAL enable_indexscan = off; SET LOCAL enable_sort = on; SET LOCAL enable_seqscan = on"
)


async def check_store(dsn: str) -> list[Check]:
    """Return what the store's indexes say; nothing where there is no store yet."""
    try:
        # No statement is kept: each is planned by the settings of its moment.
        connection = await asyncpg.connect(dsn, timeout=10, statement_cache_size=0)
    except (OSError, TimeoutError, ssl.SSLError, ValueError):
        return []
    except (asyncpg.PostgresError, asyncpg.InterfaceError):
        return []  # check_database() has said why
    try:
        if await connection.fetchval("SELECT to_regclass('pgrecall.embedding_models')") is None:
            return []
        indexes = await connection.fetch(_INDEXES)
        tables = await connection.fetch(_TABLES)
        model = await connection.fetchrow(_MODEL)
        return [
            _index_check(indexes, tables),
            *(_dead_check(table) for table in tables),
            *(await _vector_checks(connection, model, indexes) if model else []),
        ]
    except asyncpg.InsufficientPrivilegeError as error:
        return [Check("advice", f"the store can't be looked into: {error}", "use the app role")]
    finally:
        await connection.close(timeout=5)


def _index_check(indexes: list[asyncpg.Record], tables: list[asyncpg.Record]) -> Check:
    broken = [index["name"] for index in indexes if not index["valid"]]
    if broken:
        remedy = " ".join(f"REINDEX INDEX CONCURRENTLY pgrecall.{name};" for name in broken)
        return Check("failed", f"indexes not valid: {', '.join(broken)}", remedy)
    rows = {table["name"]: table for table in tables}
    memories = rows.get("memories")
    scans = {index["name"]: index["scans"] for index in indexes}
    used = ", ".join(f"{name} {count}" for name, count in scans.items() if count)
    label = f"index use: {used or 'none yet'}"
    if memories and memories["live"] > _MANY_ROWS and not scans.get("memories_lexemes"):
        remedy = "ANALYZE pgrecall.memories;   when recalls have been asked since"
        return Check("advice", f"{label}; memories_lexemes never", remedy)
    return Check("ok", label)


def _dead_check(table: asyncpg.Record) -> Check:
    share = table["dead"] / max(table["live"] + table["dead"], 1)
    label = f"{table['name']}: {share:.0%} of the rows dead ({table['dead']})"
    if table["dead"] >= _DEAD_ROWS and share > _DEAD_SHARE:
        return Check("advice", label, f"VACUUM (ANALYZE) pgrecall.{table['name']};")
    return Check("ok", label)


async def _vector_checks(
    connection: asyncpg.Connection, model: asyncpg.Record, indexes: list[asyncpg.Record]
) -> list[Check]:
    name = f"embeddings_{model['model']}"[:63]
    if name not in {index["name"] for index in indexes}:
        remedy = "pgrecall up   (it makes the index when it starts)"
        return [Check("failed", f"no vector index of model {model['model']}", remedy)]
    vectors = await connection.fetchval(_ENOUGH, model["model"], _ENOUGH_VECTORS)
    if vectors < _ENOUGH_VECTORS:
        return []  # so few are measured one by one, without the index
    share = await _recall_of_index(connection, model)
    label = f"vector index finds {share:.3f} of the {_NEIGHBOURS} nearest ({_SAMPLE} samples)"
    if share < _WELL:
        return [Check("advice", label, f'REINDEX INDEX CONCURRENTLY pgrecall."{name}";')]
    return [Check("ok", label)]


async def _recall_of_index(connection: asyncpg.Connection, model: asyncpg.Record) -> float:
    """Return which share of the truly nearest the index finds, the way recall() asks it."""
    nearest = await connection.fetchval(_NEAREST, model["dimension"], model["model"], _NEIGHBOURS)
    found = 0
    async with connection.transaction(readonly=True):
        drawn = [row[0] for row in await connection.fetch(_DRAWN, model["model"], _SAMPLE)]
        # Loads the library, and searches as pgrecall.nearest_indexed() does.
        await connection.execute("SELECT '[1]'::public.vector; SET LOCAL hnsw.ef_search = 130")
        for vector in drawn:
            await connection.execute(_BY_INDEX)
            by_index: list[Any] = await connection.fetchval(nearest, vector)
            await connection.execute(_BY_MEASURING)
            by_measuring: list[Any] = await connection.fetchval(nearest, vector)
            # By distances: which of two equally near ones came is no matter.
            found += sum(distance <= by_measuring[-1] + 1e-6 for distance in by_index)
    return found / (_NEIGHBOURS * len(drawn))
